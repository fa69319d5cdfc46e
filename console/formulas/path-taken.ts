import { type Flow, type FlowEdge, type NodeKey, TRIGGER_KEY } from './flow.ts';

/** An executed step, with the members that determine the path. */
export interface Executed {
  readonly stepName: string;
  readonly status: 'pending' | 'success' | 'failed';
}

/** The runs of one box. */
export interface Visit {
  readonly count: number;
  /** Status of the last run. */
  readonly status: Executed['status'];
}

/** The part of a graph that an execution went through. */
export interface PathTaken {
  readonly visits: ReadonlyMap<NodeKey, Visit>;
  readonly taken: ReadonlySet<string>;
  /** The boxes that may run next, while the execution runs. */
  readonly next: ReadonlySet<NodeKey>;
}

export function keyOfEdge({ from, to, way }: FlowEdge): string {
  return `${from} ${way} ${to}`;
}

/**
 * Finds the boxes and arrows that an execution went through. An arrow is taken if the step had that outcome and the next step ran later.
 * @param isRunning whether a further step is to come
 */
export function findPath(flow: Flow, executed: readonly Executed[], isRunning: boolean): PathTaken {
  const keys = keysOf(flow);
  const run = executed.flatMap(({ stepName, status }, index) => {
    // The first executed step is the trigger. A step may have the same name.
    const key = index === 0 && stepName === 'trigger' ? TRIGGER_KEY : keys.get(stepName);
    return key === undefined ? [] : [{ key, status }];
  });
  const last = new Map(run.map(({ key }, index) => [key, index]));
  const leaving = Map.groupBy(flow.edges, ({ from, way }) => `${from} ${way}`);
  const edgesAfter = ({ key, status }: (typeof run)[number]) =>
    leaving.get(`${key} ${status === 'failed' ? 'failure' : 'success'}`) ?? [];
  const taken = new Set(
    run.flatMap((each, index) =>
      edgesAfter(each)
        .filter(({ to }) => (last.get(to) ?? -1) > index)
        .map(keyOfEdge),
    ),
  );
  const end = run.at(-1);
  const next = isRunning && end !== undefined ? edgesAfter(end).slice(0, 1) : [];
  return { visits: countVisits(run), taken: new Set([...taken, ...next.map(keyOfEdge)]), next: keysTo(next) };
}

function keysOf({ nodes }: Flow): ReadonlyMap<string, NodeKey> {
  return new Map(nodes.filter(({ key }) => key !== TRIGGER_KEY).map(({ key, name }) => [name, key]));
}

function keysTo(edges: readonly FlowEdge[]): ReadonlySet<NodeKey> {
  return new Set(edges.map(({ to }) => to));
}

function countVisits(run: readonly { readonly key: NodeKey; readonly status: Executed['status'] }[]) {
  const visits = new Map<NodeKey, Visit>();
  for (const { key, status } of run) visits.set(key, { count: (visits.get(key)?.count ?? 0) + 1, status });
  return visits;
}
