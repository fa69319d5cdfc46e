import type { Flow, FlowEdge, NodeKey } from './flow.ts';

/** Maximum number of failure arrows that are drawn into one box, such as a step that reports all failures. */
const MOST_FAILURES_INTO = 4;
/** Maximum number of rows that all arrows together may pass. Placing takes time for each row, and a graph with more is hard to read. */
const MOST_PASSED = 120;

/** The arrows of a graph: those that are drawn to their end, and those that only name their end. */
export interface SplitEdges {
  readonly drawn: readonly FlowEdge[];
  readonly stubs: readonly FlowEdge[];
}

/** Chooses the arrows that are drawn: arrows of success first, then short ones. The first arrow that leads to a box is always drawn. */
export function splitEdges(flow: Flow): SplitEdges {
  const { depths, first } = walk(flow);
  const spanOf = ({ from, to }: FlowEdge) => Math.abs((depths.get(to) ?? 0) - (depths.get(from) ?? 0));
  const rankOf = (edge: FlowEdge) => (first.has(edge) ? 0 : edge.way === 'success' ? 1 : 2);
  const drawn = new Set<FlowEdge>();
  const failures = new Map<NodeKey, number>();
  let passed = 0;
  for (const edge of flow.edges.toSorted((a, b) => rankOf(a) - rankOf(b) || spanOf(a) - spanOf(b))) {
    const cost = Math.max(0, spanOf(edge) - 1);
    const into = failures.get(edge.to) ?? 0;
    const isCrowd = edge.way === 'failure' && into >= MOST_FAILURES_INTO;
    if (!first.has(edge) && (isCrowd || passed + cost > MOST_PASSED)) continue;
    drawn.add(edge);
    passed += cost;
    if (edge.way === 'failure') failures.set(edge.to, into + 1);
  }
  return {
    drawn: flow.edges.filter((edge) => drawn.has(edge)),
    stubs: flow.edges.filter((edge) => !drawn.has(edge)),
  };
}

/** Traverses the graph, along success first. Returns the distance of each box from the beginning, and the arrows that led to the boxes. */
function walk({ nodes, edges }: Flow) {
  const leaving = Map.groupBy(edges, ({ from }) => from);
  const depths = new Map<NodeKey, number>();
  const first = new Set<FlowEdge>();
  for (const { key: start } of nodes) {
    if (depths.has(start)) continue;
    const waiting: { readonly key: NodeKey; readonly depth: number; readonly edge?: FlowEdge }[] = [
      { key: start, depth: 0 },
    ];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      const { key, depth, edge } = at;
      if (depths.has(key)) continue;
      depths.set(key, depth);
      if (edge !== undefined) first.add(edge);
      const following = (leaving.get(key) ?? []).map((next) => ({ key: next.to, depth: depth + 1, edge: next }));
      waiting.push(...following.toReversed());
    }
  }
  return { depths, first };
}
