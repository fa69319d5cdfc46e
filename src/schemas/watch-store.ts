import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { arrayLiteral, columnLiterals } from '../db/array-literal.ts';
import { isDistributed, perAccount } from '../db/distributed.ts';
import { orderedJson as json } from '../db/json.ts';
import { filterable, INSTANT, INTEGER, type Selection, selectPage, TEXT } from '../db/listing.ts';
import { columnsOf, firstOf, type RowOf, type RowWith } from '../db/row.ts';
import type { ClaimRequest } from '../events/claimed-work.ts';
import { inBuckets } from '../work-buckets.ts';
import type { Breaks } from './breaks.ts';
import type { SchemaChange } from './compare.ts';
import type { Shape } from './shape.ts';

/** The instance whose objects are checked. */
type CheckKey = RowOf<'schema_check', 'account_id' | 'instance_id'>;

export type WatchKey = RowOf<'schema_watch', 'account_id' | 'instance_id' | 'object_name'>;

/** A check whose lease this process holds. */
export interface ClaimedCheck
  extends CheckKey,
    RowOf<'schema_check', 'is_partial' | 'waits' | 'failures' | 'last_success_at' | 'due'> {
  /** Id of the lease. A check that another process took over has another one. */
  readonly lease: string;
}

export type CheckRow = RowOf<
  'schema_check',
  'due' | 'lease_until' | 'last_run_at' | 'last_success_at' | 'last_error' | 'failures'
>;

/** A watched object without its shape. */
export interface WatchRow extends RowWith<'schema_watch', typeof WATCH> {
  readonly fieldCount: number | null;
  /** Whether the provider does not have the object any more. */
  readonly isGone: boolean;
}

export interface ChangeRow extends Pick<RowOf<'schema_change'>, 'id' | 'instanceId' | 'objectName' | 'createdAt'> {
  readonly change: SchemaChange;
  readonly breaks: Breaks;
}

/** The outcome of a check. */
export interface CheckResult extends CheckKey {
  readonly lease: string;
  /** The due time of the claim. */
  readonly due: Date;
  readonly startedAt: Date;
  readonly nextDue: Date;
  /** Whether the check was broken off, which says nothing about the provider. It is only released. */
  readonly isGivenBack: boolean;
  readonly hasWaited: boolean;
  /** Whether objects are left to the next run. */
  readonly isPartial: boolean;
  /** Error of the check; undefined after success. */
  readonly error: string | undefined;
}

/** The instances whose checks may be outdated: those of an organization, of an account, or one. */
export interface CheckScope {
  readonly organizationId?: number;
  readonly accountId?: number;
  readonly instanceId?: number;
  /** Whether only instances count that formulas name. */
  readonly usedByFormulas?: boolean;
}

/** A difference with the shape that it leads to. */
interface Drift {
  readonly key: WatchKey;
  /** The version of the settings that the shape was read with. */
  readonly settingsVersion: number;
  readonly hashBefore: Buffer;
  readonly hash: Buffer;
  readonly shape: Shape;
  readonly now: Date;
}

/** The objects that an instance uses under a version of its settings. */
interface SyncedInstance {
  readonly accountId: number;
  readonly instanceId: number;
  readonly settingsVersion: number;
  readonly wanted: readonly string[];
  readonly soon: Date;
  readonly later: Date;
}

interface SyncedCheck {
  readonly isSoon: boolean;
}

interface CheckClaim extends ClaimRequest {
  /** When checks that are put off are due again. */
  readonly later: Date;
}

type ClaimedRow = ClaimedCheck & { readonly isUsable: boolean };

interface FoundCheck extends RowOf<'schema_check', 'account_id' | 'instance_id'> {
  /** Text, because a date of JavaScript has milliseconds only. */
  readonly due: string;
  readonly isUsable: boolean;
}

export type WatchStore = ReturnType<typeof createWatchStore>;

const WATCH = columnsOf('schema_watch', [
  'account_id',
  'instance_id',
  'object_name',
  'requested',
  'names',
  'hash',
  'pending_hash',
  'checked_at',
  'changed_at',
  'last_error',
  'created_at',
]);

