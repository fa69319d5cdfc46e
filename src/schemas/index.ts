import { change } from '../db/change.ts';
import { listPage, type PageQuery } from '../db/listing.ts';
import { isStorable } from '../db/storable.ts';
import { takeTurns } from '../db/transaction.ts';
import { AppError, cutText } from '../errors.ts';
import { FORMULA_TOPIC } from '../formulas/changes.ts';
import type { Instance, InstanceKey } from '../instances/instance.ts';
import type { Instances } from '../instances/instances.ts';
import type { Mappings } from '../mappings/index.ts';
import type { Platform } from '../platform.ts';
import type { Resources } from '../resources/index.ts';
import { findName } from '../resources/objects.ts';
import { CHECKER_OPTIONS, type CheckerOptions, type CheckerPorts, createChecker } from './checker.ts';
import { childName, splitChild, vendorNameOf } from './children.ts';
import { CHECK_DUE_TOPIC } from './complaints.ts';
import { createSchemaMetrics } from './schema-metrics.ts';
import { findUses, joinUses, NO_USES, type ObjectUses, type UsePorts } from './uses.ts';
import { type CheckRow, type CheckScope, createWatchStore, FILTERABLE_CHANGE, type WatchRow } from './watch-store.ts';

export { createComplaints } from './complaints.ts';

interface SchemaNeighbours extends Pick<CheckerPorts, 'prepare' | 'prepareNotice' | 'openRun'> {
  readonly instances: Pick<Instances, 'get' | 'getAll'>;
  readonly mappings: Pick<Mappings, 'onChange' | 'inForce'>;
  readonly resources: Pick<
    Resources,
    'inspect' | 'rateLimitOf' | 'listObjects' | 'getObject' | 'getChild' | 'forgetObjects'
  >;
  readonly formulasOf: UsePorts['formulasOf'];
}

export interface SchemaRole {
  /** Whether this process checks watched objects. */
  readonly checks: boolean;
  /** Hours between two checks of an instance. */
  readonly watchHours: number;
  readonly options?: Partial<CheckerOptions> | undefined;
}

/** A watched object with its users and the state of its instance's check. */
export interface Watch {
  readonly row: WatchRow;
  readonly check: CheckRow | undefined;
  readonly uses: ObjectUses;
}

export type Schemas = ReturnType<typeof composeSchemas>;

const INSTANCE_TOPIC = 'instance';
/** Topic of the message that the description of an instance changed. The payload is `account:instance`. */
const CHANGED_TOPIC = 'schema-changed';
const HOUR_MS = 3_600_000;
const SYNC_BATCH = 500;
/** Milliseconds within which new objects are read. Chance spreads instances that were created or mapped together. */
const SOON_MS = 2_000;
/** Maximum number of objects of an instance that callers watch. */
const MOST_REQUESTED = 200;

