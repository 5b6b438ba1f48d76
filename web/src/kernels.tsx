// Tool kernels: choose a tool, say what is laid on it, see what that changes, save it as its next revision.

import { Button, Checkbox, NativeSelect, Radio, Textarea } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useId, useState, type FormEvent } from "react";
import { post, Problem, put } from "./api";
import { approversInWords, Chip, Empty, Fault, Moment, Pairs, Section, Seen, Table, Waiting, type TableRow } from "./parts";
import { kernelQuery, kernelsQuery, queryClient, toolsQuery } from "./queries";
import { visible, visibleWord } from "./visible";
import { words } from "./words";
import type { Effect, Kernel, KernelLaid, Tool } from "./wire";

const said = words.builder;
const NOTHING: KernelLaid = { hitlTier: null, approverRoles: null, requesterExcluded: false };

export function Kernels({ lays }: { lays: boolean }) {
  const tools = useQuery(toolsQuery);
  const kernels = useQuery(kernelsQuery);
  const [tool, setTool] = useState("");
  if (tools.isPending || kernels.isPending) return <Waiting />;
  if (tools.isError) return <Fault fault={tools.error} retry={() => void tools.refetch()} />;
  if (kernels.isError) return <Fault fault={kernels.error} retry={() => void kernels.refetch()} />;
  const writes = tools.data.filter((each) => each.policyClass !== "read");
  return (
    <Section title={said.kernels} level={2}>
      <p className="dim">{said.kernelsAbout}</p>
      {kernels.data.length === 0 ? <Empty>{said.noKernels}</Empty> : <Laid kernels={kernels.data} choose={setTool} />}
      <NativeSelect
        className="tool-choice"
        label={said.tool}
        value={tool}
        onChange={(event) => setTool(event.currentTarget.value)}
        data={[{ value: "", label: words.form.choose }, ...byArea(writes)]}
      />
      {tool !== "" && <OneKernel key={tool} tool={tool} lays={lays} />}
    </Section>
  );
}

function byArea(tools: Tool[]): { group: string; items: { value: string; label: string }[] }[] {
  const areas = [...new Set(tools.map(areaOf))].sort();
  return areas.map((area) => ({
    group: area,
    items: tools.filter((tool) => areaOf(tool) === area).map((tool) => ({ value: tool.name, label: `${visible(tool.title)} (${tool.name})` })),
  }));
}

export const areaOf = (tool: Tool) => tool.name.split(".")[0] ?? "";

/** Every tool with a kernel. */
function Laid({ kernels, choose }: { kernels: Kernel[]; choose: (tool: string) => void }) {
  return (
    <Table
      label={said.kernels}
      className="kernels"
      columns={[said.tool, said.laid, said.revision, said.by, said.reason]}
      rows={kernels.map((kernel) => {
        const last = kernel.revisions.at(-1);
        return {
          key: kernel.tool,
          cells: [
            kernel.isRegistered ? (
              <Button variant="subtle" size="compact-sm" onClick={() => choose(kernel.tool)}>
                <code>{visibleWord(kernel.tool)}</code>
              </Button>
            ) : (
              <>
                <code>{visibleWord(kernel.tool)}</code> <Chip>{said.notHere}</Chip>
              </>
            ),
            kernel.isShut ? (
              <Chip key="laid" tone="bad">
                {said.shut}
              </Chip>
            ) : (
              <LaidInWords key="laid" kernel={kernel.kernel} />
            ),
            kernel.rev,
            last === undefined ? null : (
              <>
                <Seen text={last.by} />, <Moment at={last.at} />
              </>
            ),
            last === undefined || last.reason === "" ? null : <Seen text={last.reason} />,
          ],
        };
      })}
    />
  );
}

