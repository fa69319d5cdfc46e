import type { Schemas } from '../api.ts';

export type Trigger = Schemas['FormulaTrigger'];
export type Step = Schemas['FormulaStep'];
export type Variable = Schemas['FormulaVariable'];

/** The part of a formula that runs: trigger, steps and variables. */
export interface Content {
  readonly configuration: readonly Variable[];
  readonly triggers: readonly Trigger[];
  readonly steps: readonly Step[];
}

/** The key of a box in the graph: 0 for the trigger, otherwise the number of the step, from 1. */
export type NodeKey = number;
export const TRIGGER_KEY: NodeKey = 0;

export interface FlowNode {
  readonly key: NodeKey;
  readonly name: string;
  readonly type: Trigger['type'] | Step['type'];
}

export type Way = 'success' | 'failure';

/** An arrow from a box to the one that follows. */
export interface FlowEdge {
  readonly from: NodeKey;
  readonly to: NodeKey;
  readonly way: Way;
}

export interface Flow {
  readonly nodes: readonly FlowNode[];
  /** The arrows, in the order in which the steps follow. */
  readonly edges: readonly FlowEdge[];
}

/** Returns the boxes and arrows of a formula. An arrow to a name that no step has is left out. */
export function readFlow({ triggers: [trigger], steps }: Pick<Content, 'triggers' | 'steps'>): Flow {
  const keys = new Map(steps.map(({ name }, index) => [name, index + 1]));
  const edgesFrom = (from: NodeKey, names: readonly string[], way: Way): readonly FlowEdge[] =>
    [...new Set(names)].flatMap((name) => {
      const to = keys.get(name);
      return to === undefined ? [] : [{ from, to, way }];
    });
  const all = [...(trigger === undefined ? [] : [{ ...trigger, key: TRIGGER_KEY }]), ...steps.map(withKey)];
  return {
    nodes: all.map(({ key, name, type }) => ({ key, name, type })),
    edges: all.flatMap(({ key, onSuccess, onFailure }) => [
      ...edgesFrom(key, onSuccess, 'success'),
      ...edgesFrom(key, onFailure, 'failure'),
    ]),
  };
}

function withKey(step: Step, index: number): Step & { readonly key: NodeKey } {
  return { ...step, key: index + 1 };
}

/** Returns the keys of the boxes from which a box is reached, the nearest first. */
export function listEarlier({ edges }: Flow, key: NodeKey): readonly NodeKey[] {
  const found = new Set<NodeKey>();
  const waiting = [key];
  for (const at of waiting)
    for (const { from, to } of edges) {
      if (to !== at || found.has(from)) continue;
      found.add(from);
      waiting.push(from);
    }
  return [...found];
}

const NEXT_WORDS: Readonly<Record<string, Readonly<Record<Way, string>>>> = {
  filter: { success: 'true', failure: 'false' },
  loop: { success: 'each entry', failure: 'end' },
};

/** Returns the label of an arrow from a step of this type. The arrow of success has no label at most steps. */
export function sayWay(type: FlowNode['type'], way: Way): string {
  return NEXT_WORDS[type]?.[way] ?? (way === 'success' ? '' : 'failure');
}

/** The step, or the trigger, that a new step follows. */
export interface Predecessor {
  /** Name of the step. Undefined for the trigger. */
  readonly stepName: string | undefined;
  readonly member: 'onSuccess' | 'onFailure';
}
