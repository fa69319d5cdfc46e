import type { Knex } from 'knex';
import { arrayLiteral } from '../../db/array-literal.ts';
import { isDistributed, isOfAccount } from '../../db/distributed.ts';
import { runNamed } from '../../db/named-statement.ts';
import { inTransaction, takeTurns } from '../../db/transaction.ts';
import type { ClaimRequest } from '../../events/claimed-work.ts';
import { inBuckets } from '../../work-buckets.ts';
import { claimPerAccount, commitPerAccount, heldAndEnded, startPerAccount } from './account-runs.ts';
import type {
  ClaimedRun,
  EndStatus,
  ExecutionInput,
  ExecutionKey,
  Mail,
  NewExecution,
  RunPosition,
  StepRow,
  StepValue,
} from './model.ts';

/** Steps of one run that are stored together with its new position. */
export interface RunCommit extends ExecutionKey {
  readonly lease: string;
  readonly executionAt: Date;
  readonly rows: readonly StepRow[];
  /** Mail that the steps send. */
  readonly mails?: readonly (Mail & { readonly due: Date })[];
  readonly next: RunCommitNext;
}

/** The continuation after a commit. */
export type RunCommitNext =
  /** The run continues in this process. */
  | { readonly kind: 'go'; readonly position: RunPosition }
  /** The run waits until a time, and any process may continue it. */
  | { readonly kind: 'later'; readonly position: RunPosition; readonly due: Date }
  /** The execution has ended. */
  | {
      readonly kind: 'end';
      readonly status: EndStatus;
      readonly at: Date;
      /** Whether the values of successful steps are removed. */
      readonly forgetsValues: boolean;
      /** Time of the planned retry. */
      readonly retryAt?: Date | undefined;
      /** The values that the last step left, where a request waits for them. */
      readonly response?: unknown;
      /** The step that made the execution fail. */
      readonly fault?: { readonly name: string; readonly message: string } | undefined;
    };

export type RunStore = ReturnType<typeof createRunStore>;