const CHANGE = columnsOf('schema_change', ['id', 'instance_id', 'object_name', 'change', 'breaks', 'created_at']);

export const FILTERABLE_CHANGE = filterable({
  id: [INTEGER, 'id'],
  objectName: [TEXT, 'object_name'],
  createdDate: [INSTANT, "date_trunc('milliseconds', created_at)"],
});

/** Creates the store of watched objects. Its statements read instances, too, because only usable ones are checked. */
export function createWatchStore(knex: Knex) {
  const ofWatch = ({ objectName, ...key }: WatchKey) => ({ ...ofInstance(key), object_name: objectName });

  /** A distributed database locks rows of one account at a time only, so the due ones are found first, without a lock. */
  async function claimPerAccount(
    chosen: readonly Knex.RawBinding[],
    { now, leaseUntil, later }: CheckClaim,
  ): Promise<readonly ClaimedRow[]> {
    const { rows: found } = await knex.raw<{ rows: FoundCheck[] }>(FIND_DUE, [...chosen]);
    const claimed = await perAccount(knex, found, async (via, checks, accountId) => {
      const { rows } = await via.raw<{ rows: ClaimedRow[] }>(CLAIM_OF_ACCOUNT, [
        leaseUntil,
        later,
        ...columnLiterals(checks, ['instanceId', 'due', 'isUsable']),
        arrayLiteral(checks.map(() => randomUUID())),
        accountId ?? null,
        now,
        now,
      ]);
      return rows;
    });
    return claimed.flat();
  }

  return {
    transaction: <Result>(work: (via: Knex) => Promise<Result>): Promise<Result> => knex.transaction(work),

    /**
     * Claims due checks, the longest due first, at most `share` per account. Those of instances that cannot be called are put off.
     * @returns the claimed checks, and how many were put off
     */
    claim: async (
      claim: CheckClaim,
    ): Promise<{ readonly claimed: readonly ClaimedCheck[]; readonly putOff: number }> => {
      const { now, leaseUntil, later, limit, share, except, buckets } = claim;
      const chosen = [now, now, [...buckets], [...except], limit * 4, share, limit];
      const rows = (await isDistributed(knex))
        ? await claimPerAccount(chosen, claim)
        : (await knex.raw<{ rows: ClaimedRow[] }>(CLAIM, [...chosen, leaseUntil, later])).rows;
      const claimed = rows.filter(({ isUsable }) => isUsable);
      return { claimed, putOff: rows.length - claimed.length };
    },

    /** Returns the time when the next unclaimed check in these buckets is due. */
    nextDue: async (now: Date, buckets: readonly number[]): Promise<Date | undefined> => {
      const { rows } = await knex.raw<{ rows: { readonly due: Date | null }[] }>(
        `select min(due) as due from schema_check
         where (lease_until is null or lease_until <= ?) and ${inBuckets('instance_id')}`,
        [now, [...buckets]],
      );
      return firstOf(rows).due ?? undefined;
    },

    /** Extends the leases that this process still holds. */
    renew: async (checks: readonly (CheckKey & { readonly lease: string })[], leaseUntil: Date): Promise<void> => {
      await knex.raw(RENEW, [leaseUntil, ...columnLiterals(checks, ['accountId', 'instanceId', 'lease'])]);
    },

    /** Stores the outcome of a check and releases it, unless another process has it. */
    finish: async (result: CheckResult): Promise<void> => {
      const { accountId, instanceId, lease, due, startedAt, nextDue, isGivenBack, hasWaited, isPartial, error } =
        result;
      await knex.raw(FINISH, {
        ...{ accountId, instanceId, lease, startedAt, nextDue, isGivenBack, hasWaited, isPartial },
        claimedDue: due,
        // A date of JavaScript has milliseconds only.
        claimedEnd: new Date(due.getTime() + 1),
        error: error ?? null,
      });
    },

    /** Returns the check of an instance. */
    find: async (key: CheckKey): Promise<CheckRow | undefined> =>
      knex('schema_check').where(ofInstance(key)).first({
        due: 'due',
        leaseUntil: 'lease_until',
        lastRunAt: 'last_run_at',
        lastSuccessAt: 'last_success_at',
        lastError: 'last_error',
        failures: 'failures',
      }),

    /** Returns the watched objects of an instance by name, without their shapes. */
    list: async (key: CheckKey, via = knex): Promise<readonly WatchRow[]> =>
      via('schema_watch')
        .where(ofInstance(key))
        .select({
          ...WATCH,
          fieldCount: knex.raw("(select count(*)::int from json_object_keys(shape->'fields'))"),
          isGone: knex.raw("coalesce((shape->>'gone')::boolean, false)"),
        })
        .orderBy('object_name'),

    /** Returns the shape of a watched object. Undefined: it was not read yet, or it is not watched. */
    findShape: async (key: WatchKey): Promise<Shape | undefined> => {
      const row = await knex('schema_watch').where(ofWatch(key)).first('shape');
      // Only `setShape` and `drift` write this column.
      return (row?.shape as Shape | null | undefined) ?? undefined;
    },

    /** Sets the names by which the objects are used. Watches that nothing wants any more end. */
    setNames: async (key: CheckKey, names: ReadonlyMap<string, readonly string[]>): Promise<void> => {
      await knex.transaction(async (via) => {
        await via('schema_watch')
          .where({ ...ofInstance(key), requested: false })
          .whereRaw('object_name <> all(?::text[])', [arrayLiteral([...names.keys()])])
          .delete();
        for (const [objectName, given] of names) {
          await via('schema_watch')
            .insert({ ...ofWatch({ ...key, objectName }), names: [...given] })
            .onConflict(['account_id', 'instance_id', 'object_name'])
            .merge(['names']);
        }
      });
    },

    /** Stores the first shape of an object, or one of a new format. */
    setShape: async (key: WatchKey, { hash, shape, now }: Pick<Drift, 'hash' | 'shape' | 'now'>): Promise<void> => {
      await knex('schema_watch')
        .where(ofWatch(key))
        .update({ hash, shape: json(knex, shape), pending_hash: null, checked_at: now, last_error: null });
    },

    /** Notes that an object has its known shape. */
    noteSame: async (keys: readonly WatchKey[], now: Date): Promise<void> => {
      const [first] = keys;
      if (first === undefined) return;
      await knex('schema_watch')
        .where(ofInstance(first))
        .whereIn(
          'object_name',
          keys.map(({ objectName }) => objectName),
        )
        .update({ pending_hash: null, checked_at: now, last_error: null });
    },

    /** Notes a shape that a second reading must confirm. */
    notePending: async (key: WatchKey, hash: Buffer): Promise<void> => {
      await knex('schema_watch').where(ofWatch(key)).update({ pending_hash: hash, last_error: null });
    },

    noteError: async (key: WatchKey, error: string): Promise<void> => {
      await knex('schema_watch').where(ofWatch(key)).update({ last_error: error });
    },

    /**
     * Replaces the known shape of an object, as a part of a transaction.
     * @returns false if another process replaced it, or if the instance has other settings by now
     */
    drift: async (via: Knex, { key, settingsVersion, hashBefore, hash, shape, now }: Drift): Promise<boolean> => {
      const { accountId, instanceId, objectName } = key;
      const { rowCount } = await via.raw<{ rowCount: number }>(DRIFT, {
        ...{ accountId, instanceId, objectName, settingsVersion, hashBefore, hash, now },
        shape: JSON.stringify(shape),
      });
      return rowCount === 1;
    },

    insertChange: async (
      via: Knex,
      { accountId, instanceId, objectName }: WatchKey,
      { change, breaks, now }: { readonly change: SchemaChange; readonly breaks: Breaks; readonly now: Date },
    ): Promise<void> => {
      await via('schema_change').insert({
        ...ofWatch({ accountId, instanceId, objectName }),
        change: json(via, change),
        breaks: json(via, breaks),
        created_at: now,
      });
    },

    listChanges: async (key: CheckKey, selection: Selection, via = knex): Promise<readonly ChangeRow[]> => {
      const rows: RowWith<'schema_change', typeof CHANGE>[] = await selectPage(
        via('schema_change').where(ofInstance(key)).select(CHANGE),
        selection,
      );
      // Only `insertChange` writes these columns.
      return rows.map((row) => ({ ...row, change: row.change as SchemaChange, breaks: row.breaks as Breaks }));
    },

    /** @returns the number of deleted changes */
    purgeChanges: (before: Date): Promise<number> => knex('schema_change').where('created_at', '<', before).delete(),

    /** Returns instances whose watched objects were chosen for other settings, in order, from behind the given one. */
    findOutdated: async (after: RowOf<'instance', 'account_id' | 'id'>, limit: number) =>
      knex('instance')
        .select({ accountId: 'account_id', id: 'id' })
        .whereRaw('watches_version is distinct from settings_version')
        .whereRaw('(account_id, id) > (?, ?)', [after.accountId, after.id])
        .orderBy(['account_id', 'id'])
        .limit(limit),

    /** Returns instances whose used objects may be others since mappings or formulas changed. */
    findMarked: async (limit: number) =>
      knex('schema_check')
        .select({ accountId: 'account_id', id: 'instance_id' })
        .where('is_outdated', true)
        .orderBy(['account_id', 'instance_id'])
        .limit(limit),

    /**
     * Marks the instances of a scope, because mappings or formulas changed.
     * @returns the number of instances that were not marked before
     */
    mark: async ({ organizationId, accountId, instanceId, usedByFormulas = false }: CheckScope): Promise<number> =>
      knex('schema_check')
        .where('is_outdated', false)
        .where((checks) => {
          if (organizationId !== undefined)
            void checks.whereRaw('account_id in (select id from account where organization_id = ?)', [organizationId]);
          if (accountId !== undefined) void checks.where({ account_id: accountId });
          if (instanceId !== undefined) void checks.where({ instance_id: instanceId });
          if (usedByFormulas)
            void checks.whereRaw(
              'instance_id in (select unnest(element_instance_ids) from formula_instance f where f.account_id = schema_check.account_id)',
            );
        })
        .update({ is_outdated: true }),

    /**
     * Sets the names of the objects that an instance uses. The check is due at `soon` if there is a new name, and at `later` if there was
     * no check.
     * @returns whether the check is due at `soon`
     */
    sync: async (sync: SyncedInstance): Promise<boolean> => {
      const rows = (await isDistributed(knex))
        ? await knex.transaction((trx) => syncOfAccount(trx, sync))
        : (
            await knex.raw<{ rows: SyncedCheck[] }>(SYNC, {
              ...sync,
              wanted: arrayLiteral([...sync.wanted]),
            })
          ).rows;
      if (rows.length > 0) {
        await knex('schema_watch')
          .where({ ...ofInstance(sync), requested: false })
          .whereRaw('not names && ?::text[]', [arrayLiteral([...sync.wanted])])
          .delete();
      }
      return rows[0]?.isSoon === true;
    },

    /**
     * Watches an object because a caller asks for it, and makes the check due.
     * @returns whether it was not requested before
     */
    request: async (via: Knex, key: WatchKey, now: Date): Promise<boolean> => {
      const { accountId, instanceId, objectName } = key;
      const known = await via('schema_watch').where(ofWatch(key)).first('requested');
      await via.raw(REQUEST, { accountId, instanceId, objectName });
      await via.raw(DUE_NOW, { accountId, instanceId, now });
      return known?.requested !== true;
    },

    /**
     * Ends the request of a watch. A watch that something uses stays.
     * @returns false if no caller requested it
     */
    unrequest: async (via: Knex, key: WatchKey): Promise<boolean> => {
      const count = await via('schema_watch')
        .where({ ...ofWatch(key), requested: true })
        .update({ requested: false });
      if (count === 0) return false;
      await via('schema_watch')
        .where({ ...ofWatch(key), requested: false, names: [] })
        .delete();
      return true;
    },

    /**
     * Makes the check of an instance due because its provider complained of a field, unless that happened after `since`.
     * @returns whether it is due now
     */
    noteComplaint: async ({ accountId, instanceId }: CheckKey, { now, since }: { now: Date; since: Date }) => {
      const { rowCount } = await knex.raw<{ rowCount: number }>(COMPLAIN, { accountId, instanceId, now, since });
      return rowCount === 1;
    },
  };
}

