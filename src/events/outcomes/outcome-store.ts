import type { Knex } from 'knex';
import type { Tables } from '../../../generated/tables.ts';
import { arrayLiteral, binaryTexts, columnLiterals } from '../../db/array-literal.ts';
import { isDistributed, isOfAccount } from '../../db/distributed.ts';
import { firstOf, type RowOf } from '../../db/row.ts';
import { inTransaction } from '../../db/transaction.ts';

/** Key and owner of a lease. A process that lost the lease matches no row. */
export interface Fence extends RowOf<'delivery', 'account_id' | 'id' | 'subscription_id'> {
  readonly owner: string;
  /** Number of attempts before this one. */
  readonly attempts: number;
}

/** Outcome of one attempt. */
export interface AttemptOutcome {
  readonly attemptedAt: Date;
  readonly durationMs: number;
  readonly statusCode: number | undefined;
  readonly error: string | undefined;
  readonly answer: string | undefined;
  /** Headers as sent, with secrets redacted; absent if no request was sent. */
  readonly requestHeaders?: Readonly<Record<string, string>> | undefined;
}

/** New values of a delivery that is not deleted. */
export interface NextRow {
  readonly state: 'waiting' | 'queued';
  readonly dueAt: Date | undefined;
  readonly retries: number;
  readonly firstFailedAt: Date | undefined;
}

export type OutcomeRow =
  | { readonly kind: 'delivered'; readonly lease: Fence; readonly attempt: AttemptOutcome }
  | { readonly kind: 'failed'; readonly lease: Fence; readonly attempt: AttemptOutcome; readonly next: NextRow }
  /** Released without an attempt. */
  | { readonly kind: 'released'; readonly lease: Fence; readonly dueAt: Date };

export interface WrittenOutcomes {
  readonly delivered: number;
  readonly waiting: number;
  readonly queued: number;
}

export type OutcomeStore = ReturnType<typeof createOutcomeStore>;

/**
 * Creates the store of outcomes.
 * @param batchRows maximum number of rows that one statement locks
 */
export function createOutcomeStore(knex: Knex, batchRows = 5000) {
  return {
    /**
     * Returns whether outcomes of different accounts are written apart: on a distributed database, so that an account does not wait for the node
     * of another one, and a transaction is on one node.
     */
    isPerAccount: (): Promise<boolean> => isDistributed(knex),

    /**
     * Writes outcomes with one statement, or those of one account with one transaction on a distributed database. Rows whose fence no longer
     * matches stay as they are.
     */
    write: (outcomes: readonly OutcomeRow[]): Promise<WrittenOutcomes> => writePart(knex, outcomes),

    /**
     * Ends the schedule of a delivery, which becomes queued. `within` runs in the same transaction, once the lease is known to be valid.
     * @returns false if the lease was lost; then nothing changes
     */
    exhaust: (
      row: { readonly lease: Fence; readonly attempt: AttemptOutcome; readonly next: NextRow },
      within: (trx: Knex.Transaction) => Promise<void>,
    ): Promise<boolean> =>
      knex.transaction(async (trx) => {
        const { accountId, subscriptionId } = row.lease;
        // Before the shared lock of the statement below. Two transactions that both upgrade that lock would block each other.
        await trx('subscription').select('id').where({ account_id: accountId, id: subscriptionId }).forNoKeyUpdate();
        const failed = [{ ...row, kind: 'failed' }] as const;
        const { queued } = await writePart(trx, failed);
        if (queued === 0) return false;
        await within(trx);
        return true;
      }),

    /** Queues, in batches, all waiting deliveries of a subscription that is not active. */
    queueWaiting: async ({ accountId, subscriptionId }: Pick<Fence, 'accountId' | 'subscriptionId'>): Promise<void> => {
      while ((await queueWaiting(knex, { accountId, subscriptionId }, batchRows)) > 0);
    },
  };
}

async function writePart(via: Knex, outcomes: readonly OutcomeRow[]): Promise<WrittenOutcomes> {
  if (!(await isDistributed(via))) return writeAll(via, outcomes);
  return writeOfAccount(via, outcomes, firstOf(outcomes).lease.accountId);
}

async function writeAll(via: Knex, outcomes: readonly OutcomeRow[]): Promise<WrittenOutcomes> {
  const allDelivered = outcomes.every(({ kind }) => kind === 'delivered');
  const { rows } = await via.raw<{ rows: WrittenOutcomes[] }>(
    allDelivered ? WRITE_DELIVERED : WRITE,
    columnsOf(outcomes),
  );
  return firstOf(rows);
}

type EndedRow = Pick<Tables['delivery'], 'state'> & { readonly kind: OutcomeRow['kind'] };

/**
 * Writes outcomes of one account on a distributed database, in one transaction. Each statement goes to the node of the account. A statement
 * that also inserts would read the changed rows back through the coordinator.
 */
function writeOfAccount(knex: Knex, outcomes: readonly OutcomeRow[], accountId: number): Promise<WrittenOutcomes> {
  const delivered = outcomes.filter((outcome) => outcome.kind === 'delivered');
  const writeRows = (via: Knex): Promise<WrittenOutcomes> =>
    delivered.length === outcomes.length
      ? removeDelivered(via, delivered, accountId)
      : change(via, outcomes, accountId);
  return inTransaction(knex, writeRows);
}