/** The statements of running executions. Each is guarded by the lease, so that a late process changes nothing. */
export function createRunStore(knex: Knex) {
  return {
    transaction: <Result>(work: (via: Knex) => Promise<Result>): Promise<Result> => knex.transaction(work),

    /** Stores new executions, which are due at once, and returns their ids in the given order. */
    start: async (executions: readonly NewExecution[], via: Knex = knex): Promise<readonly number[]> => {
      const turns = turnsOf(executions);
      if (turns.length === 0) return insertNew(via, executions);
      return inTransaction(via, async (trx) => {
        await takeTurns(trx, 'new executions of a formula instance', turns);
        return insertNew(trx, executions);
      });
    },

    /** Claims runs that are due, the longest due first, at most `share` per account. */
    claim: async ({ now, leaseUntil, limit, share, except, buckets }: ClaimRequest): Promise<readonly ClaimedRun[]> => {
      if (await isDistributed(knex)) {
        const claim = { now, leaseUntil, limit, share, except, buckets, candidates: limit * CANDIDATES };
        return claimPerAccount(knex, claim, returned);
      }
      const { rows } = await runNamed<ClaimedRun>(knex, CLAIM, [
        now,
        now,
        arrayLiteral(buckets),
        arrayLiteral(except),
        limit * CANDIDATES,
        now,
        now,
        arrayLiteral(buckets),
        arrayLiteral(except),
        now,
        now,
        share,
        limit,
        leaseUntil,
      ]);
      return rows;
    },

    /** Returns the time when the next run in these buckets is due that nobody has; undefined if there is none. */
    nextDue: async (now: Date, buckets: readonly number[]): Promise<Date | undefined> => {
      const { rows } = await knex.raw<{ rows: { readonly due: Date | null }[] }>(
        `select min(greatest(due, coalesce(lease_until, due))) as due from formula_run
         where (due > ? or lease_until > ?) and ${inBuckets(BUCKETED_BY)}`,
        [now, now, [...buckets]],
      );
      return rows[0]?.due ?? undefined;
    },

    /** Extends leases of this process. @returns the leases that it still holds, and those of cancelled executions */
    renew: async (runs: readonly ClaimedRun[], leaseUntil: Date) => {
      const { rows } = await knex.raw<{ rows: { lease: string; isCancelled: boolean }[] }>(RENEW, [
        leaseUntil,
        arrayLiteral(runs.map(({ accountId }) => accountId)),
        arrayLiteral(runs.map(({ id }) => id)),
        arrayLiteral(runs.map(({ lease }) => lease)),
      ]);
      return {
        held: new Set(rows.map(({ lease }) => lease)),
        cancelled: new Set(rows.filter(({ isCancelled }) => isCancelled).map(({ lease }) => lease)),
      };
    },

    /** Releases runs, so that another process continues them at once. */
    release: async (runs: readonly ClaimedRun[]): Promise<void> => {
      await knex.raw(RELEASE, [
        arrayLiteral(runs.map(({ accountId }) => accountId)),
        arrayLiteral(runs.map(({ id }) => id)),
        arrayLiteral(runs.map(({ lease }) => lease)),
      ]);
    },

    /**
     * Stores steps and positions of several runs in one statement, or one transaction on a distributed database.
     * @returns the runs that this process still held, by lease, with whether they were cancelled; of the others nothing is stored
     */
    commit: async (commits: readonly RunCommit[]): Promise<ReadonlyMap<string, { readonly isCancelled: boolean }>> => {
      const parts = {
        units: commits.map(toUnit),
        steps: commits.flatMap(toRows),
        mails: commits.flatMap(toMails),
      };
      const rows = (await isDistributed(knex))
        ? await commitPerAccount(knex, parts)
        : (
            await runNamed<{ lease: string; isCancelled: boolean }>(knex, COMMIT, [
              JSON.stringify(parts.units),
              JSON.stringify(parts.steps),
              JSON.stringify(parts.mails),
            ])
          ).rows;
      return new Map(rows.map(({ lease, isCancelled }) => [lease, { isCancelled }]));
    },

    /** Counts the executions of an instance that were started since a time, up to a maximum, without those that were refused. */
    countStarts: async (
      { accountId, id }: { readonly accountId: number; readonly id: number },
      since: Date,
      most: number,
    ): Promise<number> => {
      const { rows } = await knex.raw<{ rows: { count: number }[] }>(COUNT_STARTS, [accountId, since, id, most]);
      return rows[0]?.count ?? 0;
    },

    /** Returns the input of an execution. Undefined: it was deleted. */
    findInput: async ({ accountId, id, executionAt }: ExecutionKey & { readonly executionAt: Date }) => {
      const { rows } = await runNamed<
        Omit<ExecutionInput, 'formula'> & { readonly formulaAccountId: number; readonly formulaId: number }
      >(knex, INPUT, [accountId, executionAt, id]);
      const [found] = rows;
      if (found === undefined) return undefined;
      const { formulaAccountId, formulaId, ...rest } = found;
      return { ...rest, formula: { accountId: formulaAccountId, id: formulaId } } satisfies ExecutionInput;
    },

    /** Returns the last values of each step of some frames of an execution. */
    lastValues: async (
      { accountId, id, executionAt }: ExecutionKey & { readonly executionAt: Date },
      frames: readonly number[],
    ) => {
      const { rows } = await knex.raw<{
        rows: { readonly frame: number; readonly stepName: string; readonly content: readonly StepValue[] | null }[];
      }>(LAST_VALUES, [accountId, id, executionAt, [...frames]]);
      return rows;
    },

    /**
     * Replaces a planned retry that is due by a new execution of the same input.
     * @returns the id of the new execution; undefined if another process has the entry
     */
    takeRetry: async (run: ClaimedRun, input: NewExecution): Promise<number | undefined> =>
      knex.transaction(async (via) => {
        const deleted = await via('formula_run')
          .where({ account_id: run.accountId, id: run.id, lease: run.lease })
          .delete();
        if (deleted === 0) return undefined;
        const [id] = await createRunStore(via).start([input]);
        return id;
      }),
  };
}

