import type { Knex } from 'knex';
import { type ChangeNote, changeInTurn, differences } from '../db/change.ts';
import { listPage } from '../db/listing.ts';
import { isReferenceViolation } from '../db/violations.ts';
import { AppError, invalidRequest, pointer } from '../errors.ts';
import { createFaults } from '../mappings/faults.ts';
import type { Platform } from '../platform.ts';
import { missing } from '../shared-errors.ts';
import { announceChange } from './changes.ts';
import type { FindUse } from './check-resource.ts';
import { checkScripts } from './check-scripts.ts';
import type { GivenPart } from './check-step.ts';
import {
  assertWhole,
  type CheckContext,
  readChanges,
  readTemplate,
  type TemplateValues,
  type WholePointers,
} from './check-template.ts';
import { countParts, NO_CONTENT, withIds } from './draft.ts';
import { createFormulaInstanceStore } from './formula-instances-store.ts';
import type { Formula, FormulaContent, FormulaKey } from './model.ts';
import { refreshInstances } from './refresh.ts';
import {
  createTemplateStore,
  FILTERABLE_FORMULA,
  type FormulaVersion,
  type FormulaView,
  type StoredVersion,
  type TemplateStore,
} from './templates-store.ts';

/** The user who changes formulas or formula instances, with what the user sees. */
export interface FormulaCaller extends FormulaView {
  readonly userId: number;
  /** Whether variables may name element instances of other accounts of the organization. */
  readonly mayNameAll: boolean;
}

/** The parts of the platform that formulas use. */
interface TemplatePlatform extends Pick<Platform, 'knex' | 'notifier' | 'clock'> {
  readonly shares: Pick<Platform['shares'], 'list'>;
}

interface TemplateNeighbours {
  /** Minimum time between two firings of a schedule, in milliseconds. */
  readonly leastScheduleMs: number;
  readonly findUse: FindUse;
  readonly noteCreated: (accountId: number) => void;
}

interface TemplateQuery {
  readonly where?: string | undefined;
  readonly callableBy?: number | undefined;
  readonly isAbridged: boolean;
  readonly afterId?: number | undefined;
  readonly limit: number;
}

/** A change of a locked formula, with its store in the transaction. */
interface TemplateChange {
  readonly before: Formula;
  readonly store: TemplateStore;
  readonly via: Knex;
}

/** The state of a formula after a change. */
interface ChangedTemplate {
  readonly values: TemplateValues;
  readonly content: FormulaContent;
  /** Pointers for faults of the whole template. */
  readonly pointers: WholePointers;
}

/** Maximum number of bytes of the contents on a page. One formula always fits. */
const PAGE_BYTES = 32 * 1024 * 1024;

export type Templates = ReturnType<typeof createTemplates>;