/** The form of nearly every batch. Coordinator and node plan it in about half of the time that the whole statement takes. */
async function removeDelivered(
  via: Knex,
  outcomes: readonly Extract<OutcomeRow, { readonly kind: 'delivered' }>[],
  accountId: number,
): Promise<WrittenOutcomes> {
  const leases = outcomes.map(({ lease }) => lease);
  const { rows } = await via.raw<{ rows: (object & { readonly place: number })[] }>(
    remove(accountId),
    columnLiterals(leases, ['id', 'owner', 'attempts']),
  );
  const attempts = rows.flatMap(({ place, ...delivery }) => {
    const attempt = outcomes[place - 1]?.attempt;
    if (attempt === undefined) return [];
    return {
      ...delivery,
      attempted_at: attempt.attemptedAt,
      delivered: true,
      duration_ms: Math.round(attempt.durationMs),
      status_code: attempt.statusCode ?? null,
      error: attempt.error ?? null,
      answer: attempt.answer ?? null,
      request_headers: attempt.requestHeaders === undefined ? null : JSON.stringify(attempt.requestHeaders),
    };
  });
  if (attempts.length > 0) await via('delivery_attempt').insert(attempts);
  return { delivered: attempts.length, waiting: 0, queued: 0 };
}

async function change(via: Knex, outcomes: readonly OutcomeRow[], accountId: number): Promise<WrittenOutcomes> {
  const { rows } = await via.raw<{ rows: EndedRow[] }>(changeRows(accountId), columnsOf(outcomes));
  const attempts = rows.filter(({ kind }) => kind !== 'released').map(({ kind, state, ...attempt }) => attempt);
  if (attempts.length > 0) await via('delivery_attempt').insert(attempts);
  const kept = rows.filter(({ kind }) => kind !== 'delivered');
  return {
    delivered: rows.length - kept.length,
    waiting: kept.filter(({ state }) => state === 'waiting').length,
    queued: kept.filter(({ state }) => state === 'queued').length,
  };
}

/**
 * Queues up to `limit` of the deliveries that wait for their next attempt at a subscription that is not active. The engine queues those in
 * flight with their outcome. Call it until it returns 0. After a crash, the engine queues the rest when they are due.
 *
 * The subscription is locked in its state until the commit, so that a reactivation finds the deliveries that are queued here.
 * @returns number of queued deliveries
 */
export async function queueWaiting(
  knex: Knex,
  { accountId, subscriptionId }: Pick<Fence, 'accountId' | 'subscriptionId'>,
  limit: number,
): Promise<number> {
  const { rowCount } = await knex.raw<{ rowCount: number }>(
    `with asleep as materialized (
       select account_id, id from subscription
       where account_id = :accountId and id = :subscriptionId and state <> 'active' for share
     ),
     chosen as materialized (
       select d.account_id, d.id from asleep a
       join delivery d on d.account_id = a.account_id and d.subscription_id = a.id
       where d.account_id = :accountId and d.subscription_id = :subscriptionId and d.state = 'waiting'
       limit :limit for update of d
     )
     update delivery d set state = 'queued', due = null, updated_at = now()
     from chosen c where d.account_id = :accountId and d.id = c.id`,
    { accountId, subscriptionId, limit },
  );
  return rowCount;
}

function columnsOf(outcomes: readonly OutcomeRow[]): (string | Buffer)[] {
  const attempts = outcomes.map((outcome) => (outcome.kind === 'released' ? undefined : outcome.attempt));
  const nexts = outcomes.map(nextOf);
  const leases = outcomes.map(({ lease }) => lease);
  return [
    arrayLiteral(outcomes.map(({ kind }) => kind)),
    ...columnLiterals(leases, ['accountId', 'id', 'subscriptionId', 'owner', 'attempts']),
    arrayLiteral(attempts.map((attempt) => attempt?.attemptedAt.toISOString())),
    arrayLiteral(attempts.map((attempt) => attempt && Math.round(attempt.durationMs))),
    arrayLiteral(attempts.map((attempt) => attempt?.statusCode)),
    arrayLiteral(attempts.map((attempt) => attempt?.error)),
    binaryTexts(attempts.map((attempt) => (attempt?.answer === undefined ? undefined : Buffer.from(attempt.answer)))),
    arrayLiteral(attempts.map((attempt) => attempt?.requestHeaders && JSON.stringify(attempt.requestHeaders))),
    ...columnLiterals(nexts, ['state', 'dueAt', 'retries', 'firstFailedAt']),
  ];
}

function nextOf(outcome: OutcomeRow): Partial<NextRow> {
  if (outcome.kind === 'failed') return outcome.next;
  return outcome.kind === 'released' ? { state: 'waiting', dueAt: outcome.dueAt } : {};
}

/**
 * Only a delivery with an owner is `delivering`. The condition fits no index on purpose: PostgreSQL would use the one over owners, which
 * reads all deliveries that this process has in flight for every row.
 */