/** Stores new executions after their turns were taken. @returns their ids in the given order */
export async function insertNew(via: Knex, executions: readonly NewExecution[]): Promise<readonly number[]> {
  if (executions.length === 0) return [];
  const rows = executions.map((execution, place) => ({
    place,
    account_id: execution.accountId,
    created_at: execution.createdAt,
    formula_instance_id: execution.formulaInstanceId,
    formula_account_id: execution.formula.accountId,
    formula_id: execution.formula.id,
    formula_version: execution.version,
    trigger: execution.trigger,
    attempt: execution.attempt ?? 0,
    chain: execution.chain ?? 0,
    serial: execution.serial,
    awaited: execution.isAwaited ?? false,
    refusal: execution.refusal ?? null,
  }));
  if (await isDistributed(via)) {
    const byPlace = await startPerAccount(via, rows);
    return executions.map((_, place) => byPlace.get(place) ?? 0);
  }
  const { rows: stored } = await runNamed<{ place: number; id: number }>(via, START, [JSON.stringify(rows)]);
  const ids = new Map(stored.map(({ place, id }) => [place, id]));
  return executions.map((_, place) => ids.get(place) ?? 0);
}

/**
 * Returns the instances whose new executions take turns: they become visible in the order of their ids. Otherwise an older one of a
 * single-threaded instance could appear while a newer one runs already, and would run beside it.
 */
export function turnsOf(executions: readonly NewExecution[]): readonly number[] {
  return executions.flatMap(({ serial, refusal, formulaInstanceId }) =>
    serial && refusal === undefined ? [formulaInstanceId] : [],
  );
}

/** The ratio of due runs that are read to those that are claimed, so that one account with many does not hide the others. */
const CANDIDATES = 4;

/** The id by which a run falls into a bucket. Runs of single-threaded instances follow one another in one process. */
const BUCKETED_BY = 'case when serial then formula_instance_id else id end';

/** Maximum stored size of an input that a claim returns. Larger ones are read when their run begins. */
const CLAIMED_INPUT_BYTES = 8 * 1024;

const START = {
  name: 'start-executions',
  sql: `
  with input as materialized (
    select nextval('formula_execution_id') as id, i.* from json_to_recordset(?::json) as i(
      place integer, account_id bigint, created_at timestamptz, formula_instance_id bigint, formula_account_id bigint, formula_id bigint,
      formula_version integer, trigger json, attempt integer, chain integer, serial boolean, awaited boolean, refusal text)
    order by place
  ),
  execution as (
    insert into formula_execution (account_id, id, created_at, updated_at, formula_instance_id, formula_account_id, formula_id,
      formula_version, status, trigger, attempt, chain, serial)
    select account_id, id, created_at, created_at, formula_instance_id, formula_account_id, formula_id, formula_version,
      case when refusal is null then 'pending' else 'failed' end, trigger, attempt, chain, serial from input
  ),
  run as (
    insert into formula_run (account_id, id, execution_at, formula_instance_id, serial, due, awaited)
    select account_id, id, created_at, formula_instance_id, serial, created_at, awaited from input where refusal is null
  ),
  refused as (
    insert into formula_step (account_id, execution_id, execution_at, ordinal, frame, step_name, status, is_fault, created_at, updated_at,
      content)
    select account_id, id, created_at, 0, 0, 'trigger', 'failed', true, created_at, created_at,
      json_build_array(json_build_array(json_build_array('error'), refusal))
    from input where refusal is not null
  ),
  noticed as (
    insert into formula_notice (account_id, formula_instance_id, kind, data, due)
    select account_id, formula_instance_id, 'failed',
      json_build_object('executionId', id, 'createdAt', created_at, 'stepName', 'trigger', 'message', refusal), created_at
    from input where refusal is not null order by place
  )
  select place, id from input`,
} as const;

