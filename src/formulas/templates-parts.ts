import { AppError, cutText, invalidRequest, pointer } from '../errors.ts';
import { missing } from '../shared-errors.ts';
import type { GivenPart } from './check-step.ts';
import { keyTaken, readStepBody, readTriggerBody, readVariableBody, type WholePointers } from './check-template.ts';
import { createFormulaInstanceStore } from './formula-instances-store.ts';
import type { Formula, FormulaContent, Node, Step, Trigger, Variable } from './model.ts';
import type { FormulaCaller } from './templates.ts';
import { contentOf, type Templates, valuesOf } from './templates.ts';
import type { FormulaView, TemplateStore } from './templates-store.ts';
import { renameVariable } from './variables.ts';

/** Pointers for faults of the whole template in the body of a step, and in that of a trigger. */
const OF_STEP: WholePointers = { uri: ['body'], steps: ['body', 'onSuccess'] };
const OF_TRIGGER: WholePointers = { uri: ['body', 'type'], steps: ['body', 'onSuccess'] };

/** Creates the changes of single parts of a formula: its variables, its trigger and its steps. */
export function createTemplateParts({ get, update }: Templates, limits: { readonly leastScheduleMs: number }) {
  /** Changes the content, and returns a part of it. */
  async function updateContent<Part>(
    caller: FormulaCaller,
    formulaId: number,
    pointers: WholePointers,
    work: (before: Formula, store: TemplateStore) => Promise<{ readonly content: FormulaContent; readonly part: Part }>,
  ): Promise<Part> {
    const made: Part[] = [];
    await update(caller, formulaId, async ({ before, store }) => {
      const { content, part } = await work(before, store);
      made.push(part);
      return { values: valuesOf(before), content, pointers };
    });
    // The last one: a transaction that the database gives up is repeated.
    const part = made.at(-1);
    if (part === undefined) throw new Error('A change of a formula made no part.');
    return part;
  }

  return {
    /** @throws AppError NOT_FOUND */
    getTrigger: async (view: FormulaView, formulaId: number, id: number): Promise<Trigger> =>
      getPart((await get(view, formulaId)).triggers, 'trigger', id),

    /** @throws AppError REQUEST_INVALID, NOT_FOUND, FORBIDDEN; CONFLICT for a second trigger */
    addTrigger: (caller: FormulaCaller, formulaId: number, body: GivenPart): Promise<Trigger> => {
      const draft = readTriggerBody(body, limits);
      return updateContent(caller, formulaId, OF_TRIGGER, async (before, store) => {
        const [other] = before.triggers;
        if (other !== undefined) throw hasTrigger(formulaId, other);
        const part = { id: await nextId(store), ...draft };
        return { content: { ...contentOf(before), triggers: [part] }, part };
      });
    },

    /** @throws AppError REQUEST_INVALID, NOT_FOUND, FORBIDDEN */
    replaceTrigger: (caller: FormulaCaller, formulaId: number, id: number, body: GivenPart): Promise<Trigger> => {
      const draft = readTriggerBody(body, limits);
      return updateContent(caller, formulaId, OF_TRIGGER, async (before) => {
        getPart(before.triggers, 'trigger', id);
        const part = { id, ...draft };
        return { content: { ...contentOf(before), triggers: [part] }, part };
      });
    },

    /** @throws AppError NOT_FOUND, FORBIDDEN; CONFLICT for the trigger of a resource */
    removeTrigger: (caller: FormulaCaller, formulaId: number, id: number): Promise<Trigger> =>
      updateContent(caller, formulaId, OF_TRIGGER, async (before) => {
        const part = getPart(before.triggers, 'trigger', id);
        if (before.uri !== null) throw isResource(before);
        return { content: { ...contentOf(before), triggers: [] }, part };
      }),

    /** @throws AppError NOT_FOUND */
    listSteps: async (view: FormulaView, formulaId: number): Promise<readonly Step[]> =>
      (await get(view, formulaId)).steps,

    /** @throws AppError NOT_FOUND */
    getStep: async (view: FormulaView, formulaId: number, id: number): Promise<Step> =>
      getPart((await get(view, formulaId)).steps, 'step', id),

    /** @throws AppError REQUEST_INVALID, NOT_FOUND, FORBIDDEN */
    addStep: async (caller: FormulaCaller, formulaId: number, body: GivenPart): Promise<Step> => {
      const draft = await readStepBody(body, (await get(caller, formulaId)).engine);
      return updateContent(caller, formulaId, OF_STEP, async (before, store) => {
        assertNewName(before, draft.name);
        const part = { id: await nextId(store), ...draft };
        return { content: { ...contentOf(before), steps: [...before.steps, part] }, part };
      });
    },

    /** @throws AppError REQUEST_INVALID, NOT_FOUND, FORBIDDEN */
    replaceStep: async (caller: FormulaCaller, formulaId: number, id: number, body: GivenPart): Promise<Step> => {
      const draft = await readStepBody(body, (await get(caller, formulaId)).engine);
      return updateContent(caller, formulaId, OF_STEP, async (before) => {
        const { name } = getPart(before.steps, 'step', id);
        if (draft.name !== name) assertNewName(before, draft.name);
        const part = { id, ...draft };
        const steps = before.steps.map((step) => (step.id === id ? part : step));
        return { content: withNames({ ...contentOf(before), steps }, name, [draft.name]), part };
      });
    },

    /** Deletes a step, and its name from every list of steps that follow. @throws AppError NOT_FOUND, FORBIDDEN */
    removeStep: (caller: FormulaCaller, formulaId: number, id: number): Promise<Step> =>
      updateContent(caller, formulaId, OF_STEP, async (before) => {
        const part = getPart(before.steps, 'step', id);
        const steps = before.steps.filter((step) => step.id !== id);
        return { content: withNames({ ...contentOf(before), steps }, part.name, []), part };
      }),

    /** @throws AppError NOT_FOUND */
    getVariable: async (view: FormulaView, formulaId: number, id: number): Promise<Variable> =>
      getPart((await get(view, formulaId)).configuration, 'variable', id),

    /** @throws AppError REQUEST_INVALID, NOT_FOUND, FORBIDDEN; CONFLICT for a key that is there */
    addVariable: (caller: FormulaCaller, formulaId: number, body: GivenPart): Promise<Variable> => {
      const draft = readVariableBody(body);
      return updateContent(caller, formulaId, OF_STEP, async (before, store) => {
        assertNewKey(before, draft.key);
        const part = { id: await nextId(store), ...draft };
        return { content: { ...contentOf(before), configuration: [...before.configuration, part] }, part };
      });
    },

    /** Replaces a variable. A new key replaces the old one wherever it is used. @throws AppError as `addVariable` */
    replaceVariable: async (
      caller: FormulaCaller,
      formulaId: number,
      id: number,
      body: GivenPart,
    ): Promise<Variable> => {
      const draft = readVariableBody(body);
      const part = { id, ...draft };
      await update(caller, formulaId, async ({ before, via }) => {
        const { key } = getPart(before.configuration, 'variable', id);
        const configuration = before.configuration.map((one) => (one.id === id ? part : one));
        const content = { ...contentOf(before), configuration };
        if (key === draft.key) return { values: valuesOf(before), content, pointers: OF_STEP };
        assertNewKey(before, draft.key);
        await createFormulaInstanceStore(via).renameKey(before, key, draft.key);
        return { values: valuesOf(before), content: renameVariable(content, key, draft.key), pointers: OF_STEP };
      });
      return part;
    },

    /** @throws AppError NOT_FOUND, FORBIDDEN; CONFLICT while the formula has instances */
    removeVariable: async (caller: FormulaCaller, formulaId: number, id: number): Promise<void> => {
      await update(caller, formulaId, async ({ before, via }) => {
        const { key } = getPart(before.configuration, 'variable', id);
        const count = await createFormulaInstanceStore(via).countOfFormula(before);
        if (count > 0) throw isInUse(key, formulaId, count);
        const configuration = before.configuration.filter((one) => one.id !== id);
        return { values: valuesOf(before), content: { ...contentOf(before), configuration }, pointers: OF_STEP };
      });
    },
  };
}