/** Builds the watch over the objects of instances. It uses polls, mappings and formulas to know which objects matter. */
export function composeSchemas(platform: Platform, neighbours: SchemaNeighbours, role: SchemaRole) {
  const { knex, notifier, clock, log, random, shares, buckets } = platform;
  const { instances, mappings, resources, formulasOf, prepare, prepareNotice, openRun } = neighbours;
  const store = createWatchStore(knex);
  const intervalMs = role.options?.intervalMs ?? role.watchHours * HOUR_MS;
  const usesOf = (instance: Instance) => findUses({ mappingsInForce: mappings.inForce, formulasOf }, instance);
  const measures = createSchemaMetrics(platform.metrics);
  const checker = createChecker(platform, {
    store,
    resources,
    prepare,
    prepareNotice,
    openRun,
    findUses: usesOf,
    getInstances: instances.getAll,
    noteChanged: ({ accountId, id }) => notifier.publish(CHANGED_TOPIC, `${accountId}:${id}`),
    measures,
    clock,
    options: { ...CHECKER_OPTIONS, ...role.options, intervalMs },
  });
  const ends: (() => void)[] = [];
  let outdated: InstanceKey[] = [];
  let scopes: CheckScope[] = [];
  let syncing: Promise<void> | undefined;

  /** @returns number of instances whose names were brought up to date; a fault of one does not affect the others */
  async function sync(keys: readonly InstanceKey[]): Promise<number> {
    if (keys.length === 0) return 0;
    let count = 0;
    let isSoon = false;
    for (const instance of await instances.getAll(keys)) {
      const { accountId, id: instanceId, settingsVersion } = instance;
      try {
        // Without its secrets, the settings of an instance are unknown, and its provider cannot be called.
        const names = instance.fault === undefined ? [...(await usesOf(instance)).keys()].filter(isName) : [];
        const nowMs = clock.now();
        const soon = new Date(Math.round(nowMs + SOON_MS * random.fraction()));
        const later = new Date(Math.round(nowMs + (intervalMs * (1 + random.fraction())) / 2));
        const wanted = names.toSorted();
        isSoon = (await store.sync({ accountId, instanceId, settingsVersion, wanted, soon, later })) || isSoon;
        count++;
      } catch (error) {
        log.warn(
          { err: error, accountId, instanceId },
          'could not choose the watched objects of an instance; trying again',
        );
      }
    }
    if (isSoon) checker.wake();
    return count;
  }

  function noteInstance(payload: string): void {
    const [accountId = 0, id = 0] = payload.split(':').map(Number);
    outdated.push({ accountId, id });
    syncSoon();
  }

  function noteScope(scope: CheckScope): void {
    scopes.push(scope);
    syncSoon();
  }

  function syncSoon(): void {
    syncing ??= syncChanged().finally(() => {
      syncing = undefined;
    });
  }

  async function syncChanged(): Promise<void> {
    while (outdated.length + scopes.length > 0) {
      const [keys, changed] = [outdated, scopes];
      outdated = [];
      scopes = [];
      try {
        let marked = 0;
        for (const scope of changed) marked += await store.mark(scope);
        // Of several processes one marks them. More than a batch is left to the next minute.
        await sync(marked === 0 ? keys : [...keys, ...(await store.findMarked(SYNC_BATCH))]);
      } catch (error) {
        log.warn({ err: error }, 'could not choose the watched objects of instances; trying again within a minute');
      }
    }
  }

  async function keep(signal: AbortSignal): Promise<number> {
    let count = 0;
    let keys: readonly InstanceKey[] = [{ accountId: 0, id: 0 }];
    for (let last = keys.at(-1); last !== undefined; last = keys.at(-1)) {
      signal.throwIfAborted();
      keys = await store.findOutdated(last, SYNC_BATCH);
      count += await sync(keys);
    }
    for (let found = 1; found > 0; ) {
      signal.throwIfAborted();
      found = await sync(await store.findMarked(SYNC_BATCH));
      count += found;
    }
    checker.wake();
    return count;
  }

  /** Returns the watches of an instance with their uses. */
  async function listWatches(instance: Instance): Promise<readonly Watch[]> {
    const key = { accountId: instance.accountId, instanceId: instance.id };
    const [rows, check, uses] = await Promise.all([store.list(key), store.find(key), usesOf(instance)]);
    return rows.map((row) => ({
      row,
      check,
      uses: joinUses(row.names.map((name) => uses.get(name) ?? NO_USES)),
    }));
  }

  /** Finds the watch of an object, which may be named by an alias or as a mapped one. */
  async function findWatch(instance: Instance, name: string): Promise<Watch | undefined> {
    const given = vendorNameOf(await mappings.inForce(instance), name);
    const watches = await listWatches(instance);
    return watches.find(({ row }) => row.objectName === given) ?? watches.find(({ row }) => row.names.includes(given));
  }

  /** @throws AppError NOT_FOUND with the nearest name of an object or a child */
  async function findObjectName(instance: Instance, given: string, signal: AbortSignal): Promise<string | undefined> {
    const { objects } = await resources.listObjects({ instance, signal });
    const own = findName(objects, given);
    const address = own === undefined ? splitChild(given) : undefined;
    const parent = address && findName(objects, address.parent);
    if (own !== undefined) return own;
    if (address === undefined || parent === undefined) {
      await resources.getObject({ instance, objectName: given, signal });
      return undefined;
    }
    const { name: child } = await resources.getChild({ instance, objectName: parent, signal }, address.child);
    return childName({ parent, child });
  }

  async function getWatch(instance: Instance, name: string): Promise<Watch> {
    const watch = await findWatch(instance, name);
    if (watch === undefined) throw noSuchWatch(instance.id, name);
    return watch;
  }

  return {
    start: () => {
      ends.push(
        notifier.subscribe(CHANGED_TOPIC, (payload) => {
          const [accountId = 0, id = 0] = payload.split(':').map(Number);
          resources.forgetObjects({ accountId, id });
        }),
      );
      if (!role.checks) return;
      ends.push(
        notifier.subscribe(INSTANCE_TOPIC, noteInstance),
        notifier.subscribe(CHECK_DUE_TOPIC, checker.wake),
        notifier.subscribe(FORMULA_TOPIC, (accountId) =>
          noteScope({ accountId: Number(accountId), usedByFormulas: true }),
        ),
        mappings.onChange((owner) => owner !== undefined && noteScope(owner)),
      );
      buckets.onGained(checker.wake);
      checker.start();
    },
    stop: async () => {
      for (const end of ends) end();
      await syncing;
      await checker.stop();
    },

    /**
     * Lists the watched objects of an instance.
     * @throws AppError NOT_FOUND
     */
    list: async (accountId: number, instanceId: number): Promise<readonly Watch[]> =>
      listWatches(await instances.get(accountId, instanceId)),

    /**
     * Returns a watched object. A mapped object is watched as the provider's object behind it.
     * @throws AppError NOT_FOUND
     */
    get: async (accountId: number, instanceId: number, name: string): Promise<Watch> =>
      getWatch(await instances.get(accountId, instanceId), name),

    /**
     * Watches an object, whatever uses it. Its fields are read soon.
     * @throws AppError NOT_FOUND with the nearest name; CONFLICT when the instance has the maximum of requested watches; as calls of the
     * provider
     */
    watch: async (key: InstanceKey, name: string, signal: AbortSignal): Promise<Watch> => {
      const instance = await instances.get(key.accountId, key.id);
      const given = vendorNameOf(await mappings.inForce(instance), name);
      const objectName = await findObjectName(instance, given, signal);
      if (objectName === undefined) throw noSuchWatch(key.id, name);
      const watched = { accountId: key.accountId, instanceId: key.id, objectName };
      await change(knex, async (via) => {
        await takeTurns(via, 'requested watches of an instance', [key.id]);
        const now = new Date(clock.now());
        const others = (await store.list(watched, via)).filter((row) => row.requested && row.objectName !== objectName);
        if (others.length >= MOST_REQUESTED) throw tooMany(key.id);
        await store.request(via, watched, now);
      });
      await notifier.publish(CHECK_DUE_TOPIC, '');
      return getWatch(instance, objectName);
    },

    /**
     * Ends the watch that a caller requested. An object that polls, mappings or formulas use stays watched.
     * @returns the name of the object
     * @throws AppError NOT_FOUND; CONFLICT for a watch that no caller requested
     */
    unwatch: async (key: InstanceKey, name: string): Promise<string> => {
      const instance = await instances.get(key.accountId, key.id);
      const { row, uses } = await getWatch(instance, name);
      await change(knex, async (via) => {
        if (!(await store.unrequest(via, row))) throw isUsed(row, uses);
      });
      return row.objectName;
    },

    /**
     * Lists the changes of the watched objects of an instance, the newest first.
     * @throws AppError NOT_FOUND; WHERE_SYNTAX, WHERE_INVALID
     */
    listChanges: async (accountId: number, instanceId: number, query: PageQuery) => {
      await instances.get(accountId, instanceId);
      return listPage(FILTERABLE_CHANGE, query, (selection) =>
        shares.list(accountId, (via) =>
          createWatchStore(via).listChanges({ accountId, instanceId }, { ...selection, newestFirst: true }),
        ),
      );
    },

    /**
     * Repairs the effect of lost messages: the watched objects become those that are used.
     * @returns number of corrected instances
     */
    keep,

    /** Deletes changes that were found before a time. */
    purge: store.purgeChanges,
  };
}