/** Creates the templates of formulas. */
export function createTemplates(
  { knex, notifier, clock, shares }: TemplatePlatform,
  { leastScheduleMs, findUse, noteCreated }: TemplateNeighbours,
) {
  const stored = createTemplateStore(knex);
  const context: CheckContext = { leastScheduleMs, findUse };

  /** @throws AppError NOT_FOUND */
  async function get(view: FormulaView, id: number): Promise<Formula> {
    const formula = await stored.find(view, id);
    if (formula === undefined) throw noFormula(id);
    return formula;
  }

  /**
   * Changes a formula of the caller's account in a transaction. A new content becomes a new version.
   * @throws AppError NOT_FOUND; FORBIDDEN for a formula of another account
   */
  async function update(
    caller: FormulaCaller,
    id: number,
    work: (change: TemplateChange) => Promise<ChangedTemplate>,
  ): Promise<Formula> {
    const inTransaction = async (via: Knex): Promise<Step & { readonly after: Formula }> => {
      const store = createTemplateStore(via);
      const before = await lockOwn(store, caller, id);
      const { values, content, pointers } = await work({ before, store, via });
      assertWhole({ values, content }, pointers);
      const isNew = JSON.stringify(content) !== JSON.stringify(contentOf(before));
      if (isNew) await assertNoCalledCircle(store, caller, { id, content, isWhole: pointers === WHOLE_BODY });
      await assertFreeResource(via, before.accountId, values);
      const version = before.version + (isNew ? 1 : 0);
      const after = await store.update(before, values, { version, content });
      if (isNew) await store.addVersion(after, { version, userId: caller.userId, content });
      const instances = createFormulaInstanceStore(via);
      await refreshInstances(instances, { before, after, leastScheduleMs, now: new Date(clock.now()) });
      const accountIds = await instances.listAccountsOfFormula(after);
      await announceChange(notifier, via, [after.accountId, ...accountIds]);
      return { before, after };
    };
    const { after } = await changeInTurn(knex, inTransaction, noteOf);
    await notifier.settle();
    return after;
  }

  return {
    get,
    update,

    /**
     * Lists formulas from old to new. A page ends early when its formulas are large.
     * @throws AppError for an invalid `where`
     */
    list: async (view: FormulaView, { isAbridged, ...query }: TemplateQuery) =>
      shares.list(view.accountId, async (via) => {
        const store = createTemplateStore(via);
        const { rows, last } = await listPage(FILTERABLE_FORMULA, query, (selection) =>
          store.listSizes(view, selection),
        );
        const fitting = isAbridged ? rows.length : countFitting(rows);
        const ids = rows.slice(0, fitting).map(({ id }) => id);
        const end = fitting < rows.length ? rows[fitting - 1] : last;
        return { rows: await store.findAll(view, ids, isAbridged), last: end };
      }),

    /** @throws AppError REQUEST_INVALID, CONFLICT */
    create: async (caller: FormulaCaller, body: GivenPart): Promise<Formula> => {
      const { values, content: draft } = await readTemplate(body, context);
      const { accountId, userId } = caller;
      const insert = async (via: Knex): Promise<Step & { readonly after: Formula }> => {
        const store = createTemplateStore(via);
        await assertFreeResource(via, accountId, values);
        const content = withIds(draft, NO_CONTENT, await store.nextPartIds(countParts(draft)));
        const after = await store.insert({ accountId, userId }, values, content);
        await store.addVersion(after, { version: after.version, userId, content });
        await announceChange(notifier, via, [accountId]);
        return { after };
      };
      const { after } = await changeInTurn(knex, insert, noteOf);
      noteCreated(accountId);
      await notifier.settle();
      return after;
    },

    /** @throws AppError REQUEST_INVALID, NOT_FOUND, FORBIDDEN, CONFLICT */
    replace: async (caller: FormulaCaller, id: number, body: GivenPart): Promise<Formula> => {
      const { values, content: draft } = await readTemplate(body, context);
      return update(caller, id, async ({ before, store }) => ({
        values,
        content: withIds(draft, before, await store.nextPartIds(countParts(draft))),
        pointers: WHOLE_BODY,
      }));
    },

    /** @throws AppError REQUEST_INVALID, NOT_FOUND, FORBIDDEN, CONFLICT */
    patch: async (caller: FormulaCaller, id: number, body: GivenPart): Promise<Formula> => {
      const known = await get(caller, id);
      const { engine } = readChanges(body, valuesOf(known), context);
      if (engine !== known.engine) await assertRunsWith(known, engine);
      return update(caller, id, async ({ before }) => ({
        values: readChanges(body, valuesOf(before), context),
        content: contentOf(before),
        pointers: WHOLE_BODY,
      }));
    },

    /** @throws AppError NOT_FOUND, FORBIDDEN; CONFLICT for a formula with instances */
    remove: async (caller: FormulaCaller, id: number): Promise<void> => {
      const remove = async (via: Knex): Promise<Step> => {
        const store = createTemplateStore(via);
        const before = await lockOwn(store, caller, id);
        const count = await createFormulaInstanceStore(via).countOfFormula(before);
        if (count > 0) throw hasInstances(id, `${count} ${count === 1 ? 'instance' : 'instances'}`);
        await store.remove(before);
        await announceChange(notifier, via, [before.accountId]);
        return { before };
      };
      try {
        await changeInTurn(knex, remove, noteOf);
      } catch (error) {
        if (isReferenceViolation(error)) throw hasInstances(id, 'an instance');
        throw error;
      }
      await notifier.settle();
    },

    /**
     * Lists the versions of a formula, newest first.
     * @param before the version below which the page begins
     * @throws AppError NOT_FOUND
     */
    listVersions: async (
      view: FormulaView,
      id: number,
      { before, limit }: { readonly before: number | undefined; readonly limit: number },
    ): Promise<{ readonly versions: readonly FormulaVersion[]; readonly next: number | undefined }> => {
      const formula = await get(view, id);
      const found = await shares.list(view.accountId, (via) =>
        createTemplateStore(via).listVersions(formula, { before, limit: limit + 1 }),
      );
      const versions = found.slice(0, limit);
      return { versions, next: found.length > limit ? versions.at(-1)?.version : undefined };
    },

    /** @throws AppError NOT_FOUND */
    getVersion: async (view: FormulaView, id: number, version: number): Promise<StoredVersion> => {
      const found = await stored.findVersion(await get(view, id), version);
      if (found === undefined) throw new AppError('NOT_FOUND', `There is no version ${version} of formula ${id}.`);
      return found;
    },

    /** Returns those of the formulas that a caller sees. */
    findVisible: stored.findVisible,

    /** Returns the formulas that a caller sees, with the number of their steps that use a resource. */
    listUsages: (view: FormulaView, name: string) =>
      shares.list(view.accountId, (via) => createTemplateStore(via).listUsages(view, name)),
  };
}

/** A formula before and after a change. */
interface Step {
  readonly before?: Formula;
  readonly after?: Formula;
}

const WHOLE_BODY: WholePointers = { uri: ['body', 'uri'], steps: ['body', 'steps'] };

/** @throws AppError NOT_FOUND; FORBIDDEN for a formula of another account */
async function lockOwn(store: TemplateStore, caller: FormulaCaller, id: number): Promise<Formula> {
  const found = await store.find(caller, id);
  if (found === undefined) throw noFormula(id);
  if (found.accountId !== caller.accountId) throw notOwn(found);
  const locked = await store.lock(found);
  if (locked === undefined) throw noFormula(id);
  return locked;
}

