/**
 * The statements of running executions on a distributed database. Each names one account, so that it goes to one node. The statements of one
 * account are one transaction, where a plain database has one statement.
 */

import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { arrayLiteral } from '../../db/array-literal.ts';
import { perAccount } from '../../db/distributed.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { ClaimRequest } from '../../events/claimed-work.ts';
import { inBuckets } from '../../work-buckets.ts';
import type { ClaimedRun, EndStatus } from './model.ts';

/** A new execution as its row has it. */
interface StartRow {
  readonly place: number;
  readonly account_id: number;
  readonly created_at: Date;
  readonly formula_instance_id: number;
  readonly formula_account_id: number;
  readonly formula_id: number;
  readonly formula_version: number;
  readonly trigger: unknown;
  readonly attempt: number;
  readonly chain: number;
  readonly serial: boolean;
  readonly awaited: boolean;
  readonly refusal: string | null;
}

/** Stores new executions. @returns their ids by place */
export async function startPerAccount(knex: Knex, rows: readonly StartRow[]): Promise<ReadonlyMap<number, number>> {
  const { rows: drawn } = await knex.raw<{ rows: { id: number }[] }>(
    `select nextval('formula_execution_id') as id from generate_series(1, ?::int)`,
    [rows.length],
  );
  const started = rows.map((row, index) => ({ ...row, accountId: row.account_id, id: drawn[index]?.id ?? 0 }));
  await perAccount(knex, started, (via, ofOne) => inTransaction(via, (trx) => insertStarted(trx, ofOne)));
  return new Map(started.map(({ place, id }) => [place, id]));
}

async function insertStarted(via: Knex, started: readonly (StartRow & { readonly id: number })[]): Promise<void> {
  await via('formula_execution').insert(
    started.map(({ refusal, trigger, ...row }) => ({
      account_id: row.account_id,
      id: row.id,
      created_at: row.created_at,
      updated_at: row.created_at,
      formula_instance_id: row.formula_instance_id,
      formula_account_id: row.formula_account_id,
      formula_id: row.formula_id,
      formula_version: row.formula_version,
      status: refusal === null ? 'pending' : 'failed',
      trigger: JSON.stringify(trigger),
      attempt: row.attempt,
      chain: row.chain,
      serial: row.serial,
    })),
  );
  const accepted = started.filter(({ refusal }) => refusal === null);
  const refused = started.filter(({ refusal }) => refusal !== null);
  await insertAll(
    via,
    'formula_run',
    accepted.map((row) => ({
      account_id: row.account_id,
      id: row.id,
      execution_at: row.created_at,
      formula_instance_id: row.formula_instance_id,
      serial: row.serial,
      due: row.created_at,
      awaited: row.awaited,
    })),
  );
  await insertAll(
    via,
    'formula_step',
    refused.map((row) => ({
      account_id: row.account_id,
      execution_id: row.id,
      execution_at: row.created_at,
      ordinal: 0,
      frame: 0,
      step_name: 'trigger',
      status: 'failed',
      is_fault: true,
      created_at: row.created_at,
      updated_at: row.created_at,
      content: JSON.stringify([[['error'], row.refusal]]),
    })),
  );
  await insertAll(
    via,
    'formula_notice',
    refused.map((row) => ({
      account_id: row.account_id,
      formula_instance_id: row.formula_instance_id,
      kind: 'failed',
      data: JSON.stringify({
        executionId: row.id,
        createdAt: row.created_at,
        stepName: 'trigger',
        message: row.refusal,
      }),
      due: row.created_at,
    })),
  );
}

/** A run with its next position, and what its end leaves. */
interface CommitUnit {
  readonly account_id: number;
  readonly id: number;
  readonly execution_at: Date;
  readonly status?: EndStatus;
  readonly at?: Date;
  readonly forgets?: boolean;
  readonly answer?: unknown;
  readonly step_name?: string | undefined;
  readonly message?: string | undefined;
}

interface CommitStep {
  readonly account_id: number;
  readonly execution_id: number;
  readonly ordinal: number;
  readonly content: unknown;
}

interface CommitMail {
  readonly account_id: number;
  readonly id: number;
  readonly data: unknown;
  readonly due: Date;
}

/** The changes of several runs that one process holds, and the rows that they add. */
interface CommitParts {
  readonly units: readonly CommitUnit[];
  readonly steps: readonly CommitStep[];
  readonly mails: readonly CommitMail[];
}

