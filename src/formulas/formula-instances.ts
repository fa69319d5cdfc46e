import type { Knex } from 'knex';
import { type ChangeNote, changeInTurn, differences } from '../db/change.ts';
import { listPage } from '../db/listing.ts';
import { isStorable } from '../db/storable.ts';
import { isReferenceViolation, isUniqueViolation } from '../db/violations.ts';
import { assertCallable } from '../egress/callback-url.ts';
import { AppError, invalidRequest, isAppError, pointer } from '../errors.ts';
import { MASK } from '../instances/configuration.ts';
import { EVENTS_ENABLED } from '../instances/event-settings.ts';
import type { Instances } from '../instances/instances.ts';
import { createFaults, type Faults } from '../mappings/faults.ts';
import type { Platform } from '../platform.ts';
import { changedMeanwhile, missing } from '../shared-errors.ts';
import { announceChange } from './changes.ts';
import {
  API,
  checkVariables,
  type ElementInstance,
  faultAt,
  findTriggerFault,
  type InstanceDraft,
  type InstanceValues,
  namedInstanceIds,
  readInstance,
  timeToLiveOf,
  WEBHOOK_URL,
} from './check-instance.ts';
import type { FindUse } from './check-resource.ts';
import type { GivenPart } from './check-step.ts';
import { type Derived, derive, nextDueOf } from './derived.ts';
import {
  createFormulaInstanceStore,
  FILTERABLE_FORMULA_INSTANCE,
  type FormulaInstanceStore,
  type InstanceChange,
  type ListedInstance,
  type StoredInstance,
} from './formula-instances-store.ts';
import type { Formula, FormulaInstanceKey, Variable } from './model.ts';
import { scheduleWarning } from './refresh.ts';
import type { FormulaCaller } from './templates.ts';
import { noFormula, type Templates } from './templates.ts';
import { triggerInstanceId, variablesIn } from './variables.ts';

type FormulaInstancePlatform = Pick<Platform, 'knex' | 'notifier' | 'clock' | 'egress'> & {
  readonly shares: Pick<Platform['shares'], 'list'>;
};

interface FormulaInstanceNeighbours {
  readonly templates: Templates;
  readonly instances: Pick<Instances, 'get'>;
  readonly findUse: FindUse;
  /** Minimum time between two firings of a schedule, in milliseconds. */
  readonly leastScheduleMs: number;
}

export interface FormulaInstanceQuery {
  readonly formulaId?: number | undefined;
  readonly elementInstanceId?: number | undefined;
  readonly searchText?: string | undefined;
  readonly includesInactive: boolean;
  readonly where?: string | undefined;
  readonly afterId?: number | undefined;
  readonly limit: number;
}

/** An instance of a formula, as paths name it. */
interface OfFormula {
  readonly formulaId: number;
  readonly id: number;
}

export type FormulaInstances = ReturnType<typeof createFormulaInstances>;

/** Formula instances that are read at a time when their time to live is over. */
const EXPIRED_AT_ONCE = 100;

/** A formula instance that was read and checked, before it is stored. */
interface Checked {
  readonly draft: InstanceDraft;
  readonly derived: Derived;
  readonly elementInstanceIds: readonly number[];
  readonly warning: string | null;
}

