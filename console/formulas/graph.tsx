import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Skeleton } from '../parts/show.tsx';
import { BOX_HEIGHT, BOX_WIDTH } from './box.ts';
import { type Flow, type FlowNode, type NodeKey, sayWay, TRIGGER_KEY } from './flow.ts';
import { findNeighbour, isMove } from './graph-keys.ts';
import type { Placed, PlacedArrow } from './graph-layout.ts';
import { keyOfEdge, type PathTaken } from './path-taken.ts';
import { infoOf } from './step-types.ts';
import { useZoom } from './zoom.ts';

/** A mark on a box. */
export interface BoxMark {
  readonly tone: 'good' | 'bad' | 'warn' | 'busy' | 'quiet';
  /** The short text on the box. Empty: the mark is not visible. */
  readonly sign: string;
  /** The meaning of the sign in words, for screen readers. */
  readonly says: string;
}

interface GraphProps {
  readonly label: string;
  readonly flow: Flow;
  readonly marks: ReadonlyMap<NodeKey, readonly BoxMark[]>;
  /** The path of an execution, which is highlighted. */
  readonly path?: PathTaken | undefined;
  readonly selected: NodeKey | undefined;
  readonly onOpen: (key: NodeKey) => void;
}

/** Draws the boxes and arrows of a formula. Arrow keys move the focus along the arrows, and Enter opens a box. */
export function Graph(props: GraphProps) {
  const placed = usePlaced(props.flow);
  return placed === undefined ? <Skeleton lines={8} /> : <Drawing placed={placed} {...props} />;
}

/** Places the boxes with an algorithm that is only loaded when a graph is shown. */
function usePlaced(flow: Flow): Placed | undefined {
  const [placed, setPlaced] = useState<Placed>();
  const key = JSON.stringify(flow);
  useEffect(() => {
    let isGone = false;
    import('./graph-layout.ts').then(({ placeFlow }) => {
      if (!isGone) setPlaced(placeFlow(flow));
    });
    return () => {
      isGone = true;
    };
  }, [key]);
  return placed;
}

function Drawing({ placed, label, flow, marks, path, selected, onOpen }: GraphProps & { readonly placed: Placed }) {
  const id = useId();
  const frame = useRef<HTMLElement>(null);
  const { scale, zoomIn, zoomOut, fit } = useZoom(frame, placed.width);
  const [current, setCurrent] = useState<NodeKey>();
  const [cameFrom, setCameFrom] = useState<NodeKey>();
  const focused = flow.nodes.some(({ key }) => key === current) ? current : flow.nodes[0]?.key;
  const move = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '+' || event.key === '-') return void (event.key === '+' ? zoomIn() : zoomOut());
    if (!isMove(event.key) || focused === undefined) return;
    event.preventDefault();
    const next = findNeighbour(flow, focused, event.key, cameFrom);
    if (next === undefined) return;
    setCameFrom(focused);
    setCurrent(next);
    frame.current?.querySelector<HTMLElement>(`[data-key="${next}"]`)?.focus();
  };
  return (
    <div class="stack tight">
      <div class="row apart">
        <p id={`${id}-keys`} class="small soft">
          {path === undefined ? 'Enter opens a box.' : 'Enter shows the values of a box.'} ↓ follows success, → failure,
          ↑ and ← go back.
        </p>
        <span class="row">
          <Legend />
          <button type="button" aria-label="Zoom out" onClick={zoomOut}>
            −
          </button>
          <button type="button" aria-label="Zoom in" onClick={zoomIn}>
            +
          </button>
          <button type="button" onClick={fit}>
            Fit
          </button>
        </span>
      </div>
      <section ref={frame} class="flow" aria-label={label} aria-describedby={`${id}-keys`} onKeyDown={move}>
        {/* biome-ignore lint/a11y/noSvgWithoutTitle: the region has the name, and a title would be shown over every box */}
        <svg
          viewBox={`0 0 ${placed.width} ${placed.height}`}
          width={placed.width * scale}
          height={placed.height * scale}
          class={path === undefined ? undefined : 'lit'}
        >
          <Heads id={id} />
          {placed.arrows.map((arrow) => (
            <Arrow
              key={keyOfEdge(arrow.edge)}
              id={id}
              arrow={arrow}
              words={wordsOf(arrow, flow)}
              isTaken={path?.taken.has(keyOfEdge(arrow.edge)) === true}
            />
          ))}
          {placed.boxes.map(({ x, y, ...node }) => (
            <foreignObject key={node.key} x={x} y={y} width={BOX_WIDTH} height={BOX_HEIGHT}>
              <button
                type="button"
                class={classOfBox(node, path, selected)}
                data-key={node.key}
                tabIndex={node.key === focused ? 0 : -1}
                aria-current={node.key === selected ? 'true' : undefined}
                onFocus={() => setCurrent(node.key)}
                onClick={() => onOpen(node.key)}
              >
                <span class="name">{node.name}</span>
                <span class="row">
                  <span class="kind">{infoOf(node.type, node.key === TRIGGER_KEY).title}</span>
                  {(marks.get(node.key) ?? []).map(
                    ({ tone, sign, says }) =>
                      sign !== '' && (
                        <span key={says} class={`badge ${tone}`} title={says} aria-hidden="true">
                          {sign}
                        </span>
                      ),
                  )}
                </span>
                <span class="unseen">{describe(node, flow, marks.get(node.key) ?? [])}</span>
              </button>
            </foreignObject>
          ))}
        </svg>
      </section>
    </div>
  );
}