const returned = (
  accountId?: number,
) => `r.account_id as "accountId", r.id, r.execution_at as "executionAt", r.formula_instance_id as "formulaInstanceId", r.lease,
    r.steps, r.position, r.is_cancelled as "isCancelled", r.awaited as "isAwaited",
    (select case when pg_column_size(e.trigger) > ${CLAIMED_INPUT_BYTES} then json_build_object('bytes', octet_length(e.trigger::text))
        else json_build_object('formula', json_build_object('accountId', e.formula_account_id, 'id', e.formula_id),
          'version', e.formula_version, 'trigger', e.trigger, 'attempt', e.attempt, 'chain', e.chain) end
      from formula_execution e
      where e.account_id = r.account_id and e.created_at = r.execution_at and e.id = r.id ${isOfAccount('e', accountId)}) as input`;

// Single-threaded instances have many runs that are due and must wait: only the oldest of each is looked at, by steps over the index.
// What is asked of a head is asked once more where it is locked, because PostgreSQL asks only that again of a row that was changed meanwhile.
const CLAIM = {
  name: 'claim-runs',
  sql: `
  with recursive plain as materialized (
    select account_id, id, due from formula_run
    where not serial and due <= ? and (lease_until is null or lease_until <= ?) and ${inBuckets('id')}
      and account_id <> all(?::bigint[])
    order by due limit ?
    for update skip locked
  ),
  head as (
    (select account_id, formula_instance_id, id, due, lease_until from formula_run where serial
      order by account_id, formula_instance_id, id limit 1)
    union all
    select n.* from head h cross join lateral (
      select account_id, formula_instance_id, id, due, lease_until from formula_run r
      where r.serial and (r.account_id, r.formula_instance_id) > (h.account_id, h.formula_instance_id)
      order by account_id, formula_instance_id, id limit 1) n
  ),
  first as materialized (
    select account_id, id, due from formula_run
    where (account_id, id) in (
      select account_id, id from head
      where due <= ? and (lease_until is null or lease_until <= ?) and ${inBuckets('formula_instance_id')}
        and account_id <> all(?::bigint[]))
      and due <= ? and (lease_until is null or lease_until <= ?)
    for update skip locked
  ),
  ranked as (
    select account_id, id, due, row_number() over (partition by account_id order by due) as place
    from (select * from plain union all select * from first) r
  ),
  chosen as (select * from ranked where place <= ? order by place, due limit ?)
  update formula_run r set lease = gen_random_uuid(), lease_until = ?
  from chosen c where r.account_id = c.account_id and r.id = c.id
  returning ${returned()}`,
} as const;

const RENEW = `
  update formula_run r set lease_until = ?
  from unnest(?::bigint[], ?::bigint[], ?::uuid[]) as u(account_id, id, lease)
  where r.account_id = u.account_id and r.id = u.id and r.lease = u.lease
  returning r.lease, r.is_cancelled as "isCancelled"`;

const RELEASE = `
  update formula_run r set lease = null, lease_until = null
  from unnest(?::bigint[], ?::bigint[], ?::uuid[]) as u(account_id, id, lease)
  where r.account_id = u.account_id and r.id = u.id and r.lease = u.lease`;

