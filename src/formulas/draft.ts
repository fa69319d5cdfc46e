import type { FormulaContent, Step, Trigger, Variable } from './model.ts';

/** Parts of a formula as a request gives them, before they have ids. */
export type VariableDraft = Omit<Variable, 'id'>;
export type TriggerDraft = Omit<Trigger, 'id'>;
export type StepDraft = Omit<Step, 'id'>;

export interface ContentDraft {
  readonly configuration: readonly VariableDraft[];
  readonly triggers: readonly TriggerDraft[];
  readonly steps: readonly StepDraft[];
}

/** Number of ids that the parts of a content may need. */
export function countParts({ configuration, triggers, steps }: ContentDraft): number {
  return configuration.length + triggers.length + steps.length;
}

/**
 * Gives ids to the parts of a content. A part that keeps its key or name keeps its id.
 * @param newIds as many new ids as there are parts
 */
export function withIds(draft: ContentDraft, before: FormulaContent, newIds: readonly number[]): FormulaContent {
  const ids = newIds.values();
  const known = {
    configuration: new Map(before.configuration.map(({ key, id }) => [key, id])),
    triggers: new Map(before.triggers.map(({ name, id }) => [name, id])),
    steps: new Map(before.steps.map(({ name, id }) => [name, id])),
  };
  const idOf = (found: number | undefined): number => {
    if (found !== undefined) return found;
    const { value } = ids.next();
    if (value === undefined) throw new Error('A part of a formula has no id.');
    return value;
  };
  return {
    configuration: draft.configuration.map((one) => ({ id: idOf(known.configuration.get(one.key)), ...one })),
    triggers: draft.triggers.map((one) => ({ id: idOf(known.triggers.get(one.name)), ...one })),
    steps: draft.steps.map((one) => ({ id: idOf(known.steps.get(one.name)), ...one })),
  };
}

export const NO_CONTENT: FormulaContent = { configuration: [], triggers: [], steps: [] };