const IS_USABLE = 'i.valid and not i.disabled and a.active and a.deleted_at is null';

const RANKED = `ranked as (select k.*, row_number() over (partition by account_id, is_usable order by due) as rank from known k),
  chosen as (select * from ranked where rank <= ? or not is_usable order by is_usable desc, rank, due limit ?)`;

const RETURNED = `s.account_id as "accountId", s.instance_id as "instanceId", s.is_partial as "isPartial", s.waits, s.failures,
    s.last_success_at as "lastSuccessAt", s.lease, c.due, c.is_usable as "isUsable"`;

const CLAIM = `
  with due as materialized (
    select account_id, instance_id, due from schema_check
    where due <= ? and (lease_until is null or lease_until <= ?) and ${inBuckets('instance_id')}
      and account_id <> all(?::bigint[])
    order by due limit ?
    for update skip locked
  ),
  known as (
    select d.*, k.is_usable
    from due d, lateral (
      select ${IS_USABLE} as is_usable from instance i, account a
      where a.id = d.account_id and i.account_id = d.account_id and i.id = d.instance_id limit 1
    ) k
  ),
  ${RANKED}
  update schema_check s set
    lease = case when c.is_usable then gen_random_uuid() end,
    lease_until = case when c.is_usable then ?::timestamptz end,
    due = case when c.is_usable then s.due else ?::timestamptz end
  from chosen c
  where s.account_id = c.account_id and s.instance_id = c.instance_id
  returning ${RETURNED}`;

