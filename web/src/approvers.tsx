// Who may approve what: every tool that changes something against every role, kernels included.

import { NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { areaOf } from "./kernels";
import { Chip, Fault, Section, Seen, Table, Waiting } from "./parts";
import { toolsQuery } from "./queries";
import { visibleWord } from "./visible";
import { words } from "./words";
import type { Tool } from "./wire";

const said = words.builder;

export function Approvers() {
  const tools = useQuery(toolsQuery);
  const [area, setArea] = useState("");
  if (tools.isPending) return <Waiting />;
  if (tools.isError) return <Fault fault={tools.error} retry={() => void tools.refetch()} />;
  const writes = tools.data.filter((tool) => tool.policyClass !== "read");
  const roles = [...new Set(writes.flatMap((tool) => [...tool.roles, ...tool.approvers.roles]))].sort();
  const areas = [...new Set(writes.map(areaOf))].sort();
  const shown = writes.filter((tool) => area === "" || areaOf(tool) === area).sort((one, other) => (one.name < other.name ? -1 : 1));
  return (
    <Section title={said.who} level={2}>
      <p className="dim">{said.whoAbout}</p>
      <NativeSelect className="tool-choice" label={words.policy.area} value={area} onChange={(event) => setArea(event.currentTarget.value)} data={[{ value: "", label: words.inbox.any }, ...areas]} />
      <Table
        label={said.who}
        className="approvers"
        headed
        columns={[said.tool, said.asks, ...roles.map(visibleWord)]}
        rows={shown.map((tool) => ({
          key: tool.name,
          cells: [
            <Named key="tool" tool={tool} />,
            said.asked[tool.asks] ?? visibleWord(tool.asks),
            ...roles.map((role) => markOf(tool, role)),
          ],
        }))}
      />
    </Section>
  );
}

function Named({ tool }: { tool: Tool }) {
  return (
    <>
      <Seen text={tool.title} />
      <br />
      <code className="dim">{visibleWord(tool.name)}</code>
      {tool.requesterExcluded && (
        <>
          <br />
          <Chip tone="info">{said.excludes}</Chip>
        </>
      )}
      {(tool.isShut || tool.approvers.anybody) && (
        <>
          <br />
          {tool.isShut ? <Chip tone="bad">{said.shut}</Chip> : <Chip tone="good">{said.anybodyApproves}</Chip>}
        </>
      )}
    </>
  );
}

/** What a role of its own may do with a tool's calls, as the server says; null: nothing, or what anybody may. */
function markOf(tool: Tool, role: string): ReactNode {
  if (tool.approvers.anybody) return null;
  const calls = tool.roles.length === 0 || tool.roles.includes(role);
  if (tool.approvers.roles.includes(role)) return <Chip tone={calls ? "good" : "info"}>{calls ? said.approves : said.approvesOnly}</Chip>;
  return calls ? <Chip>{said.callsOnly}</Chip> : null;
}