interface HeldRun {
  readonly id: number;
  readonly lease: string;
  readonly isCancelled: boolean;
  readonly formulaInstanceId: number;
  readonly awaited: boolean;
}

/** Stores steps and positions. @returns the runs that this process still held */
export async function commitPerAccount(
  knex: Knex,
  { units, steps, mails }: CommitParts,
): Promise<readonly Pick<HeldRun, 'lease' | 'isCancelled'>[]> {
  const ofAccounts = units.map((unit) => ({ unit, accountId: unit.account_id }));
  const held = await perAccount(knex, ofAccounts, (via, ofOne, accountId = 0) => {
    const parts = {
      units: ofOne.map(({ unit }) => unit),
      steps: steps.filter((step) => step.account_id === accountId),
      mails: mails.filter((mail) => mail.account_id === accountId),
    };
    return inTransaction(via, (trx) => commitOfAccount(trx, accountId, parts));
  });
  return held.flat();
}

async function commitOfAccount(
  via: Knex,
  accountId: number,
  { units, steps, mails }: CommitParts,
): Promise<readonly HeldRun[]> {
  const { rows } = await via.raw<{ rows: HeldRun[] }>(HOLD, [JSON.stringify(units), accountId, accountId]);
  const runs = new Map(rows.map((run) => [run.id, run]));
  const ours = units.flatMap((unit) => {
    const run = runs.get(unit.id);
    return run === undefined ? [] : [{ ...unit, run }];
  });
  // Before the new steps are stored: those keep their values.
  for (const { id, execution_at } of ours.filter(({ forgets }) => forgets === true)) {
    await via('formula_step')
      .where({ account_id: accountId, execution_id: id, execution_at, is_fault: false })
      .update({ content: null });
  }
  const ownSteps = steps
    .filter(({ execution_id }) => runs.has(execution_id))
    .sort((one, other) => one.execution_id - other.execution_id || one.ordinal - other.ordinal);
  await insertAll(
    via,
    'formula_step',
    ownSteps.map((step) => ({ ...step, content: toJson(step.content) })),
  );
  await endAll(via, accountId, ours);
  await insertAll(
    via,
    'formula_notice',
    mails.flatMap(({ id, data, due }) => {
      const run = runs.get(id);
      if (run === undefined) return [];
      return [
        {
          account_id: accountId,
          formula_instance_id: run.formulaInstanceId,
          kind: 'email',
          data: JSON.stringify(data),
          due,
        },
      ];
    }),
  );
  return rows;
}

/** Stores the status, the answers and the notices of runs that ended. */
async function endAll(
  via: Knex,
  accountId: number,
  ours: readonly (CommitUnit & { readonly run: HeldRun })[],
): Promise<void> {
  const ended = ours.filter(({ status }) => status !== undefined);
  for (const { id, execution_at, status, at } of ended) {
    await via('formula_execution')
      .where({ account_id: accountId, created_at: execution_at, id })
      .update({ status, updated_at: at });
  }
  await insertAll(
    via,
    'formula_answer',
    ended
      .filter(({ run }) => run.awaited)
      .map(({ id, answer, at }) => ({
        account_id: accountId,
        execution_id: id,
        answer: toJson(answer),
        created_at: at,
      })),
  );
  const succeeded = ended.filter(({ status }) => status === 'success');
  const troubled = await findTroubled(
    via,
    accountId,
    succeeded.map(({ run }) => run.formulaInstanceId),
  );
  const notices = ended.flatMap(({ id, run, status, execution_at, step_name, message, at }) => {
    const notice = { account_id: accountId, formula_instance_id: run.formulaInstanceId, due: at };
    if (status === 'failed') {
      const data = { executionId: id, createdAt: execution_at, stepName: step_name ?? null, message: message ?? null };
      return [{ ...notice, kind: 'failed', data: JSON.stringify(data) }];
    }
    const recovered = status === 'success' && troubled.has(run.formulaInstanceId);
    return recovered ? [{ ...notice, kind: 'recovered', data: JSON.stringify({ executionId: id }) }] : [];
  });
  await insertAll(via, 'formula_notice', notices);
}

/** Returns the instances whose executions failed before. */
async function findTroubled(via: Knex, accountId: number, ids: readonly number[]): Promise<ReadonlySet<number>> {
  if (ids.length === 0) return new Set();
  const { rows } = await via.raw<{ rows: { id: number }[] }>(
    `select id from formula_instance where account_id = ? and id = any(?::bigint[]) and failures > 0
     union
     select formula_instance_id from formula_notice
     where account_id = ? and formula_instance_id = any(?::bigint[]) and kind = 'failed'`,
    [accountId, [...ids], accountId, [...ids]],
  );
  return new Set(rows.map(({ id }) => id));
}