const FIND_DUE = `
  with known as materialized (
    select s.account_id, s.instance_id, s.due, ${IS_USABLE} as is_usable
    from schema_check s, instance i, account a
    where s.due <= ? and (s.lease_until is null or s.lease_until <= ?) and ${inBuckets('s.instance_id')}
      and s.account_id <> all(?::bigint[])
      and a.id = s.account_id and i.account_id = s.account_id and i.id = s.instance_id
    order by s.due limit ?
  ),
  ${RANKED}
  select account_id as "accountId", instance_id as "instanceId", due::text as due, is_usable as "isUsable" from chosen`;

// Another process may have claimed them since they were found.
const CLAIM_OF_ACCOUNT = `
  update schema_check s set
    lease = case when c.is_usable then c.new_lease end,
    lease_until = case when c.is_usable then own.lease_until end,
    due = case when c.is_usable then s.due else own.later end
  from (select ?::timestamptz as lease_until, ?::timestamptz as later) own,
    unnest(?::bigint[], ?::timestamptz[], ?::boolean[], ?::uuid[]) as c(instance_id, due, is_usable, new_lease)
  where s.account_id = ? and s.instance_id = c.instance_id and s.due <= ? and (s.lease_until is null or s.lease_until <= ?)
  returning ${RETURNED}`;