/** Creates the formula instances, which belong to the account of the caller. */
export function createFormulaInstances(
  { knex, notifier, clock, egress, shares }: FormulaInstancePlatform,
  { templates, instances, findUse, leastScheduleMs }: FormulaInstanceNeighbours,
) {
  const stored = createFormulaInstanceStore(knex);

  /** @throws AppError NOT_FOUND */
  async function get(accountId: number, id: number): Promise<ListedInstance> {
    const found = await stored.find({ accountId, id });
    if (found === undefined) throw noInstance(id);
    return found;
  }

  /** @throws AppError NOT_FOUND, also for an instance of another formula */
  async function getOf(accountId: number, { formulaId, id }: OfFormula): Promise<ListedInstance> {
    const found = await stored.find({ accountId, id });
    if (found === undefined || found.formulaId !== formulaId) throw noInstance(id);
    return found;
  }

  /**
   * Reads a formula of which an account can have instances.
   * @throws AppError NOT_FOUND; FORBIDDEN for a formula that only administrators of the organization see
   */
  async function getFormula(caller: FormulaCaller, id: number): Promise<Formula> {
    const formula = await templates.get(caller, id);
    const visible = await templates.findVisible({ ...caller, seesAll: false }, [id]);
    if (!visible.has(id)) throw ofOtherAccount(formula);
    return formula;
  }

  /**
   * Reads and checks a formula instance.
   * @param before the instance as it is stored; `isMerging` keeps what the body leaves out
   * @throws AppError REQUEST_INVALID that names every fault
   */
  async function check(
    caller: FormulaCaller,
    formula: Formula,
    body: GivenPart | undefined,
    { before, isMerging = false }: { readonly before?: StoredInstance; readonly isMerging?: boolean } = {},
  ): Promise<Checked> {
    const triggerFault = findTriggerFault(formula);
    if (triggerFault !== undefined) throw invalidRequest([triggerFault]);
    const faults = createFaults('body');
    const draft = readInstance(body, isMerging ? before : undefined, faults, findUse);
    faults.throwIfAny();
    const { values } = draft;
    const derived = derive(formula, values, leastScheduleMs);
    const elementInstances = await findNamed(caller.organizationId, namedInstanceIds(formula, values));
    const mayName = ({ accountId }: ElementInstance, key: string) =>
      caller.mayNameAll || accountId === caller.accountId || before?.configuration[key] === values.configuration[key];
    checkVariables(values, { formula, elementInstances, mayName }, faults);
    noteCronFault(formula, derived, faults);
    faults.throwIfAny();
    for (const url of draft.webhookUrls) await assertCallable(egress, url, pointer('body', 'settings', WEBHOOK_URL));
    const warning = scheduleWarning(derived) ?? (await findEventWarning(caller, formula, values));
    return { draft, derived, elementInstanceIds: [...elementInstances.keys()], warning };
  }

  async function findNamed(
    organizationId: number,
    ids: readonly number[],
  ): Promise<ReadonlyMap<number, ElementInstance>> {
    const found = await stored.findElementInstances(organizationId, ids, { isLocking: false });
    return new Map(found.map((one) => [one.id, one]));
  }

  /** Returns why a trigger of the type `event` does not fire. */
  async function findEventWarning(
    { organizationId }: FormulaCaller,
    { triggers: [trigger] }: Formula,
    { configuration }: InstanceValues,
  ): Promise<string | null> {
    if (trigger?.type !== 'event') return null;
    const id = triggerInstanceId(trigger, configuration);
    const [named] =
      id === undefined ? [] : await stored.findElementInstances(organizationId, [id], { isLocking: false });
    if (named === undefined) return 'The trigger names no element instance, so no event starts this formula instance.';
    const isOn = await areEventsOn(named);
    return isOn
      ? null
      : `Element instance ${named.id} has no events enabled, so no event starts this formula instance. Set event.notification.enabled.`;
  }

  async function areEventsOn({ accountId, id }: ElementInstance): Promise<boolean> {
    try {
      return (await instances.get(accountId, id)).config[EVENTS_ENABLED] === true;
    } catch (error) {
      // Deleted meanwhile: the change fails when it locks what it names.
      if (isAppError(error, 'NOT_FOUND')) return false;
      throw error;
    }
  }

  /** Locks what a formula instance depends on, and it itself, always in this order. @throws AppError NOT_FOUND, CONFLICT, REQUEST_INVALID */
  async function settle(
    store: FormulaInstanceStore,
    caller: FormulaCaller,
    formula: Formula,
    { draft, derived, elementInstanceIds, warning }: Checked,
    before?: StoredInstance,
  ): Promise<InstanceChange> {
    const locked = await store.lockFormula(formula);
    if (locked === undefined) throw noFormula(formula.id);
    if (locked.version !== formula.version) throw changedMeanwhile(`Formula ${formula.id}`);
    const found = await store.findElementInstances(caller.organizationId, elementInstanceIds, { isLocking: true });
    if (found.length < elementInstanceIds.length) throw changedMeanwhile('An element instance');
    const { values, api } = draft;
    if (api !== undefined) {
      const isTaken = await store.hasResource(caller.accountId, api, { instanceId: before?.id, orFormula: true });
      if (isTaken) throw apiTaken();
    }
    // Its schedule may have moved on since it was read.
    const current = before && (await lock(store, before));
    const now = new Date(clock.now());
    const isRunning = values.active && locked.active;
    return {
      ...values,
      elementInstanceIds: derived.elementInstanceIds,
      apiMethod: api?.method ?? null,
      apiPath: api?.uri ?? null,
      warning,
      nextDue: keptDue(current, isRunning, formula, derived) ?? nextDueOf(derived.cron, isRunning, now),
      expiresAt: expiryOf(values, current, now),
    };
  }

  /** Returns the time that is due already, or will be, where the schedule stays as it is. */
  function keptDue(before: StoredInstance | undefined, isRunning: boolean, formula: Formula, { cron }: Derived) {
    if (before?.nextDue == null || !isRunning || cron === undefined) return undefined;
    return derive(formula, before, leastScheduleMs).cron === cron ? before.nextDue : undefined;
  }

  async function write(
    caller: FormulaCaller,
    before: ListedInstance,
    body: GivenPart | undefined,
    { isMerging }: { readonly isMerging: boolean },
  ): Promise<ListedInstance> {
    const { accountId, id } = before;
    const formula = await getFormula(caller, before.formulaId);
    const checked = await check(caller, formula, body, { before, isMerging });
    const update = async (via: Knex): Promise<Step> => {
      const store = createFormulaInstanceStore(via);
      const settled = await settle(store, caller, formula, checked, before);
      // To those that it has named until now, too.
      await announceChange(notifier, via, [accountId]);
      await store.update(before, settled);
      await announceChange(notifier, via, [accountId]);
      return { before, after: { ...before, ...settled }, variables: formula.configuration };
    };
    await orTaken(changeInTurn(knex, update, noteOf));
    await notifier.settle();
    return get(accountId, id);
  }

  /** @throws AppError NOT_FOUND; CONFLICT for one that another request changed */
  async function lock(store: FormulaInstanceStore, before: StoredInstance): Promise<StoredInstance> {
    const locked = await store.lock(before);
    if (locked === undefined) throw noInstance(before.id);
    if (locked.updatedAt.getTime() !== before.updatedAt.getTime())
      throw changedMeanwhile(`Formula instance ${before.id}`);
    return locked;
  }

  /** @throws AppError NOT_FOUND, also for one that is not meant */
  async function removeMeant(
    { accountId, id }: FormulaInstanceKey,
    isMeant: (locked: StoredInstance) => boolean,
  ): Promise<void> {
    const remove = async (via: Knex): Promise<Step> => {
      const store = createFormulaInstanceStore(via);
      const before = await store.lock({ accountId, id });
      if (before === undefined || !isMeant(before)) throw noInstance(id);
      await announceChange(notifier, via, [accountId]);
      await store.remove(before);
      return { before, variables: [] };
    };
    await changeInTurn(knex, remove, noteOf);
    await notifier.settle();
  }

  return {
    get,
    getOf,

    /**
     * Lists formula instances of an account from old to new.
     * @throws AppError for an invalid `where`
     */
    list: (accountId: number, query: FormulaInstanceQuery) =>
      listPage(FILTERABLE_FORMULA_INSTANCE, query, async (selection) => {
        // PostgreSQL would report an error for a text that it cannot store.
        if (!isStorable(query.searchText ?? '')) return [];
        return shares.list(accountId, (via) => createFormulaInstanceStore(via).list(accountId, selection));
      }),

    /** @throws AppError REQUEST_INVALID, NOT_FOUND, FORBIDDEN, CONFLICT */
    create: async (caller: FormulaCaller, formulaId: number, body: GivenPart): Promise<ListedInstance> => {
      const { accountId, userId } = caller;
      const formula = await getFormula(caller, formulaId);
      const checked = await check(caller, formula, body);
      const owner = { accountId, userId, formulaAccountId: formula.accountId, formulaId };
      const insert = async (via: Knex): Promise<Step & { readonly id: number }> => {
        const store = createFormulaInstanceStore(via);
        const settled = await settle(store, caller, formula, checked);
        const id = await store.insert(owner, settled);
        await announceChange(notifier, via, [accountId]);
        return { id, after: { id, ...settled, formulaId }, variables: formula.configuration };
      };
      const { id } = await orTaken(changeInTurn(knex, insert, noteOf));
      await notifier.settle();
      return get(accountId, id);
    },

    /** @throws AppError REQUEST_INVALID, NOT_FOUND, CONFLICT */
    replace: async (caller: FormulaCaller, of: OfFormula, body: GivenPart): Promise<ListedInstance> =>
      write(caller, await getOf(caller.accountId, of), body, { isMerging: false }),

    /** @throws AppError REQUEST_INVALID, NOT_FOUND, CONFLICT */
    patch: async (caller: FormulaCaller, of: OfFormula, body: GivenPart): Promise<ListedInstance> =>
      write(caller, await getOf(caller.accountId, of), body, { isMerging: true }),

    /** @throws AppError NOT_FOUND; CONFLICT for one that cannot run, with the reason */
    activate: async (caller: FormulaCaller, of: OfFormula): Promise<ListedInstance> => {
      const before = await getOf(caller.accountId, of);
      try {
        return await write(caller, before, { active: true }, { isMerging: true });
      } catch (error) {
        if (!isAppError(error, 'REQUEST_INVALID')) throw error;
        const message = `Formula instance ${of.id} cannot be activated: ${error.message}`;
        throw new AppError('CONFLICT', message, { details: error.details, cause: error });
      }
    },

    /** @throws AppError NOT_FOUND */
    deactivate: async ({ accountId }: FormulaCaller, of: OfFormula): Promise<ListedInstance> => {
      const update = async (via: Knex): Promise<Step> => {
        const store = createFormulaInstanceStore(via);
        const before = await store.lock({ accountId, id: of.id });
        if (before?.formulaId !== of.formulaId) throw noInstance(of.id);
        const after = { ...before, active: false, nextDue: null };
        await store.update(before, after);
        await announceChange(notifier, via, [accountId]);
        return { before, after, variables: [] };
      };
      await changeInTurn(knex, update, noteOf);
      await notifier.settle();
      return get(accountId, of.id);
    },

    /** @throws AppError NOT_FOUND, also for an instance of another formula */
    remove: (key: FormulaInstanceKey, formulaId?: number): Promise<void> =>
      removeMeant(key, (locked) => formulaId === undefined || locked.formulaId === formulaId),

    /** Deletes the formula instances whose time to live is over. @returns how many */
    removeExpired: async (): Promise<number> => {
      let count = 0;
      for (;;) {
        const now = new Date(clock.now());
        const expired = await stored.listExpired(now, EXPIRED_AT_ONCE);
        // A user may have set another time meanwhile.
        const isOver = ({ expiresAt }: StoredInstance) => expiresAt !== null && expiresAt <= now;
        for (const key of expired) await orGone(removeMeant(key, isOver));
        count += expired.length;
        if (expired.length < EXPIRED_AT_ONCE) return count;
      }
    },

    /** Removes some of what a deleted account has of formulas. */
    removeSome: (accountId: number) => stored.removeOfAccount(accountId),
  };
}

