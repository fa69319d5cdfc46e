import type { Knex } from 'knex';
import { createAnnouncedCache, createLoadingCache } from '../db/caches.ts';
import type { Notifier } from '../db/notifier.ts';
import type { FormulaContent, FormulaKey, Step, Trigger } from './model.ts';
import { createProgramStore, type StoredFormulaInstance } from './program-store.ts';

/** A version of a formula, as it is run. It never changes. */
export interface Program {
  readonly key: FormulaKey;
  readonly version: number;
  readonly variables: ReadonlySet<string>;
  readonly trigger: Trigger | undefined;
  readonly steps: ReadonlyMap<string, Step>;
  readonly stepNames: ReadonlySet<string>;
}

/** A formula instance with the members of its template that decide how it runs now. */
export interface RunnableInstance extends StoredFormulaInstance {
  readonly accountId: number;
  readonly id: number;
}

/** The formula instances of an account. */
interface KnownInstances {
  readonly byId: ReadonlyMap<number, RunnableInstance>;
  /**
   * Those that are active, and whose formulas are, with those of other accounts that name its element instances. It is the same value until
   * one of them changes.
   */
  readonly running: readonly RunnableInstance[];
  /** The accounts of the element instances that they name in other accounts. */
  readonly otherAccounts: ReadonlyMap<number, number>;
  /** Methods with paths that run one of them, active or not. */
  readonly resources: ReadonlySet<string>;
}

export type Programs = ReturnType<typeof createPrograms>;

/** Topic of changes of templates and instances; the payload is the id of an account with formula instances. */
const TOPIC = 'formula-changed';
const MAX_PROGRAM_CHARACTERS = 32 * 1024 * 1024;
const KEEP_MS = 3_600_000;

/** Reads formulas and their instances for execution, and keeps what it has read until it changes. */
export function createPrograms({ knex, notifier }: { readonly knex: Knex; readonly notifier: Notifier }) {
  const store = createProgramStore(knex);
  const programs = createLoadingCache<{ readonly program: Program; readonly size: number }>({
    load: async (name) => {
      const [accountId = 0, id = 0, version = 0] = name.split(':').map(Number);
      const content = await store.findVersion({ accountId, id }, version);
      if (content === undefined) return undefined;
      return { program: toProgram({ accountId, id }, version, content), size: JSON.stringify(content).length };
    },
    max: MAX_PROGRAM_CHARACTERS,
    sizeOf: ({ size }) => size,
    keepMs: KEEP_MS,
  });
  /** The instances of an account that run, by id. */
  const instances = createAnnouncedCache<KnownInstances>({
    notifier,
    topic: TOPIC,
    load: async (accountId) => {
      const all = await store.listInstances(Number(accountId));
      const own = all.filter((one) => one.accountId === Number(accountId));
      const named = own.flatMap(({ otherAccounts }) => Object.entries(otherAccounts ?? {}));
      return {
        byId: new Map(own.map((one) => [one.id, one])),
        running: all.filter(({ active, formulaActive }) => active && formulaActive),
        otherAccounts: new Map(named.map(([id, ofAccount]) => [Number(id), ofAccount])),
        resources: new Set(own.flatMap(({ resources }) => resources)),
      };
    },
  });

  /** An execution may arrive before the announcement of its instance. */
  async function findUnknown(accountId: number, id: number): Promise<RunnableInstance | undefined> {
    const found = await store.findInstance(accountId, id);
    if (found !== undefined) await instances.changed(String(accountId));
    return found;
  }

  return {
    /** Returns a version of a formula. Undefined: the formula was deleted. */
    get: async ({ accountId, id }: FormulaKey, version: number): Promise<Program | undefined> =>
      (await programs.get(`${accountId}:${id}:${version}`))?.program,

    /** Returns a formula instance with its formula. Undefined: there is none. */
    findInstance: async (accountId: number, id: number): Promise<RunnableInstance | undefined> =>
      (await instances.get(String(accountId)))?.byId.get(id) ?? (await findUnknown(accountId, id)),

    /**
     * Returns the account of an element instance that a formula instance of an account names. Undefined: it is of the account itself, or
     * none names it. This costs no query.
     */
    findOtherAccount: async (accountId: number, elementInstanceId: number): Promise<number | undefined> =>
      (await instances.get(String(accountId)))?.otherAccounts.get(elementInstanceId),

    /** Returns the active instances whose formulas are active: those of an account, and those of others that name its element instances. They are in memory, so this costs no query. The list is the same value until one of them changes. */
    listRunning: async (accountId: number): Promise<readonly RunnableInstance[]> =>
      (await instances.get(String(accountId)))?.running ?? [],

    /** Returns whether a formula instance of an account, active or not, is a resource with a method and path. This costs no query. */
    hasResource: async (accountId: number, method: string, path: string): Promise<boolean> =>
      (await instances.get(String(accountId)))?.resources.has(`${method} ${path}`) ?? false,

    /** Returns the template that a sub-formula step names, if the account may run it. */
    findFormula: store.findFormula,
  };
}

function toProgram(key: FormulaKey, version: number, { configuration, triggers, steps }: FormulaContent): Program {
  return {
    key,
    version,
    variables: new Set(configuration.map((variable) => variable.key)),
    trigger: triggers[0],
    steps: new Map(steps.map((step) => [step.name, step])),
    stepNames: new Set(steps.map(({ name }) => name)),
  };
}