const RENEW = `
  update schema_check s set lease_until = u.lease_until
  from (select ?::timestamptz as lease_until) u,
    unnest(?::bigint[], ?::bigint[], ?::uuid[]) as r(account_id, instance_id, lease)
  where s.account_id = r.account_id and s.instance_id = r.instance_id and s.lease = r.lease`;

// A time that was set during the run, by a request or a complaint, stays.
const FINISH = `
  update schema_check set
    lease = null, lease_until = null,
    due = case when due >= :claimedDue and due < :claimedEnd then :nextDue else least(due, :nextDue) end,
    is_partial = :isPartial,
    waits = case when :hasWaited then waits + 1 when :isGivenBack then waits else 0 end,
    failures = case when :isGivenBack then failures when cast(:error as text) is null then 0 else failures + 1 end,
    last_run_at = case when :isGivenBack then last_run_at else :startedAt end,
    last_success_at = case when :isGivenBack or cast(:error as text) is not null then last_success_at else :startedAt end,
    last_error = case when :isGivenBack then last_error else cast(:error as text) end
  where account_id = :accountId and instance_id = :instanceId and lease = :lease`;

const DRIFT = `
  update schema_watch w set hash = :hash, shape = cast(:shape as json), pending_hash = null, checked_at = :now, changed_at = :now,
    last_error = null
  where w.account_id = :accountId and w.instance_id = :instanceId and w.object_name = :objectName and w.hash = :hashBefore
    and exists (
      select from instance i
      where i.account_id = :accountId and i.id = w.instance_id and i.settings_version = :settingsVersion for share of i)`;

