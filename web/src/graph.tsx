// The run's graph, drawn. Loaded when a run is looked at; the timeline beside it says the same in words.

import dagre from "@dagrejs/dagre";
import { Background, Controls, Handle, Position, ReactFlow, type Edge, type Node, type NodeProps } from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { useMemo } from "react";
import { StepChip } from "./parts";
import { visible } from "./visible";
import { words } from "./words";
import type { Step } from "./wire";

const WIDTH = 210;
const HEIGHT = 64;
/** From here on only what is in view is drawn. */
const MANY = 60;

type StepNode = Node<{ step: Step }, "step">;

function laidOut(steps: Step[]): { nodes: StepNode[]; edges: Edge[] } {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 24, ranksep: 36 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const step of steps) graph.setNode(step.id, { width: WIDTH, height: HEIGHT });
  const edges: Edge[] = [];
  const shown = shortest(steps);
  for (const step of steps) {
    for (const before of shown.get(step.id) ?? []) {
      graph.setEdge(before, step.id);
      edges.push({ id: `${before} ${step.id}`, source: before, target: step.id, animated: step.status === "started" });
    }
  }
  dagre.layout(graph);
  const nodes = steps.map((step): StepNode => {
    const { x, y } = graph.node(step.id);
    return { id: step.id, type: "step", position: { x: x - WIDTH / 2, y: y - HEIGHT / 2 }, data: { step }, width: WIDTH, height: HEIGHT };
  });
  return { nodes, edges };
}

/** What each step waits for, without what follows from the rest: fewer lines, the same order. */
function shortest(steps: Step[]): Map<string, string[]> {
  const all = new Map<string, Set<string>>();
  const found = new Map<string, string[]>();
  for (const step of steps) {
    const direct = [...new Set(step.after)];
    const behind = new Set(direct.flatMap((before) => [...(all.get(before) ?? [])]));
    found.set(step.id, direct.filter((before) => !behind.has(before)));
    all.set(step.id, new Set([...direct, ...behind]));
  }
  return found;
}

function StepBox({ data: { step } }: NodeProps<StepNode>) {
  return (
    <div className={`graph-step ${step.status}`}>
      <Handle type="target" position={Position.Top} isConnectable={false} />
      <strong>{visible(step.title || step.tool || step.id)}</strong>
      <span>
        <code>{visible(step.id)}</code> <StepChip status={step.status} />
      </span>
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
    </div>
  );
}

const KINDS = { step: StepBox };

export default function Graph({ steps }: { steps: Step[] }) {
  const { nodes, edges } = useMemo(() => laidOut(steps), [steps]);
  return (
    <figure className="graph" aria-label={words.run.graph}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={KINDS}
        fitView
        fitViewOptions={{ maxZoom: 1 }}
        minZoom={0.05}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        preventScrolling={false}
        zoomOnScroll={false}
        onlyRenderVisibleElements={steps.length > MANY}
        proOptions={{ hideAttribution: true }}
      >
        <Background />
        <Controls showInteractive={false} />
      </ReactFlow>
    </figure>
  );
}