/** Deactivates the formula instances that name a deleted element instance, in the transaction of its deletion. */
type NoteElementRemoval = (via: Knex, elementInstance: { readonly id: number }) => Promise<void>;

export function createNoteElementRemoval({ notifier }: Pick<Platform, 'notifier'>): NoteElementRemoval {
  return async (via, { id }) => {
    const warning = `Element instance ${id}, which this formula instance names, was deleted.`;
    await announceChange(notifier, via, await createFormulaInstanceStore(via).deactivateNaming(id, warning));
  };
}

/** A formula instance before and after a change. */
interface Step {
  readonly before?: Shown;
  readonly after?: Shown;
  readonly variables: readonly Variable[];
}

type Shown = Pick<StoredInstance, 'id' | 'formulaId' | 'name' | 'active' | 'settings' | 'configuration'>;

/** Notes a cron expression that cannot be used, at the variables that it is made of. */
function noteCronFault({ configuration, triggers: [trigger] }: Formula, { cronFault }: Derived, faults: Faults): void {
  const cron = trigger?.properties.cron;
  if (cronFault === undefined || typeof cron !== 'string') return;
  const [key] = variablesIn(cron, new Set(configuration.map((one) => one.key)));
  // Without variables, the trigger was checked when it was written.
  if (key !== undefined) faults.note(['configuration', key], `makes a schedule that cannot be used: it ${cronFault}`);
}