const isHeldBy = (lease: string) => `d.owner is not distinct from ${lease}.owner and d.attempts = ${lease}.attempts`;

const INPUT = `input as materialized (
    select * from unnest(
      ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::uuid[], ?::int[], ?::timestamptz[], ?::int[], ?::int[],
      ?::text[], ?::text[], ?::json[], ?::text[], ?::timestamptz[], ?::int[], ?::timestamptz[]
    ) as i(
      kind, account_id, id, subscription_id, owner, attempts, attempted_at, duration_ms, status_code,
      error, answer, request_headers, next_state, next_due, next_retries, next_first_failed_at
    )
  )`;

const gone = (accountId?: number) => `gone as (
    delete from delivery d using input i
    where i.kind = 'delivered' and d.account_id = i.account_id and d.id = i.id
      and ${isHeldBy('i')} ${isOfAccount('d', accountId)}
    returning d.*
  )`;

const historyOf = (ended: string) => `history as (
    insert into delivery_attempt
      (account_id, delivery_id, attempt, attempted_at, delivered, duration_ms, status_code, error, answer,
       request_headers, subscription_id, event_id, event_at, instance_id, type, unfiltered, delivery_created_at)
    select d.account_id, d.id, i.attempts + 1, i.attempted_at, i.kind = 'delivered', i.duration_ms, i.status_code,
      i.error, i.answer, i.request_headers, d.subscription_id, d.event_id, d.event_at, d.instance_id, d.type,
      d.unfiltered, d.created_at
    from input i
    join ${ended} d on d.account_id = i.account_id and d.id = i.id
    where i.kind <> 'released'
  )`;

/**
 * The form of nearly every batch, which is quicker to plan than the whole statement. Neither of the two is named: a plan that was made for
 * few deliveries would read them all, and there may be many before PostgreSQL analyzes them.
 */
const WRITE_DELIVERED = `
  with ${INPUT},
  ${gone()},
  ${historyOf('gone')}
  select (select count(*)::int from gone) as delivered, 0 as waiting, 0 as queued`;

/**
 * A failure reads its subscription under a shared lock, so that a deactivation either sees the waiting row, or is seen here. `kept` has the
 * rows after the change.
 */
const kept = (accountId?: number) => `locked as materialized (
    select s.account_id, s.id, s.state from subscription s
    where (s.account_id, s.id) in (select account_id, subscription_id from input where kind <> 'delivered')
      ${isOfAccount('s', accountId)}
    order by s.account_id, s.id
    for share
  ),
  judged as materialized (
    select i.*, case when s.state = 'active' then i.next_state else 'queued' end as state
    from input i left join locked s on s.account_id = i.account_id and s.id = i.subscription_id
    where i.kind <> 'delivered'
  ),
  kept as (
    update delivery d
    set state = j.state,
      owner = null,
      due = case when j.state = 'waiting' then j.next_due end,
      attempts = d.attempts + case when j.kind = 'failed' then 1 else 0 end,
      retries = coalesce(j.next_retries, d.retries),
      first_failed_at = coalesce(j.next_first_failed_at, d.first_failed_at),
      last_error = coalesce(j.error, d.last_error),
      updated_at = now()
    from judged j
    where d.account_id = j.account_id and d.id = j.id
      and ${isHeldBy('j')} ${isOfAccount('d', accountId)}
    returning d.*
  )`;

const WRITE = `
  with ${INPUT},
  ${gone()},
  ${kept()},
  ${historyOf('(select * from gone union all select * from kept)')}
  select (select count(*)::int from gone) as delivered,
    (select count(*)::int from kept where state = 'waiting') as waiting,
    (select count(*)::int from kept where state = 'queued') as queued`;

/** Times are texts, because a date of JavaScript has milliseconds only. */
const changeRows = (accountId: number) => `
  with ${INPUT},
  ${gone(accountId)},
  ${kept(accountId)}
  select i.kind, d.state, d.account_id, d.id as delivery_id, i.attempts + 1 as attempt,
    i.attempted_at::text as attempted_at, i.kind = 'delivered' as delivered, i.duration_ms, i.status_code, i.error,
    i.answer, i.request_headers::text as request_headers, d.subscription_id, d.event_id, d.event_at::text as event_at,
    d.instance_id, d.type, d.unfiltered, d.created_at::text as delivery_created_at
  from input i
  join (select * from gone union all select * from kept) d on d.account_id = i.account_id and d.id = i.id`;

const remove = (accountId: number) => `
  with gone as (
    delete from delivery d
    using unnest(?::bigint[], ?::uuid[], ?::int[]) with ordinality as i(id, owner, attempts, place)
    where d.id = i.id and ${isHeldBy('i')} ${isOfAccount('d', accountId)}
    returning d.*, i.place
  )
  select d.place, d.account_id, d.id as delivery_id, d.attempts + 1 as attempt, d.subscription_id, d.event_id,
    d.event_at::text as event_at, d.instance_id, d.type, d.unfiltered, d.created_at::text as delivery_created_at
  from gone d`;
