// The policy: the matrix from the server, a call explained without running it, tools by area and tier.

import { Button, NativeSelect, Textarea } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { post } from "./api";
import { approversInWords, Chip, Fault, Pairs, Section, Seen, Table, Waiting } from "./parts";
import { rulesQuery, toolsQuery } from "./queries";
import { visible, visibleWord } from "./visible";
import { words } from "./words";
import type { Explained, Json, JsonObject, Tool } from "./wire";

const said = words.policy;

export function PolicyPage() {
  return (
    <>
      <h1>{said.title}</h1>
      <Matrix />
      <Explain />
      <ToolMap />
    </>
  );
}

function DecisionChip({ decision }: { decision: string }) {
  return decision === "allow" ? <Chip tone="good">{said.allow}</Chip> : <Chip tone="warn">{said.ask}</Chip>;
}

function Matrix() {
  const rules = useQuery(rulesQuery);
  if (rules.isPending) return <Waiting />;
  if (rules.isError) return <Fault fault={rules.error} retry={() => void rules.refetch()} />;
  return (
    <>
      <p className="dim">{said.about}</p>
      <Table
        label={said.title}
        columns={[said.class, said.tier, said.dispatch, said.decision, said.rule, said.why]}
        rows={rules.data.map((rule) => ({
          key: rule.ruleId,
          cells: [
            rule.policyClass ?? said.any,
            rule.effectiveTier ?? said.any,
            rule.dispatch ?? said.any,
            <DecisionChip key="decision" decision={rule.decision} />,
            <code key="rule">{rule.ruleId}</code>,
            rule.why,
          ],
        }))}
      />
    </>
  );
}

function Explain() {
  const tools = useQuery(toolsQuery);
  const [tool, setTool] = useState("");
  const [args, setArgs] = useState("{}");
  const [autonomy, setAutonomy] = useState("guarded");
  const [found, setFound] = useState<Explained | null>(null);
  const [fault, setFault] = useState<unknown>(null);

  async function explain(event: FormEvent) {
    event.preventDefault();
    setFound(null);
    setFault(null);
    let read: Json;
    try {
      read = JSON.parse(args) as Json;
    } catch {
      setFault(new Error(said.notJson));
      return;
    }
    if (read === null || typeof read !== "object" || Array.isArray(read)) {
      setFault(new Error(said.notJson));
      return;
    }
    try {
      setFound(await post<Explained>("/policy/explain", { tool, args: read as JsonObject, autonomy }));
    } catch (problem) {
      setFault(problem);
    }
  }

  const names = (tools.data ?? []).map((each) => ({ value: each.name, label: each.name }));
  return (
    <Section title={said.explain} level={2}>
      <p className="dim">{said.explainAbout}</p>
      <form className="search" onSubmit={(event) => void explain(event)}>
        <NativeSelect label={said.tool} value={tool} required onChange={(event) => setTool(event.currentTarget.value)} data={[{ value: "", label: words.form.choose }, ...names]} />
        <NativeSelect label={said.autonomy} value={autonomy} onChange={(event) => setAutonomy(event.currentTarget.value)} data={Object.keys(words.autonomies)} />
        <Textarea label={said.args} description={takes(tools.data?.find((each) => each.name === tool))} autosize minRows={1} value={args} onChange={(event) => setArgs(event.currentTarget.value)} className="wide" />
        <Button type="submit" disabled={tool === ""}>
          {said.submit}
        </Button>
      </form>
      {fault !== null && <Fault fault={fault} />}
      {found !== null && (
        <div className="notice" role="status">
          <p>
            <DecisionChip decision={found.decision} /> <code>{found.ruleId}</code>: <Seen text={found.why} />
          </p>
          <Pairs
            rows={[
              [said.class, found.policyClass],
              [said.tier, `${found.effectiveTier ?? said.any} (${words.card.declared(found.hitlTier)})`],
              ...found.promotions.map((name): [string, string] => [words.card.promoted, `${name}: ${words.card.promotions[name] ?? ""}`]),
              [said.roles, found.roles.length === 0 ? words.card.anybody : found.roles.map(visibleWord).join(", ")],
              ...(found.approvers === null ? [] : [[said.approvers, approversInWords(found.approvers)] as [string, string]]),
              ...(found.missing.length > 0 ? [[said.missing, found.missing.map(visibleWord).join(", ")] as [string, string]] : []),
            ]}
          />
        </div>
      )}
    </Section>
  );
}

/** What a tool takes; a star marks what it needs. */
function takes(tool: Tool | undefined): string {
  return (tool?.args ?? []).map((arg) => `${visibleWord(arg.name)}${arg.required ? "*" : ""}: ${visibleWord(arg.type)}`).join(", ");
}

/** Where a tool stands: what always asks is apart from what the tier decides. */
function columnOf(tool: Tool): keyof typeof said.columns {
  if (tool.policyClass === "read") return "read";
  if (tool.policyClass === "mutate") return tool.hitlTier === "low" ? "low" : "high";
  return "always";
}

function ToolMap() {
  const tools = useQuery(toolsQuery);
  if (tools.isPending) return <Waiting />;
  if (tools.isError) return <Fault fault={tools.error} retry={() => void tools.refetch()} />;
  const areas = [...new Set(tools.data.map((tool) => tool.name.split(".")[0] ?? ""))].sort();
  const columns = Object.keys(said.columns) as (keyof typeof said.columns)[];
  return (
    <Section title={said.map} level={2}>
      <p className="dim">{said.mapAbout}</p>
      <Table
        label={said.map}
        className="tool-map"
        headed
        columns={[said.area, ...columns.map((column) => said.columns[column])]}
        rows={areas.map((area) => ({
          key: area,
          cells: [
            area,
            ...columns.map((column) => {
              const stand = tools.data.filter((tool) => tool.name.split(".")[0] === area && columnOf(tool) === column);
              return stand.length === 0 ? null : stand.map((tool) => <ToolBox key={tool.name} tool={tool} column={column} />);
            }),
          ],
        }))}
      />
    </Section>
  );
}

function ToolBox({ tool, column }: { tool: Tool; column: keyof typeof said.columns }) {
  return (
    <span className={`tool-box ${column}`} title={visible(tool.description)}>
      <strong>
        <Seen text={tool.title} />
      </strong>
      <code>{tool.name}</code>
    </span>
  );
}
