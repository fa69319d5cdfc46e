import { Graph, layout } from '@dagrejs/dagre';
import { BOX_HEIGHT, BOX_WIDTH } from './box.ts';
import type { Flow, FlowEdge, FlowNode, NodeKey } from './flow.ts';
import { splitEdges } from './graph-stubs.ts';

/** Number of boxes above which a faster algorithm places them. */
const MOST_TIDY = 120;
/** Free space beside a box for arrows that are not drawn to their end, in pixels. */
const STUB_ROOM = 130;
const STUB_LENGTH = 22;
const STUB_GAP = 18;

interface Point {
  readonly x: number;
  readonly y: number;
}

/** The positions of boxes and arrows, in pixels from the upper left corner. */
export interface Placed {
  readonly width: number;
  readonly height: number;
  /** The boxes with their upper left corners. */
  readonly boxes: readonly (FlowNode & Point)[];
  readonly arrows: readonly PlacedArrow[];
}

export interface PlacedArrow {
  readonly edge: FlowEdge;
  /** The line as the attribute `d` of a path. */
  readonly line: string;
  /** Position of the arrow's label: near the middle of the arrow, or at the beginning of a stub. */
  readonly words: Point;
  /** Whether the arrow only names the box that it leads to, and is not drawn up to it. */
  readonly isStub: boolean;
}

/** Places the boxes from top to bottom, and the arrows between them. */
export function placeFlow(flow: Flow): Placed {
  const { nodes } = flow;
  const { drawn, stubs } = splitEdges(flow);
  const stubsOf = Map.groupBy(stubs, ({ from }) => from);
  const graph = new Graph({ multigraph: true });
  graph.setGraph({
    ...{ rankdir: 'TB', nodesep: 36, edgesep: 24, ranksep: 64, marginx: 12, marginy: 12 },
    ranker: nodes.length > MOST_TIDY ? 'longest-path' : 'network-simplex',
  });
  for (const { key } of nodes) {
    const width = BOX_WIDTH + (stubsOf.has(key) ? 2 * STUB_ROOM : 0);
    graph.setNode(String(key), { width, height: BOX_HEIGHT });
  }
  for (const { from, to, way } of drawn)
    graph.setEdge(String(from), String(to), { weight: way === 'success' ? 3 : 1 }, way);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  const centers = new Map(
    nodes.map(({ key }): [NodeKey, Point] => {
      const { x = 0, y = 0 } = graph.node(String(key));
      return [key, { x, y }];
    }),
  );
  return {
    width: Math.ceil(finite(width)),
    height: Math.ceil(finite(height)),
    boxes: nodes.map((node) => {
      const { x, y } = centerOf(centers, node.key);
      return { ...node, x: x - BOX_WIDTH / 2, y: y - BOX_HEIGHT / 2 };
    }),
    arrows: [
      ...drawArrows(
        drawn.map((edge) => ({ edge, points: graph.edge(String(edge.from), String(edge.to), edge.way).points ?? [] })),
        centers,
      ),
      ...[...stubsOf.values()].flatMap((ofBox) =>
        ofBox.map((edge, index) => drawStub(edge, centerOf(centers, edge.from), index - (ofBox.length - 1) / 2)),
      ),
    ],
  };
}

/** Draws an arrow beside its box. It ends at the name of the box that it leads to. */
function drawStub(edge: FlowEdge, { x, y }: Point, place: number): PlacedArrow {
  const start = { x: x + BOX_WIDTH / 2, y: y + Math.max(-1.2, Math.min(1.2, place)) * STUB_GAP };
  const end = { x: start.x + STUB_LENGTH, y: start.y };
  return { edge, line: `M${at(start)}L${at(end)}`, words: { x: end.x + 4, y: end.y }, isStub: true };
}

/** Replaces an infinite size by 0, because the layout reports -Infinity for a graph without boxes. */
function finite(size: number): number {
  return Number.isFinite(size) ? size : 0;
}

function centerOf(centers: ReadonlyMap<NodeKey, Point>, key: NodeKey): Point {
  return centers.get(key) ?? { x: 0, y: 0 };
}

interface Route {
  readonly edge: FlowEdge;
  readonly points: readonly Point[];
}

/** An end of an arrow, at the lower or the upper side of a box. */
interface End {
  readonly place: string;
  readonly route: Route;
  readonly box: Point;
  readonly isBelow: boolean;
  /** The point at the other end of the arrow. */
  readonly towards: Point;
}