const COMMIT = {
  name: 'commit-steps',
  sql: `
  with unit as materialized (
    select * from json_to_recordset(?::json) as u(account_id bigint, id bigint, lease uuid, execution_at timestamptz, kind text,
      position json, due timestamptz, steps integer, status text, at timestamptz, forgets boolean,
      answer json, step_name text, message text)
  ),
  ${heldAndEnded('u.account_id')},
  ours as (select * from held union all select * from ended),
  stored as (
    insert into formula_step (account_id, execution_id, execution_at, ordinal, frame, step_name, status, is_fault, is_restarted,
      created_at, updated_at, content)
    select s.* from json_to_recordset(?::json) as s(account_id bigint, execution_id bigint, execution_at timestamptz, ordinal integer,
      frame integer, step_name text, status text, is_fault boolean, is_restarted boolean, created_at timestamptz,
      updated_at timestamptz, content json)
    join ours o on o.account_id = s.account_id and o.id = s.execution_id
    order by s.account_id, s.execution_id, s.ordinal
  ),
  forgotten as (
    update formula_step s set content = null from unit u join ours o using (account_id, id)
    where u.forgets and s.account_id = u.account_id and s.execution_id = u.id and s.execution_at = u.execution_at and not s.is_fault
  ),
  finished as (
    update formula_execution e set status = u.status, updated_at = u.at from unit u join ours o using (account_id, id)
    where u.status is not null and e.account_id = u.account_id and e.created_at = u.execution_at and e.id = u.id
  ),
  answered as (
    insert into formula_answer (account_id, execution_id, answer, created_at)
    select o.account_id, o.id, u.answer, u.at from unit u join ours o using (account_id, id)
    where o.awaited and u.status is not null
  ),
  noticed as (
    insert into formula_notice (account_id, formula_instance_id, kind, data, due)
    select o.account_id, o.formula_instance_id, 'failed',
      json_build_object('executionId', o.id, 'createdAt', u.execution_at, 'stepName', u.step_name, 'message', u.message), u.at
    from unit u join ours o using (account_id, id) where u.status = 'failed'
    union all
    select o.account_id, o.formula_instance_id, 'recovered', json_build_object('executionId', o.id), u.at
    from unit u join ours o using (account_id, id)
    where u.status = 'success' and (
      exists (select from formula_instance i where i.account_id = o.account_id and i.id = o.formula_instance_id and i.failures > 0)
      or exists (select from formula_notice n
        where n.account_id = o.account_id and n.formula_instance_id = o.formula_instance_id and n.kind = 'failed'))
  ),
  mailed as (
    insert into formula_notice (account_id, formula_instance_id, kind, data, due)
    select o.account_id, o.formula_instance_id, 'email', m.data, m.due
    from json_to_recordset(?::json) as m(account_id bigint, id bigint, data json, due timestamptz) join ours o using (account_id, id)
  )
  select lease, is_cancelled as "isCancelled" from ours`,
} as const;

// Refused executions end in the moment of their start.
const COUNT_STARTS = `
  select count(*)::integer as count from (
    select 1 from formula_execution
    where account_id = ? and created_at > ? and formula_instance_id = ? and not (status = 'failed' and updated_at = created_at)
    limit ?) as started`;

const INPUT = {
  name: 'find-execution-input',
  sql: `select formula_account_id as "formulaAccountId", formula_id as "formulaId", formula_version as version, trigger, attempt, chain
    from formula_execution where account_id = ? and created_at = ? and id = ?`,
} as const;

const LAST_VALUES = `
  select distinct on (frame, step_name) frame, step_name as "stepName", content from formula_step
  where account_id = ? and execution_id = ? and execution_at = ? and frame = any(?::integer[])
  order by frame, step_name, ordinal desc`;

/** A retry that is planned keeps the row of its run. */
function toUnit({ accountId, id, lease, executionAt, rows, next }: RunCommit) {
  const unit = { account_id: accountId, id, lease, execution_at: executionAt, steps: rows.length };
  if (next.kind !== 'end')
    return { ...unit, kind: next.kind, position: next.position, due: next.kind === 'later' ? next.due : null };
  const { status, at, forgetsValues: forgets, retryAt, response: answer, fault } = next;
  const end = { ...unit, status, at, forgets, answer, step_name: fault?.name, message: fault?.message };
  if (retryAt === undefined) return { ...end, kind: 'end' };
  const position: RunPosition = { frames: [], ordinal: 0, retries: 0, begun: 0, isRetry: true };
  return { ...end, kind: 'retry', position, due: retryAt };
}

function toMails({ accountId, id, mails = [] }: RunCommit) {
  return mails.map(({ due, ...data }) => ({ account_id: accountId, id, data, due }));
}

function toRows({ accountId, id, executionAt, rows }: RunCommit) {
  return rows.map((row) => ({
    account_id: accountId,
    execution_id: id,
    execution_at: executionAt,
    ordinal: row.ordinal,
    frame: row.frame,
    step_name: row.stepName,
    status: row.status,
    is_fault: row.isFault,
    is_restarted: row.isRestarted,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
    content: row.content,
  }));
}