/** @throws AppError NOT_FOUND */
function getPart<Part extends { readonly id: number }>(parts: readonly Part[], kind: string, id: number): Part {
  const part = parts.find((one) => one.id === id);
  if (part === undefined) throw missing(kind, id);
  return part;
}

async function nextId(store: TemplateStore): Promise<number> {
  const [id] = await store.nextPartIds(1);
  if (id === undefined) throw new Error('A sequence has no next value.');
  return id;
}

/** Puts other names in the place of one, in every list of steps that follow. */
function withNames(content: FormulaContent, name: string, others: readonly string[]): FormulaContent {
  const replace = (names: readonly string[]) => names.flatMap((one) => (one === name ? others : [one]));
  const renamed = <One extends Node>(node: One): One => ({
    ...node,
    onSuccess: replace(node.onSuccess),
    onFailure: replace(node.onFailure),
  });
  return { ...content, triggers: content.triggers.map(renamed), steps: content.steps.map(renamed) };
}

function hasTrigger(formulaId: number, { id }: Trigger): AppError {
  return new AppError(
    'CONFLICT',
    `Formula ${formulaId} has a trigger already. Change it with PUT /formulas/${formulaId}/triggers/${id}.`,
  );
}

function isResource({ id, method, uri }: Formula): AppError {
  return new AppError(
    'CONFLICT',
    `Formula ${id} is the resource ${method} ${uri}, which needs its trigger. First set method and uri to null with PATCH /formulas/${id}.`,
  );
}

/** @throws AppError REQUEST_INVALID */
function assertNewName({ steps }: Formula, name: string): void {
  if (!steps.some((step) => step.name === name)) return;
  const message = `body.name is '${cutText(name)}', which another step has. Names of steps are unique.`;
  throw invalidRequest([{ path: pointer('body', 'name'), message }]);
}

/** @throws AppError CONFLICT */
function assertNewKey({ configuration }: Formula, key: string): void {
  if (configuration.some((one) => one.key === key)) throw keyTaken(key, pointer('body', 'key'));
}

function isInUse(key: string, formulaId: number, count: number): AppError {
  const instances = count === 1 ? 'one instance' : `${count} instances`;
  return new AppError(
    'CONFLICT',
    `The variable '${cutText(key)}' cannot be deleted, because formula ${formulaId} has ${instances}. Delete them first.`,
  );
}