function LaidInWords({ kernel }: { kernel: KernelLaid }) {
  const lines = [
    kernel.hitlTier === "high" ? said.raises : "",
    kernel.approverRoles === null ? "" : said.narrows(kernel.approverRoles.map(visibleWord)),
    kernel.requesterExcluded ? said.excludes : "",
  ].filter((line) => line !== "");
  if (lines.length === 0) return <span className="dim">{said.asDeclared}</span>;
  return (
    <ul className="plain">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

function OneKernel({ tool, lays }: { tool: string; lays: boolean }) {
  const kernel = useQuery(kernelQuery(tool));
  if (kernel.isPending) return <Waiting />;
  if (kernel.isError) return <Fault fault={kernel.error} retry={() => void kernel.refetch()} />;
  return (
    <div className="kernel">
      {/* Another revision is another form: what was chosen against the one before is not laid on it. */}
      <KernelForm key={kernel.data.rev} kernel={kernel.data} lays={lays} />
      <Revisions kernel={kernel.data} />
    </div>
  );
}

interface KernelFormProps {
  kernel: Kernel;
  lays: boolean;
}

function KernelForm({ kernel, lays }: KernelFormProps) {
  const [wanted, setWanted] = useState<KernelLaid>(kernel.isShut ? NOTHING : kernel.kernel);
  const [reason, setReason] = useState("");
  const [fault, setFault] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const declared = kernel.declared;
  const path = `/admin/tool-kernels/${encodeURIComponent(kernel.tool)}`;

  async function save(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    setFault(null);
    try {
      await put(path, { ...wanted, reason: reason.trim(), rev: kernel.rev });
      await rereadKernels(kernel.tool);
    } catch (problem) {
      setFault(problem);
      setBusy(false);
    }
  }

  if (declared === null) return null;
  // What shuts a tool is nobody's choice: whatever is laid in its place is a change.
  const unchanged = !kernel.isShut && JSON.stringify(inOrder(wanted)) === JSON.stringify(inOrder(kernel.kernel));
  return (
    <form className="kernel-form" onSubmit={(event) => void save(event)}>
      <h3>
        <Seen text={declared.title} /> <code className="dim">{visibleWord(declared.name)}</code>
      </h3>
      {kernel.isShut && <p className="notice bad">{said.shutAbout}</p>}
      <KernelFields declared={declared} mayName={kernel.mayName} wanted={wanted} change={setWanted} />
      <Effects path={path} wanted={wanted} />
      {lays && (
        <>
          <Textarea label={said.reason} description={said.reasonAbout} autosize minRows={1} maxRows={6} maxLength={2_000} value={reason} onChange={(event) => setReason(event.currentTarget.value)} />
          {fault !== null && <Refused fault={fault} tool={kernel.tool} />}
          <div className="row">
            <Button type="submit" loading={busy} disabled={unchanged}>
              {said.save}
            </Button>
            {JSON.stringify(inOrder(wanted)) !== JSON.stringify(NOTHING) && (
              <Button variant="default" onClick={() => setWanted(NOTHING)}>
                {said.clear}
              </Button>
            )}
            <span className="dim">{unchanged ? said.unchanged : said.next(kernel.rev + 1)}</span>
          </div>
        </>
      )}
    </form>
  );
}

const inOrder = ({ hitlTier, approverRoles, requesterExcluded }: KernelLaid): KernelLaid => ({
  hitlTier,
  approverRoles: approverRoles === null ? null : [...approverRoles].sort(),
  requesterExcluded,
});

interface FieldsProps {
  declared: Tool;
  /** Roles that a kernel of this tool may name. */
  mayName: string[];
  wanted: KernelLaid;
  change: (wanted: KernelLaid) => void;
}

function KernelFields({ declared, mayName, wanted, change }: FieldsProps) {
  const name = useId();
  // What was laid before and may not be named any more is not laid again.
  const named = (chosen: string[]) => mayName.filter((role) => chosen.includes(role));
  const tier = declared.policyClass !== "mutate" ? said.alwaysAsks : declared.hitlTier === "high" ? said.declaredHigh : null;
  return (
    <div className="kernel-fields">
      {tier !== null ? (
        <p>
          <strong>{said.tier}</strong>
          <br />
          <span className="dim">{tier}</span>
        </p>
      ) : (
        <Radio.Group label={said.tier} name={name} value={wanted.hitlTier ?? ""} onChange={(value) => change({ ...wanted, hitlTier: value === "high" ? "high" : null })}>
          <div className="options">
            <Radio value="" label={said.tierDeclared(declared.hitlTier)} />
            <Radio value="high" label={said.tierHigh} />
          </div>
        </Radio.Group>
      )}
      <Checkbox.Group
        label={said.approvers}
        description={said.approversAbout(approversInWords(declared.approvers))}
        value={wanted.approverRoles ?? []}
        onChange={(chosen) => change({ ...wanted, approverRoles: named(chosen).length === 0 ? null : named(chosen) })}
      >
        <div className="options">
          {mayName.map((role) => (
            <Checkbox key={role} value={role} label={visibleWord(role)} />
          ))}
        </div>
      </Checkbox.Group>
      <Checkbox
        label={said.requesterExcluded}
        description={declared.requesterExcluded ? said.declaredExcluded : undefined}
        checked={wanted.requesterExcluded || declared.requesterExcluded}
        disabled={declared.requesterExcluded}
        onChange={(event) => change({ ...wanted, requesterExcluded: event.currentTarget.checked })}
      />
    </div>
  );
}

/** The policy's verdicts now and with what is chosen, before it is saved. */
function Effects({ path, wanted }: { path: string; wanted: KernelLaid }) {
  const key = JSON.stringify(inOrder(wanted));
  const effects = useQuery({
    queryKey: ["kernels", "tried", path, key],
    queryFn: () => post<{ effects: Effect[] }>(`${path}/check`, { ...wanted }),
    staleTime: 0,
    placeholderData: (before) => before,
  });
  if (effects.isPending) return <Waiting />;
  if (effects.isError) return <Refused fault={effects.error} tool="" />;
  const many = new Set(effects.data.effects.map((effect) => effect.op)).size > 1;
  return (
    <Section title={said.effects}>
      <Table
        label={said.effects}
        className="effects"
        columns={[...(many ? [said.op] : []), words.policy.autonomy, said.now, said.then, words.policy.approvers]}
        rows={effects.data.effects.map((effect) => rowOf(effect, many))}
      />
    </Section>
  );
}

function rowOf({ op, autonomy, now, then }: Effect, many: boolean): TableRow {
  const changed = now.ruleId !== then.ruleId || approversInWords(now.approvers) !== approversInWords(then.approvers);
  return {
    key: `${op} ${autonomy}`,
    className: changed ? "changed" : "",
    cells: [
      ...(many ? [<code key="op">{visibleWord(op ?? "")}</code>] : []),
      autonomy,
      <Verdict key="now" verdict={now} />,
      now.ruleId === then.ruleId ? <span className="dim">{said.same}</span> : <Verdict key="then" verdict={then} />,
      approversInWords(then.approvers) || null,
    ],
  };
}

function Verdict({ verdict: { decision, ruleId } }: { verdict: Effect["now"] }) {
  return (
    <span className="verdict">
      {decision === "allow" ? <Chip tone="good">{words.policy.allow}</Chip> : <Chip tone="warn">{words.policy.ask}</Chip>}
      <code className="dim">{ruleId}</code>
    </span>
  );
}

/** The server's words; where another revision came first, the way on. */
function Refused({ fault, tool }: { fault: unknown; tool: string }) {
  const moved = fault instanceof Problem && fault.code === "kernel_moved";
  return (
    <div className="notice bad" role="alert">
      <p>
        <Seen text={fault instanceof Error ? fault.message : String(fault)} />
      </p>
      {moved && (
        <Button variant="default" size="xs" onClick={() => void rereadKernels(tool)}>
          {said.readAgain}
        </Button>
      )}
    </div>
  );
}

async function rereadKernels(tool: string) {
  const keys = [["kernels"], ["kernel", tool], ["tools"]];
  await Promise.all(keys.map((queryKey) => queryClient.invalidateQueries({ queryKey })));
}

function Revisions({ kernel }: { kernel: Kernel }) {
  const [first] = useState(kernel.rev);
  return (
    <Section title={said.revisions} level={3}>
      {kernel.rev > first && (
        <p className="notice good" role="status">
          {said.saved(kernel.rev)}
        </p>
      )}
      {kernel.revisions.length === 0 && <p className="dim">{said.noRevisions}</p>}
      <ol className="plain revisions">
        {kernel.revisions.toReversed().map((revision) => (
          <li key={revision.rev}>
            <p className="row">
              <Chip>{words.plan.revision(revision.rev)}</Chip>
              <span>
                <Seen text={revision.by} />, <Moment at={revision.at} />
              </span>
              <code className="dim" title={revision.hash}>
                {revision.hash.slice(0, 12)}
              </code>
            </p>
            <LaidInWords kernel={revision.kernel} />
            {revision.reason !== "" && <Pairs rows={[[said.reason, <Seen key="reason" text={revision.reason} lines />]]} />}
          </li>
        ))}
      </ol>
    </Section>
  );
}
