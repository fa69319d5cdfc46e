import { Graph, layout } from '@dagrejs/dagre';
import type { Flow, FlowEdge, FlowNode } from './flow.ts';

export const BOX_WIDTH = 190;
export const BOX_HEIGHT = 54;
/** More boxes are placed by a faster algorithm. */
const MOST_TIDY = 120;

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Where everything is, in pixels from the left upper corner. */
export interface Placed {
  readonly width: number;
  readonly height: number;
  /** The left upper corner of each box. */
  readonly boxes: readonly (FlowNode & Point)[];
  readonly arrows: readonly PlacedArrow[];
}

export interface PlacedArrow {
  readonly edge: FlowEdge;
  /** For the attribute `d` of a path. */
  readonly line: string;
  /** Where the words of the arrow stand. */
  readonly middle: Point;
}

/** Places the boxes from top to bottom, and the arrows between them. */
export function placeFlow({ nodes, edges }: Flow): Placed {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({
    ...{ rankdir: 'TB', nodesep: 36, edgesep: 24, ranksep: 56, marginx: 12, marginy: 12 },
    ranker: nodes.length > MOST_TIDY ? 'longest-path' : 'network-simplex',
  });
  for (const { key } of nodes) graph.setNode(String(key), { width: BOX_WIDTH, height: BOX_HEIGHT });
  for (const { from, to, way } of edges)
    graph.setEdge(String(from), String(to), { weight: way === 'success' ? 3 : 1 }, way);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    width: Math.ceil(finite(width)),
    height: Math.ceil(finite(height)),
    boxes: nodes.map((node) => {
      const { x = 0, y = 0 } = graph.node(String(node.key));
      return { ...node, x: x - BOX_WIDTH / 2, y: y - BOX_HEIGHT / 2 };
    }),
    arrows: edges.map((edge) => {
      const { points = [] } = graph.edge(String(edge.from), String(edge.to), edge.way);
      return { edge, line: drawLine(points), middle: points[Math.floor(points.length / 2)] ?? { x: 0, y: 0 } };
    }),
  };
}

/** A graph without a box is infinitely small. */
function finite(size: number): number {
  return Number.isFinite(size) ? size : 0;
}

/** Draws a line through points, with round corners. */
function drawLine(points: readonly Point[]): string {
  const [first, ...rest] = points;
  const last = rest.pop();
  if (first === undefined || last === undefined) return '';
  const curves = rest.map((point, index) => {
    const next = rest[index + 1] ?? last;
    const end = index === rest.length - 1 ? last : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    return `Q${at(point)} ${at(end)}`;
  });
  return `M${at(first)}${curves.length === 0 ? `L${at(last)}` : curves.join('')}`;
}

function at({ x, y }: Point): string {
  return `${Math.round(x * 10) / 10},${Math.round(y * 10) / 10}`;
}