const ON_CHECK = `on conflict (account_id, instance_id) do update set
    wanted = excluded.wanted,
    is_outdated = false,
    due = case when excluded.wanted <@ s.wanted then s.due
      when s.lease is not null then :soon else least(s.due, :soon) end
  where s.wanted is distinct from excluded.wanted or s.is_outdated`;

const SYNC = `
  with given as (
    select account_id from instance
    where account_id = :accountId and id = :instanceId and settings_version = :settingsVersion
    for no key update
  ), marked as (
    update instance set watches_version = settings_version
    where account_id = :accountId and id = :instanceId and settings_version = :settingsVersion
      and watches_version is distinct from settings_version
  ), known as (
    select wanted from schema_check where account_id = :accountId and instance_id = :instanceId
  )
  insert into schema_check as s (account_id, instance_id, wanted, due)
  select g.account_id, :instanceId, cast(:wanted as text[]),
    case when cast(:wanted as text[]) = '{}' then cast(:later as timestamptz) else :soon end
  from given g
  ${ON_CHECK}
  returning not s.wanted <@ coalesce((select k.wanted from known k), '{}') as "isSoon"`;

function ofInstance({ accountId, instanceId }: CheckKey) {
  return { account_id: accountId, instance_id: instanceId };
}

/** The same on a distributed database, where each statement goes to the node of the account. */
async function syncOfAccount(trx: Knex, sync: SyncedInstance): Promise<readonly SyncedCheck[]> {
  const { accountId, instanceId, settingsVersion: settings_version, wanted, soon, later } = sync;
  const instance = () => trx('instance').where({ account_id: accountId, id: instanceId, settings_version });
  if ((await instance().forNoKeyUpdate().first('id')) === undefined) return [];
  await instance()
    .whereRaw('watches_version is distinct from settings_version')
    .update({ watches_version: settings_version });
  const known = await trx('schema_check').where(ofInstance(sync)).first('wanted');
  const { rows } = await trx.raw<{ rows: { readonly wanted: readonly string[] }[] }>(
    `insert into schema_check as s (account_id, instance_id, wanted, due)
     values (:accountId, :instanceId, cast(:wanted as text[]), :due)
     ${ON_CHECK}
     returning s.wanted`,
    {
      ...{ accountId, instanceId, soon },
      wanted: arrayLiteral([...wanted]),
      due: wanted.length === 0 ? later : soon,
    },
  );
  const before = new Set(known?.wanted);
  return rows.map((row) => ({ isSoon: row.wanted.some((name) => !before.has(name)) }));
}

const REQUEST = `
  insert into schema_watch (account_id, instance_id, object_name, requested)
  values (:accountId, :instanceId, :objectName, true)
  on conflict (account_id, instance_id, object_name) do update set requested = true`;

const DUE_NOW = `
  insert into schema_check as s (account_id, instance_id, due) values (:accountId, :instanceId, :now)
  on conflict (account_id, instance_id) do update set
    due = case when s.lease is not null then excluded.due else least(s.due, excluded.due) end`;

const COMPLAIN = `
  update schema_check set due = :now, complained_at = :now, is_partial = false
  where account_id = :accountId and instance_id = :instanceId and (complained_at is null or complained_at < :since)
    and exists (
      select from schema_watch w where w.account_id = :accountId and w.instance_id = :instanceId)`;