/** Distance between the ends of two arrows at one side of a box, in pixels. */
const END_GAP = 28;

/** Draws the arrows. They bend only between the rows of boxes, so that no arrow crosses a box. */
function drawArrows(routes: readonly Route[], centers: ReadonlyMap<NodeKey, Point>): readonly PlacedArrow[] {
  const rows = [...new Set([...centers.values()].map(({ y }) => y))];
  const isRow = (y: number) => rows.some((row) => Math.abs(row - y) < 1);
  const ends = placeEnds(routes.flatMap((route) => endsOf(route, centers)));
  return routes.map((route) => {
    const { edge, points } = route;
    const [start, end] = [ends.get(route)?.from, ends.get(route)?.to];
    if (edge.from === edge.to || start === undefined || end === undefined)
      return {
        ...{ edge, line: drawLoop(points), words: points[Math.floor(points.length / 2)] ?? { x: 0, y: 0 } },
        isStub: false,
      };
    const half = Math.sign(end.y - start.y) * (BOX_HEIGHT / 2);
    // An arrow passes a row of boxes in a straight line.
    const passages = points
      .slice(1, -1)
      .filter(({ y }) => isRow(y))
      .map(({ x, y }) => [
        { x, y: y - half },
        { x, y: y + half },
      ]);
    return { edge, ...drawLine(start, passages, end), isStub: false };
  });
}

function endsOf(route: Route, centers: ReadonlyMap<NodeKey, Point>): readonly End[] {
  const { edge, points } = route;
  if (edge.from === edge.to) return [];
  const [from, to] = [centerOf(centers, edge.from), centerOf(centers, edge.to)];
  const isDown = to.y > from.y;
  return [
    { place: 'from', route, box: from, isBelow: isDown, towards: points[1] ?? to },
    { place: 'to', route, box: to, isBelow: !isDown, towards: points.at(-2) ?? from },
  ];
}

/** Spreads the ends of arrows over the sides of the boxes, in the order of the points that they lead to. */
function placeEnds(ends: readonly End[]): ReadonlyMap<Route, { readonly from?: Point; readonly to?: Point }> {
  const placed = new Map<Route, { readonly from?: Point; readonly to?: Point }>();
  for (const side of Map.groupBy(ends, ({ box: { x, y }, isBelow }) => `${x} ${y} ${isBelow}`).values()) {
    const gap = Math.min(END_GAP, (BOX_WIDTH - 40) / Math.max(1, side.length - 1));
    for (const [index, { place, route, box, isBelow }] of side
      .toSorted((one, other) => one.towards.x - other.towards.x)
      .entries()) {
      const x = box.x + (index - (side.length - 1) / 2) * gap;
      const y = box.y + (isBelow ? BOX_HEIGHT / 2 : -BOX_HEIGHT / 2);
      placed.set(route, { ...placed.get(route), [place]: { x, y } });
    }
  }
  return placed;
}

/** Draws an arrow from point to point, with bends before, between and behind its straight passages. */
function drawLine(start: Point, passages: readonly (readonly Point[])[], end: Point) {
  let line = `M${at(start)}`;
  let last = start;
  for (const [entry = end, exit] of [...passages, [end]]) {
    const middle = (last.y + entry.y) / 2;
    line += `C${at({ x: last.x, y: middle })} ${at({ x: entry.x, y: middle })} ${at(entry)}`;
    if (exit !== undefined) line += `L${at(exit)}`;
    last = exit ?? entry;
  }
  const next = passages[0]?.[0] ?? end;
  return { line, words: mix(start, next) };
}

/**
 * Share of the arrow's length at which its label stands. It is nearer to the beginning, so that the labels of two arrows between the same
 * boxes do not overlap.
 */
const WORDS_AT = { x: 0.28, y: 0.38 };

function mix(start: Point, end: Point): Point {
  return { x: start.x + (end.x - start.x) * WORDS_AT.x, y: start.y + (end.y - start.y) * WORDS_AT.y };
}

/** Draws an arrow from a box to itself. */
function drawLoop([first, ...rest]: readonly Point[]): string {
  return first === undefined ? '' : `M${at(first)}${rest.map((point) => `L${at(point)}`).join('')}`;
}

function at({ x, y }: Point): string {
  return `${Math.round(x * 10) / 10},${Math.round(y * 10) / 10}`;
}
