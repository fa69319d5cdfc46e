import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { arrayLiteral, columnLiterals } from '../db/array-literal.ts';
import { isDistributed, isOfAccount, perAccount } from '../db/distributed.ts';
import { firstOf, type RowOf } from '../db/row.ts';
import type { ClaimRequest } from '../events/claimed-work.ts';
import { inBuckets } from '../work-buckets.ts';

/** Key of a poll. */
export type PollKey = RowOf<'poll', 'account_id' | 'instance_id' | 'resource'>;

/** Progress of a poll. */
export type Progress = RowOf<'poll', 'kind' | 'watermark' | 'feed_watermark' | 'feed_token' | 'feed_token_of'>;

/** Progress together with the mapping of the records that were read. */
export type MappedProgress = Progress & RowOf<'poll', 'mapping_version' | 'mapped_object'>;

type PollState =
  | 'mapping_version'
  | 'mapped_object'
  | 'settings_version'
  | 'interval_ms'
  | 'failures'
  | 'failing_since'
  | 'waits'
  | 'last_success_at';

/** A poller whose lease this process holds. */
export interface ClaimedPoll extends PollKey, Progress, RowOf<'poll', PollState> {
  /** Id of the lease. Every statement that stores data of the run checks it. */
  readonly lease: string;
  /** Time at which the run was due. */
  readonly due: Date;
}

export type PollRow = RowOf<'poll'>;

/** The polls of an organization, an account or an instance; of all of them where no member is given. */
export interface PollScope {
  readonly organizationId?: number;
  readonly accountId?: number;
  readonly instanceId?: number;
}

/** A poll that is stopped because nothing maps its object. */
export interface AwaitingPoll extends PollKey {
  readonly mappedObject: string;
}

type OutdatedKey = RowOf<'instance', 'account_id' | 'id'>;

/** A version of a record, as the hash of its id and the hash of the values that distinguish its versions. */
export interface SeenVersion {
  readonly recordKey: Buffer;
  readonly version: Buffer;
}

export interface SeenLookup {
  readonly key: PollKey;
  readonly recordKeys: readonly Buffer[];
}

export interface NewlySeen extends SeenVersion {
  readonly seenAt: Date;
}

/** A seen record, with the number of consecutive complete lists that lacked it. */
type SeenRow = Pick<SeenVersion, 'recordKey'> & RowOf<'poll_seen', 'missed'>;

/** The pollers that an instance wants under a version of its settings. */
interface SyncedInstance {
  readonly accountId: number;
  readonly instanceId: number;
  readonly settingsVersion: number;
  readonly wanted: readonly { readonly resource: string; readonly intervalMs: number }[];
  readonly now: Date;
}

type ClaimedRow = ClaimedPoll & { readonly isWanted: boolean };

interface FoundPoll extends RowOf<'poll', 'account_id' | 'instance_id' | 'resource' | 'settings_version'> {
  /** Text, because a date of JavaScript has milliseconds only. */
  readonly due: string;
  readonly isWanted: boolean;
}

/** Result of claiming pollers. */
interface Claim {
  readonly claimed: readonly ClaimedPoll[];
  /** Number of pollers that were stopped because their instance must not be polled any more. `revive` or `sync` makes them due again. */
  readonly stopped: number;
}

/** The outcome of a run. */
export interface RunResult extends PollKey {
  readonly lease: string;
  readonly startedAt: Date;
  readonly nextDue: Date;
  /** Whether the run was aborted or never began, which says nothing about the provider. The poller is only released. */
  readonly isGivenBack: boolean;
  /** Whether the run waited to leave the provider's rate limit to callers. */
  readonly hasWaited: boolean;
  /** Error of the run; undefined after success. */
  readonly error: string | undefined;
  /** Whether nothing maps the object any more. Then the poller is stopped until something does. */
  readonly awaitsMapping: boolean;
  readonly events: number;
  readonly providerCalls: number;
}

export type PollStore = ReturnType<typeof createPollStore>;

/**
 * Creates the store of pollers. Its statements read instances, too, because a poller runs only under the settings that it was created for.
 */