/** The time to live begins when it is set. */
function expiryOf(values: InstanceValues, before: StoredInstance | undefined, now: Date): Date | null {
  const seconds = timeToLiveOf(values);
  if (seconds === undefined) return null;
  if (before !== undefined && timeToLiveOf(before) === seconds) return before.expiresAt;
  return new Date(now.getTime() + seconds * 1000);
}

async function orTaken<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (isUniqueViolation(error)) throw apiTaken();
    if (isReferenceViolation(error)) throw changedMeanwhile('The formula');
    throw error;
  }
}

/** A user may have deleted or changed it meanwhile. */
async function orGone(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isAppError(error, 'NOT_FOUND')) throw error;
  }
}

function apiTaken(): AppError {
  return invalidRequest([
    faultAt(['settings', API], 'is taken: another formula of the account has this method and path.'),
  ]);
}

function noInstance(id: number): AppError {
  return missing('formula instance', id);
}

function ofOtherAccount({ id, accountId }: Formula): AppError {
  return new AppError(
    'FORBIDDEN',
    `Formula ${id} belongs to account ${accountId}, so only that account can have instances of it. Send Elements-Account-Id: ${accountId}.`,
  );
}

function noteOf({ before, after, variables }: Step): ChangeNote {
  const id = (after ?? before)?.id;
  const named = variables.filter(({ type }) => type === 'elementInstance').map(({ key }) => valueName(key));
  // Values of variables may be secrets, such as the password of a queue.
  const show = (name: string, value: unknown) => (name.startsWith(VALUE) && !named.includes(name) ? MASK : value);
  return {
    ...(id !== undefined && { targetId: String(id) }),
    changes: differences(toAudit(before), toAudit(after), show),
  };
}

const VALUE = 'configuration.';

function valueName(key: string): string {
  return VALUE + key;
}

function toAudit(instance: Shown | undefined): Readonly<Record<string, unknown>> {
  if (instance === undefined) return {};
  const { id, formulaId, name, active, settings, configuration } = instance;
  const values = Object.entries(configuration).map(([key, value]) => [valueName(key), value]);
  return { id, formulaId, name, active, settings, ...Object.fromEntries(values) };
}
