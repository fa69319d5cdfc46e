import type { Flow, FlowEdge, NodeKey } from './flow.ts';

/** Arrows of failure that are drawn into one box, such as the step that reports all of them. */
const MOST_FAILURES_INTO = 4;
/** Rows that all arrows together may pass. Placing takes time for each, and a graph with more is hard to read. */
const MOST_PASSED = 120;

/** The arrows of a graph: those that are drawn to their end, and those that only name it. */
export interface SplitEdges {
  readonly drawn: readonly FlowEdge[];
  readonly stubs: readonly FlowEdge[];
}

/** Chooses the arrows that are drawn: those of success first, then the short ones. The first arrow to each box is among them. */
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

/** Goes through the graph, along success first. Returns how far each box is from the beginning, and the arrows that led there. */
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