export function createPollStore(knex: Knex) {
  /** Returns the seen versions of records of several pollers, in the given order. */
  async function findSeen(lookups: readonly SeenLookup[]): Promise<readonly (readonly SeenVersion[])[]> {
    const wanted = lookups.flatMap(({ key, recordKeys }, index) =>
      recordKeys.map((recordKey) => ({ ...key, recordKey, position: index })),
    );
    const ofAccounts = await perAccount(knex, wanted, async (via, ofOne, accountId) => {
      const { rows } = await via.raw<{ rows: (SeenVersion & { readonly position: number })[] }>(seen(accountId), [
        ...columnLiterals(ofOne, ['position', 'accountId', 'instanceId', 'resource']),
        byteArray(ofOne.map(({ recordKey }) => recordKey)),
      ]);
      return rows;
    });
    const found: SeenVersion[][] = lookups.map(() => []);
    for (const { position, recordKey, version } of ofAccounts.flat()) found[position]?.push({ recordKey, version });
    return found;
  }

  /** A distributed database locks rows of one account at a time only, so the due ones are found first, without a lock. */
  async function claimPerAccount(
    chosen: readonly Knex.RawBinding[],
    { now, leaseUntil }: ClaimRequest,
  ): Promise<readonly ClaimedRow[]> {
    const { rows: found } = await knex.raw<{ rows: FoundPoll[] }>(FIND_DUE, [...chosen]);
    const claimed = await perAccount(knex, found, async (via, polls, accountId) => {
      const { rows } = await via.raw<{ rows: ClaimedRow[] }>(CLAIM_OF_ACCOUNT, [
        leaseUntil,
        ...columnLiterals(polls, ['instanceId', 'resource', 'settingsVersion', 'due', 'isWanted']),
        arrayLiteral(polls.map(() => randomUUID())),
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
     * Claims due pollers, the longest due first, at most `share` per account. It stops those whose instance must not be polled any more, as
     * far as there are slots left.
     */
    claim: async (claim: ClaimRequest): Promise<Claim> => {
      const { now, leaseUntil, limit, share, except, buckets } = claim;
      const chosen = [now, now, [...buckets], [...except], limit * 4, share, limit];
      const rows = (await isDistributed(knex))
        ? await claimPerAccount(chosen, claim)
        : (await knex.raw<{ rows: ClaimedRow[] }>(CLAIM, [...chosen, leaseUntil])).rows;
      const claimed = rows.filter(({ isWanted }) => isWanted);
      return { claimed, stopped: rows.length - claimed.length };
    },

    /** Returns the time when the next unclaimed poller in these buckets is due. */
    nextDue: async (now: Date, buckets: readonly number[]): Promise<Date | undefined> => {
      const { rows } = await knex.raw<{ rows: { readonly due: Date | null }[] }>(
        `select min(due) as due from poll
         where due is not null and (lease_until is null or lease_until <= ?) and ${inBuckets('instance_id')}`,
        [now, [...buckets]],
      );
      return firstOf(rows).due ?? undefined;
    },

    /**
     * Stores progress, if the lease is ours and the instance has not changed since the claim.
     * @returns false if another process has it, or it must not be polled any more; the transaction must then be rolled back
     */
    advance: async (
      via: Knex,
      key: PollKey & { readonly lease: string },
      progress: MappedProgress,
    ): Promise<boolean> => {
      const { accountId, instanceId, resource, lease } = key;
      const { rowCount } = await via.raw<{ rowCount: number }>(ADVANCE, [
        progress.kind,
        progress.watermark,
        progress.feedWatermark,
        progress.feedToken,
        progress.feedTokenOf,
        progress.mappingVersion,
        progress.mappedObject,
        accountId,
        instanceId,
        resource,
        lease,
        accountId,
      ]);
      return rowCount === 1;
    },

    /** Extends the leases that this process still holds. */
    renew: async (polls: readonly (PollKey & { readonly lease: string })[], leaseUntil: Date): Promise<void> => {
      await knex.raw(RENEW, [leaseUntil, ...columnLiterals(polls, ['accountId', 'instanceId', 'resource', 'lease'])]);
    },

    /** Returns the seen versions of these records. */
    seen: async (key: PollKey, recordKeys: readonly Buffer[]): Promise<readonly SeenVersion[]> =>
      firstOf(await findSeen([{ key, recordKeys }])),

    findSeen,

    /** Stores seen versions. With `replaces`, other versions of these records are deleted. */
    see: async (via: Knex, key: PollKey, versions: readonly NewlySeen[], replaces: boolean): Promise<void> => {
      if (versions.length === 0) return;
      const { accountId, instanceId, resource } = key;
      const recordKeys = byteArray(versions.map(({ recordKey }) => recordKey));
      if (replaces) await via.raw(FORGET, [accountId, instanceId, resource, recordKeys]);
      await via.raw(SEE, [
        accountId,
        instanceId,
        resource,
        recordKeys,
        byteArray(versions.map(({ version }) => version)),
        arrayLiteral(versions.map(({ seenAt }) => seenAt.toISOString())),
      ]);
    },

    forgetSeen: async (key: PollKey, before: Date): Promise<void> => {
      const { accountId, instanceId, resource } = key;
      await knex('poll_seen')
        .where({ account_id: accountId, instance_id: instanceId, resource })
        .where('seen_at', '<', before)
        .delete();
    },

    /** Returns records that were seen before a time, in their order, from behind a given one. */
    seenRecords: async (
      { accountId, instanceId, resource }: PollKey,
      { after, before, limit }: { readonly after: Buffer; readonly before: Date | undefined; readonly limit: number },
    ): Promise<readonly SeenRow[]> =>
      knex('poll_seen')
        .select({ recordKey: 'record_key', missed: 'missed' })
        .where({ account_id: accountId, instance_id: instanceId, resource })
        .where('record_key', '>', after)
        .where((rows) => (before === undefined ? rows : rows.where('seen_at', '<', before)))
        .orderBy('record_key')
        .limit(limit),

    /** Counts for records whether a complete list contained them. Records that `most` consecutive lists lacked are deleted. */
    noteMissed: async (
      via: Knex,
      { accountId, instanceId, resource }: PollKey,
      input: { readonly shown: readonly Buffer[]; readonly missed: readonly Buffer[]; readonly most: number },
    ): Promise<void> => {
      const { shown, missed, most } = input;
      const key = [accountId, instanceId, resource];
      await via.raw(FORGET_MISSED, [...key, byteArray(missed), most]);
      await via.raw(NOTE_MISSED, [byteArray(missed), ...key, byteArray([...shown, ...missed])]);
    },

    /**
     * Releases pollers, many at a time, except those that another process has claimed meanwhile.
     * @returns number of released pollers
     */
    finish: async (results: readonly RunResult[], via = knex): Promise<number> => {
      const counts = await perAccount(via, results, async (trx, ofOne, accountId) => {
        const { rowCount } = await trx.raw<{ rowCount: number }>(finish(accountId), [
          ...columnLiterals(ofOne, ['accountId', 'instanceId', 'resource', 'lease', 'startedAt', 'nextDue']),
          ...columnLiterals(ofOne, ['isGivenBack', 'hasWaited', 'error', 'awaitsMapping', 'events', 'providerCalls']),
        ]);
        return rowCount;
      });
      return counts.reduce((sum, count) => sum + count, 0);
    },

    /**
     * Sets the pollers of an instance to those that its settings require. One that stays keeps its progress. A run in progress loses its
     * poller if the settings differ. Those of an instance that is disabled or not valid are stopped.
     * @returns false if the settings changed meanwhile
     */
    sync: async (instance: SyncedInstance): Promise<boolean> => {
      const { accountId, instanceId, settingsVersion, wanted, now } = instance;
      if (await isDistributed(knex)) return knex.transaction((trx) => syncOfAccount(trx, instance));
      const { rows } = await knex.raw<{ rows: { readonly count: number }[] }>(SYNC, [
        accountId,
        instanceId,
        settingsVersion,
        now,
        ...columnLiterals(wanted, ['resource', 'intervalMs']),
      ]);
      return firstOf(rows).count === 1;
    },

    /** Returns instances whose pollers differ from their settings, in order, from behind the given one. */
    findOutdated: async (after: OutdatedKey, limit: number): Promise<readonly OutdatedKey[]> =>
      knex('instance')
        .select({ accountId: 'account_id', id: 'id' })
        .whereRaw('polls_version is distinct from settings_version')
        .whereRaw('(account_id, id) > (?, ?)', [after.accountId, after.id])
        .orderBy(['account_id', 'id'])
        .limit(limit),

    /**
     * Restarts pollers whose instance may be polled again, of one account or of all.
     * @returns the number of restarted pollers
     */
    revive: async (now: Date, accountId?: number): Promise<number> => {
      const { rowCount } = await knex.raw<{ rowCount: number }>(
        accountId === undefined ? REVIVE : `${REVIVE} and p.account_id = ?`,
        accountId === undefined ? [now] : [now, accountId],
      );
      return rowCount;
    },

    /** Finds pollers that are stopped because nothing maps their object, in their order from behind a given one. */
    findAwaiting: async (
      { organizationId, accountId, instanceId }: PollScope,
      { after, limit }: { readonly after: PollKey; readonly limit: number },
    ): Promise<readonly AwaitingPoll[]> =>
      knex('poll')
        .select({
          accountId: 'account_id',
          instanceId: 'instance_id',
          resource: 'resource',
          mappedObject: knex.raw('coalesce(mapped_object, resource)'),
        })
        .where('awaits_mapping', true)
        .where((polls) => {
          if (organizationId !== undefined)
            void polls.whereRaw('account_id in (select id from account where organization_id = ?)', [organizationId]);
          if (accountId !== undefined) void polls.where({ account_id: accountId });
          if (instanceId !== undefined) void polls.where({ instance_id: instanceId });
        })
        .whereRaw('(account_id, instance_id, resource) > (?, ?, ?)', [
          after.accountId,
          after.instanceId,
          after.resource,
        ])
        .orderBy(['account_id', 'instance_id', 'resource'])
        .limit(limit),

    /** Makes pollers due again that were stopped because nothing maps their object. @returns how many */
    resume: async (polls: readonly PollKey[], now: Date): Promise<number> => {
      const { rowCount } = await knex.raw<{ rowCount: number }>(RESUME, [
        now,
        ...columnLiterals(polls, ['accountId', 'instanceId', 'resource']),
      ]);
      return rowCount;
    },

    /** Returns whether the instances of the account may be polled. */
    isActive: async (accountId: number, via = knex): Promise<boolean> => {
      const row = await via('account').where({ id: accountId, active: true }).whereNull('deleted_at').first('id');
      return row !== undefined;
    },

    /** Lists the pollers of one instance by name. */
    list: async (accountId: number, instanceId: number, via = knex): Promise<readonly PollRow[]> =>
      via('poll')
        // One whose account rests is stopped when its time comes.
        .select({ ...COLUMNS, due: knex.raw(`case when ${IS_ACTIVE} then due end`) })
        .where({ account_id: accountId, instance_id: instanceId })
        .orderBy('resource'),

    /**
     * Makes a poller due at once, as if it had already waited for the rate limit `waits` times.
     * @returns false if there is no such poller, it is stopped, or its account is inactive
     */
    runNow: async (
      via: Knex,
      { accountId, instanceId, resource }: PollKey,
      { now, waits }: { readonly now: Date; readonly waits: number },
    ): Promise<boolean> => {
      const count = await via('poll')
        .where({ account_id: accountId, instance_id: instanceId, resource })
        .whereNotNull('due')
        .whereRaw(IS_ACTIVE)
        .update({ due: now, waits });
      return count > 0;
    },

    /**
     * Sets the watermark of a poller back, never forward, and makes it due at once. A run in progress loses the poller.
     * @returns false if there is no such poller
     */
    replay: async (
      via: Knex,
      { accountId, instanceId, resource }: PollKey,
      from: Date,
      now: Date,
    ): Promise<boolean> => {
      const { rowCount } = await via.raw<{ rowCount: number }>(REPLAY, [
        from,
        from,
        now,
        accountId,
        instanceId,
        resource,
      ]);
      if (rowCount === 0) return false;
      await via('poll_seen').where({ account_id: accountId, instance_id: instanceId, resource }).delete();
      return true;
    },
  };
}

/** Returns a literal of the type `bytea[]`. */
function byteArray(values: readonly Buffer[]): string {
  return arrayLiteral(values.map((value) => `\\x${value.toString('hex')}`));
}

const COLUMNS = {
  accountId: 'account_id',
  instanceId: 'instance_id',
  resource: 'resource',
  settingsVersion: 'settings_version',
  intervalMs: 'interval_ms',
  due: 'due',
  lease: 'lease',
  leaseUntil: 'lease_until',
  kind: 'kind',
  watermark: 'watermark',
  feedWatermark: 'feed_watermark',
  feedToken: 'feed_token',
  feedTokenOf: 'feed_token_of',
  mappingVersion: 'mapping_version',
  mappedObject: 'mapped_object',
  awaitsMapping: 'awaits_mapping',
  lastRunAt: 'last_run_at',
  lastSuccessAt: 'last_success_at',
  lastError: 'last_error',
  failures: 'failures',
  waits: 'waits',
  runs: 'runs',
  emptyRuns: 'empty_runs',
  providerCalls: 'provider_calls',
  events: 'events',
  failingSince: 'failing_since',
  createdAt: 'created_at',
} as const;

const IS_WANTED =
  'i.valid and not i.disabled and i.settings_version = p.settings_version and a.active and a.deleted_at is null';
/** The account and the instance of a poller. */
const OF_POLL = 'a.id = p.account_id and i.account_id = p.account_id and i.id = p.instance_id';
const IS_ACTIVE = 'exists (select from account where id = poll.account_id and active and deleted_at is null)';

const RETURNED = `p.account_id as "accountId", p.instance_id as "instanceId", p.resource, p.settings_version as "settingsVersion",
    p.interval_ms as "intervalMs", p.failures, p.failing_since as "failingSince", p.waits, p.last_success_at as "lastSuccessAt", p.kind, p.watermark,
    p.feed_watermark as "feedWatermark", p.feed_token as "feedToken", p.feed_token_of as "feedTokenOf", p.mapping_version as "mappingVersion", p.mapped_object as "mappedObject", p.lease, c.due, c.is_wanted as "isWanted"`;

const RANKED = `ranked as (select k.*, row_number() over (partition by account_id, is_wanted order by due) as rank from known k),
  chosen as (select * from ranked where rank <= ? or not is_wanted order by is_wanted desc, rank, due limit ?)`;

// Rows are locked where nothing is counted yet, so that two processes never wait for each other's. With the limit the plan is to look each
// instance up, however few there are.
const CLAIM = `
  with due as materialized (
    select account_id, instance_id, resource, settings_version, due from poll
    where due <= ? and (lease_until is null or lease_until <= ?) and ${inBuckets('instance_id')}
      and account_id <> all(?::bigint[])
    order by due limit ?
    for update skip locked
  ),
  known as (
    select p.*, k.is_wanted
    from due p, lateral (
      select ${IS_WANTED} as is_wanted from instance i, account a where ${OF_POLL} limit 1
    ) k
  ),
  ${RANKED}
  update poll p set
    lease = case when c.is_wanted then gen_random_uuid() end,
    lease_until = case when c.is_wanted then ?::timestamptz end,
    due = case when c.is_wanted then p.due end
  from chosen c
  where p.account_id = c.account_id and p.instance_id = c.instance_id and p.resource = c.resource
  returning ${RETURNED}`;

const FIND_DUE = `
  with known as materialized (
    select p.account_id, p.instance_id, p.resource, p.settings_version, p.due, ${IS_WANTED} as is_wanted
    from poll p, instance i, account a
    where p.due <= ? and (p.lease_until is null or p.lease_until <= ?) and ${inBuckets('p.instance_id')}
      and p.account_id <> all(?::bigint[]) and ${OF_POLL}
    order by p.due limit ?
  ),
  ${RANKED}
  select account_id as "accountId", instance_id as "instanceId", resource, settings_version as "settingsVersion",
    due::text as due, is_wanted as "isWanted"
  from chosen`;

// Another process may have claimed or changed them since they were found.
const CLAIM_OF_ACCOUNT = `
  update poll p set
    lease = case when c.is_wanted then c.new_lease end,
    lease_until = case when c.is_wanted then own.lease_until end,
    due = case when c.is_wanted then p.due end
  from (select ?::timestamptz as lease_until) own,
    unnest(?::bigint[], ?::text[], ?::bigint[], ?::timestamptz[], ?::boolean[], ?::uuid[])
      as c(instance_id, resource, settings_version, due, is_wanted, new_lease)
  where p.account_id = ? and p.instance_id = c.instance_id and p.resource = c.resource
    and p.settings_version = c.settings_version and p.due <= ? and (p.lease_until is null or p.lease_until <= ?)
  returning ${RETURNED}`;

const ADVANCE = `
  update poll p set kind = ?, watermark = ?, feed_watermark = ?, feed_token = ?, feed_token_of = ?, mapping_version = ?, mapped_object = ?
  where p.account_id = ? and p.instance_id = ? and p.resource = ? and p.lease = ?
    and exists (select from instance i, account a where ${OF_POLL} and ${IS_WANTED} and i.account_id = ? for share of i)`;

const seen = (accountId: number | undefined) => `
  select w.position, s.record_key as "recordKey", s.version
  from unnest(?::int[], ?::bigint[], ?::bigint[], ?::text[], ?::bytea[]) as w(position, account_id, instance_id, resource, record_key)
  join poll_seen s using (account_id, instance_id, resource, record_key)
  where true ${isOfAccount('s', accountId)}`;

const RENEW = `
  update poll p set lease_until = u.lease_until
  from (select ?::timestamptz as lease_until) u,
    unnest(?::bigint[], ?::bigint[], ?::text[], ?::uuid[]) as r(account_id, instance_id, resource, lease)
  where p.account_id = r.account_id and p.instance_id = r.instance_id and p.resource = r.resource and p.lease = r.lease`;

const FORGET = `
  delete from poll_seen where account_id = ? and instance_id = ? and resource = ? and record_key = any(?::bytea[])`;

const FORGET_MISSED = `
  delete from poll_seen where account_id = ? and instance_id = ? and resource = ? and record_key = any(?::bytea[]) and missed >= ? - 1`;

const NOTE_MISSED = `
  update poll_seen set missed = case when record_key = any(?::bytea[]) then missed + 1 else 0 end
  where account_id = ? and instance_id = ? and resource = ? and record_key = any(?::bytea[])`;

const SEE = `
  insert into poll_seen (account_id, instance_id, resource, record_key, version, seen_at)
  select p.account_id, p.instance_id, p.resource, s.record_key, s.version, s.seen_at
  from (select ?::bigint as account_id, ?::bigint as instance_id, ?::text as resource) p,
    unnest(?::bytea[], ?::bytea[], ?::timestamptz[]) as s(record_key, version, seen_at)
  on conflict do nothing`;

/** Number of consecutive failures after which a notification reports that a poller fails. */
export const FAILURES_NOTIFIED = 3;

const finish = (accountId: number | undefined) => `
  update poll p set
    lease = null, lease_until = null,
    awaits_mapping = r.awaits_mapping,
    due = case when p.due is null or r.awaits_mapping then null when p.due > r.started_at then p.due else r.next_due end,
    last_run_at = case when r.given_back then p.last_run_at else r.started_at end,
    last_success_at = case when r.given_back or r.error is not null then p.last_success_at else r.started_at end,
    last_error = case when r.given_back then p.last_error else r.error end,
    failures = case when r.given_back then p.failures when r.error is null then 0 else p.failures + 1 end,
    failing_since = case when r.given_back then p.failing_since when r.error is null then null
      when p.failures + 1 >= ${FAILURES_NOTIFIED} or r.awaits_mapping then coalesce(p.failing_since, r.started_at) else p.failing_since end,
    waits = case when r.has_waited then p.waits + 1 when r.given_back or r.error is not null then p.waits else 0 end,
    runs = p.runs + case when r.given_back then 0 else 1 end,
    empty_runs = p.empty_runs + case when not r.given_back and r.error is null and r.events = 0 then 1 else 0 end,
    provider_calls = p.provider_calls + r.provider_calls,
    events = p.events + r.events
  from unnest(?::bigint[], ?::bigint[], ?::text[], ?::uuid[], ?::timestamptz[], ?::timestamptz[], ?::boolean[], ?::boolean[], ?::text[],
    ?::boolean[], ?::bigint[], ?::bigint[])
    as r(account_id, instance_id, resource, lease, started_at, next_due, given_back, has_waited, error, awaits_mapping, events, provider_calls)
  where p.account_id = r.account_id and p.instance_id = r.instance_id and p.resource = r.resource and p.lease = r.lease
    ${isOfAccount('p', accountId)}`;

/** If the settings are the same, the poll keeps its lease: a run that a process has started continues, and stores its outcome. */
const IS_KEPT = 'p.settings_version = excluded.settings_version';

const ON_KEPT = `on conflict (account_id, instance_id, resource) do update set
      settings_version = excluded.settings_version,
      interval_ms = excluded.interval_ms,
      due = case when excluded.due is null or (p.awaits_mapping and ${IS_KEPT}) then null when p.interval_ms = excluded.interval_ms then coalesce(p.due, excluded.due) else excluded.due end,
      awaits_mapping = p.awaits_mapping and ${IS_KEPT},
      lease = case when ${IS_KEPT} then p.lease end,
      lease_until = case when ${IS_KEPT} then p.lease_until end`;

// A change of the settings waits for the row of the instance, so no older pollers can be inserted that are not seen here. Whether they run
// follows from that row, once it is locked: who read it before may come after one who read it later.
const SYNC = `
  with given as (
    select ?::bigint as account_id, ?::bigint as id, ?::bigint as settings_version, ?::timestamptz as due,
      ?::text[] as resources, ?::bigint[] as intervals
  ),
  marked as (
    update instance i set polls_version = g.settings_version from given g
    where i.account_id = g.account_id and i.id = g.id and i.settings_version = g.settings_version
    returning g.*, i.valid and not i.disabled as is_running
  ),
  gone as (
    delete from poll p using marked m
    where p.account_id = m.account_id and p.instance_id = m.id and p.resource <> all(m.resources)
  ),
  kept as (
    insert into poll as p (account_id, instance_id, resource, settings_version, interval_ms, due)
    select m.account_id, m.id, w.resource, m.settings_version, w.interval_ms, case when m.is_running then m.due end
    from marked m, unnest(m.resources, m.intervals) as w(resource, interval_ms)
    ${ON_KEPT}
  )
  select count(*)::int as count from marked`;

/** The same on a distributed database, where each statement goes to the node of the account. */
async function syncOfAccount(trx: Knex, instance: SyncedInstance): Promise<boolean> {
  const { accountId, instanceId, settingsVersion, wanted, now } = instance;
  const resources = wanted.map(({ resource }) => resource);
  const [marked] = await trx('instance')
    .where({ account_id: accountId, id: instanceId, settings_version: settingsVersion })
    .update({ polls_version: settingsVersion })
    .returning(['valid', 'disabled']);
  if (marked === undefined) return false;
  await trx('poll')
    .where({ account_id: accountId, instance_id: instanceId })
    .whereRaw('resource <> all(?::text[])', [arrayLiteral(resources)])
    .delete();
  await trx.raw(
    `insert into poll as p (account_id, instance_id, resource, settings_version, interval_ms, due)
     select ?::bigint, ?::bigint, w.resource, ?::bigint, w.interval_ms, ?::timestamptz
     from unnest(?::text[], ?::bigint[]) as w(resource, interval_ms)
     ${ON_KEPT}`,
    [
      ...[accountId, instanceId, settingsVersion, marked.valid && !marked.disabled ? now : null],
      ...[arrayLiteral(resources), arrayLiteral(wanted.map(({ intervalMs }) => intervalMs))],
    ],
  );
  return true;
}

const REVIVE = `
  update poll p set due = ?
  from instance i, account a
  where p.due is null and not p.awaits_mapping and ${OF_POLL} and ${IS_WANTED}`;

const RESUME = `
  update poll p set due = ?, awaits_mapping = false
  from unnest(?::bigint[], ?::bigint[], ?::text[]) as r(account_id, instance_id, resource)
  where p.account_id = r.account_id and p.instance_id = r.instance_id and p.resource = r.resource and p.awaits_mapping`;

const REPLAY = `
  update poll set kind = coalesce(kind, 'window'), watermark = least(watermark, ?::timestamptz),
    feed_watermark = case when feed_watermark is null then null else least(feed_watermark, ?::timestamptz) end,
    due = case when due is null then null else ?::timestamptz end, lease = null, lease_until = null
  where account_id = ? and instance_id = ? and resource = ?`;