function notOwn({ id, accountId }: FormulaKey): AppError {
  return new AppError(
    'FORBIDDEN',
    `Formula ${id} belongs to account ${accountId}. Only requests of that account can change it. With the privilege manageOrganization, send Elements-Account-Id: ${accountId}.`,
  );
}

/** @throws AppError CONFLICT */
async function assertFreeResource(via: Knex, accountId: number, { method, uri }: TemplateValues): Promise<void> {
  if (method === null || uri === null) return;
  const instances = createFormulaInstanceStore(via);
  if (await instances.hasResource(accountId, { method, uri }, { orFormula: false })) throw taken();
}

function taken(): AppError {
  const message = 'A formula instance of the account has this method and uri in its setting api. Choose another uri.';
  return new AppError('CONFLICT', message, { details: [{ path: pointer('body', 'uri'), message }] });
}

function hasInstances(id: number, what: string): AppError {
  return new AppError('CONFLICT', `Formula ${id} has ${what}. Delete them first.`);
}

/**
 * Asserts that scripts can run with another engine.
 * @throws AppError REQUEST_INVALID
 */
async function assertRunsWith({ steps }: Formula, engine: Formula['engine']): Promise<void> {
  const faults = createFaults('steps');
  await checkScripts(steps, engine, (index) => [steps[index]?.name ?? ''], faults);
  const [first] = faults.list;
  if (first === undefined) return;
  const path = pointer('body', 'engine');
  throw invalidRequest([{ path, message: `body.engine cannot be ${engine}: ${first.message}` }]);
}

/**
 * Asserts that no formula that a formula calls leads back to it.
 * @throws AppError REQUEST_INVALID
 */
async function assertNoCalledCircle(
  store: TemplateStore,
  view: FormulaView,
  {
    id,
    content: { steps },
    isWhole,
  }: { readonly id: number; readonly content: FormulaContent; readonly isWhole: boolean },
): Promise<void> {
  const called = steps.flatMap(({ type, properties }) => (type === 'formula' ? (calledId(properties) ?? []) : []));
  if (called.length === 0) return;
  // Two changes at the same time would not see what the other one calls.
  await store.lockCalls(view.organizationId);
  const [circle] = await store.findCallers({ ...view, seesAll: false }, id, called);
  if (circle === undefined) return;
  const index = steps.findIndex(({ type, properties }) => type === 'formula' && calledId(properties) === circle.id);
  const place = isWhole ? ['steps', String(index)] : [];
  const path = pointer('body', ...place, 'properties', 'formulaId');
  const step = steps[index]?.name ?? '';
  const message =
    circle.id === id
      ? `The step '${step}' calls its own formula.`
      : `The step '${step}' calls formula ${circle.id} (${circle.name}), which leads back to formula ${id}.`;
  throw invalidRequest([{ path, message }]);
}

function calledId({ formulaId }: Readonly<Record<string, unknown>>): number | undefined {
  return /^[1-9]\d{0,14}$/.test(String(formulaId)) ? Number(formulaId) : undefined;
}

function countFitting(rows: readonly { readonly bytes: number }[]): number {
  let room = PAGE_BYTES;
  const first = rows.findIndex(({ bytes }, index) => {
    room -= bytes;
    return room < 0 && index > 0;
  });
  return first === -1 ? rows.length : first;
}

/** Returns the part of a formula that is not versioned. */
export function valuesOf(formula: TemplateValues): TemplateValues {
  const { name, description, active, singleThreaded, debugLoggingEnabled, engine, method, uri } = formula;
  return { name, description, active, singleThreaded, debugLoggingEnabled, engine, method, uri };
}

/** Returns the versioned part of a formula. */
export function contentOf({ configuration, triggers, steps }: FormulaContent): FormulaContent {
  return { configuration, triggers, steps };
}

/** Returns NOT_FOUND for a formula that is not there, or that the caller does not see. */
export function noFormula(id: number): AppError {
  return missing('formula', id);
}

function noteOf({ before, after }: Step): ChangeNote {
  const id = (after ?? before)?.id;
  return {
    ...(id !== undefined && { targetId: String(id) }),
    changes: differences(toAudit(before), toAudit(after)),
  };
}

/** Returns what the audit log shows. The content is in the versions. */
function toAudit(formula: Formula | undefined): Readonly<Record<string, unknown>> {
  if (formula === undefined) return {};
  const { id, name, description, active, singleThreaded, debugLoggingEnabled, engine, method, uri, version } = formula;
  return {
    id,
    name,
    description: description ?? undefined,
    active,
    singleThreaded,
    debugLoggingEnabled,
    engine,
    method: method ?? undefined,
    uri: uri ?? undefined,
    version,
    configuration: formula.configuration.map(({ key }) => key),
    triggers: formula.triggers.map(({ type }) => type),
    steps: formula.steps.map((step) => step.name),
  };
}