/** PostgreSQL cannot store every text. */
function isName(name: string): boolean {
  return name !== '' && name.length <= 1000 && isStorable(name);
}

function noSuchWatch(instanceId: number, name: string): AppError {
  return new AppError(
    'NOT_FOUND',
    `Instance ${instanceId} does not watch '${cutText(name)}'; GET /instances/${instanceId}/watches lists what it watches.`,
  );
}

function tooMany(instanceId: number): AppError {
  return new AppError(
    'CONFLICT',
    `Instance ${instanceId} has ${MOST_REQUESTED} requested watches, which is the maximum. End one with DELETE /instances/${instanceId}/watches/{objectName}.`,
  );
}

function isUsed({ objectName, instanceId }: WatchRow, { polls, mappings, formulas }: ObjectUses): AppError {
  const users = [
    ...polls.map(({ name }) => `the poll '${name}'`),
    ...mappings.map((mapping) => `the mapping of '${mapping.objectName}'`),
    ...formulas.map(({ formulaName }) => `the formula '${formulaName}'`),
  ];
  const [user = 'something'] = users;
  return new AppError(
    'CONFLICT',
    `Nobody requested the watch of '${cutText(objectName)}' on instance ${instanceId}: ${user} uses the object. The watch ends with its last use.`,
  );
}