function Legend() {
  return (
    <span class="row small soft" aria-hidden="true">
      <span class="line success" />
      success
      <span class="line failure" />
      failure
    </span>
  );
}

const HEADS = ['plain', 'taken'] as const;

/** Defines the heads of the arrows: filled for success, open for failure. */
function Heads({ id }: { readonly id: string }) {
  return (
    <defs>
      {HEADS.flatMap((kind) =>
        (['success', 'failure'] as const).map((way) => (
          <marker
            key={kind + way}
            id={`${id}-${kind}-${way}`}
            class={`head ${kind} ${way}`}
            viewBox="0 0 10 10"
            refX="9"
            refY="5"
            markerWidth="9"
            markerHeight="9"
            markerUnits="userSpaceOnUse"
            orient="auto"
          >
            <path d="M1,1L9,5L1,9z" />
          </marker>
        )),
      )}
    </defs>
  );
}

interface ArrowProps {
  readonly id: string;
  readonly arrow: PlacedArrow;
  readonly words: string;
  readonly isTaken: boolean;
}

function Arrow({ id, arrow: { edge, line, words: place, isStub }, words, isTaken }: ArrowProps) {
  return (
    <g class={isTaken ? 'taken' : undefined}>
      <path
        class={`arrow ${edge.way}`}
        d={line}
        marker-end={`url(#${id}-${isTaken ? 'taken' : 'plain'}-${edge.way})`}
      />
      {words !== '' && (
        <text class={isStub ? 'stub' : undefined} x={place.x} y={place.y} dy="0.3em">
          {words}
        </text>
      )}
    </g>
  );
}

/** Maximum number of characters of a name beside a box. */
const LONGEST_STUB = 15;

function wordsOf({ edge: { from, to, way }, isStub }: PlacedArrow, { nodes }: Flow): string {
  const nodeOf = (wanted: NodeKey) => nodes.find(({ key }) => key === wanted);
  if (!isStub) return sayWay(nodeOf(from)?.type ?? 'script', way);
  const name = nodeOf(to)?.name ?? '';
  return name.length > LONGEST_STUB ? `${name.slice(0, LONGEST_STUB - 1)}…` : name;
}

function classOfBox({ key }: FlowNode, path: PathTaken | undefined, selected: NodeKey | undefined): string {
  const isThere = path === undefined || path.visits.has(key) || path.next.has(key);
  const classes = ['box', key === TRIGGER_KEY && 'trigger', !isThere && 'apart', key === selected && 'selected'];
  return classes.filter(Boolean).join(' ');
}

/** Describes a box for screen readers: its marks and the boxes that follow. */
function describe({ key, type }: FlowNode, { nodes, edges }: Flow, marks: readonly BoxMark[]): string {
  const following = (['success', 'failure'] as const).flatMap((way) => {
    const names = edges
      .filter((edge) => edge.from === key && edge.way === way)
      .map(({ to }) => nodes.find((node) => node.key === to)?.name ?? '');
    return names.length === 0 ? [] : [`${sayWay(type, way) || 'success'}: ${names.join(', then ')}`];
  });
  return [...marks.map(({ says }) => says), ...(following.length === 0 ? ['the end'] : following)].join('. ');
}