/**
 * Returns the parts of a statement that store the position of the leased runs of `unit`, and delete those that end. `account` is the account
 * of a run in SQL.
 */
export const heldAndEnded = (account: '?' | 'u.account_id') => `held as (
    update formula_run r set
      position = u.position,
      steps = r.steps + u.steps,
      due = coalesce(u.due, r.due),
      serial = r.serial and u.kind <> 'retry',
      lease = case when u.kind = 'go' then r.lease end,
      lease_until = case when u.kind = 'go' then r.lease_until end
    from unit u where u.kind <> 'end' and r.account_id = ${account} and r.id = u.id and r.lease = u.lease
    returning r.account_id, r.id, u.lease, r.is_cancelled, r.formula_instance_id, r.awaited
  ),
  ended as (
    delete from formula_run r using unit u
    where u.kind = 'end' and r.account_id = ${account} and r.id = u.id and r.lease = u.lease
    returning r.account_id, r.id, u.lease, r.is_cancelled, r.formula_instance_id, r.awaited
  )`;

const HOLD = `
  with unit as materialized (
    select * from json_to_recordset(?::json) as u(account_id bigint, id bigint, lease uuid, kind text, position json, due timestamptz,
      steps integer)
  ),
  ${heldAndEnded('?')}
  select id, lease, is_cancelled as "isCancelled", formula_instance_id as "formulaInstanceId", awaited
  from (select * from held union all select * from ended) ours`;

/** A run that is due, found without a lock. */
interface FoundRun {
  readonly accountId: number;
  readonly id: number;
}

interface RunClaim extends ClaimRequest {
  /** Number of due runs that are looked at. */
  readonly candidates: number;
}

/** Claims due runs: a distributed database locks rows of one account at a time only, so they are found first, without a lock. */
export async function claimPerAccount(
  knex: Knex,
  { now, leaseUntil, limit, share, except, buckets, candidates }: RunClaim,
  returned: (accountId: number) => string,
): Promise<readonly ClaimedRun[]> {
  const { rows: due } = await knex.raw<{ rows: FoundRun[] }>(FIND_DUE, [
    ...[now, now, arrayLiteral(buckets), arrayLiteral(except), candidates],
    ...[now, now, arrayLiteral(buckets), arrayLiteral(except), share, limit],
  ]);
  const claimed = await perAccount(knex, due, async (via, runs, accountId = 0) => {
    const { rows } = await via.raw<{ rows: ClaimedRun[] }>(
      `update formula_run r set lease = c.lease, lease_until = ?
       from unnest(?::bigint[], ?::uuid[]) as c(id, lease)
       where r.account_id = ? and r.id = c.id and r.due <= ? and (r.lease_until is null or r.lease_until <= ?)
       returning ${returned(accountId)}`,
      [
        leaseUntil,
        arrayLiteral(runs.map(({ id }) => id)),
        arrayLiteral(runs.map(() => randomUUID())),
        accountId,
        now,
        now,
      ],
    );
    return rows;
  });
  return claimed.flat();
}

const FIND_DUE = `
  with plain as materialized (
    select account_id, id, due from formula_run
    where not serial and due <= ? and (lease_until is null or lease_until <= ?) and ${inBuckets('id')}
      and account_id <> all(?::bigint[])
    order by due limit ?
  ),
  head as materialized (
    select distinct on (account_id, formula_instance_id) account_id, formula_instance_id, id, due, lease_until from formula_run
    where serial order by account_id, formula_instance_id, id
  ),
  ranked as (
    select account_id, id, due, row_number() over (partition by account_id order by due) as place
    from (
      select * from plain
      union all
      select account_id, id, due from head
      where due <= ? and (lease_until is null or lease_until <= ?) and ${inBuckets('formula_instance_id')}
        and account_id <> all(?::bigint[])
    ) r
  )
  select account_id as "accountId", id from ranked where place <= ? order by place, due limit ?`;

async function insertAll(via: Knex, table: string, rows: readonly object[]): Promise<void> {
  if (rows.length > 0) await via(table).insert(rows);
}

function toJson(value: unknown): string | null {
  return value === undefined || value === null ? null : JSON.stringify(value);
}
