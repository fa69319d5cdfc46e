import type { Knex } from 'knex';
import type { ObjectSpec } from '../../src/connector/contract.ts';
import { hashOf } from '../../src/polls/plan.ts';

const DATE = { type: 'datetime', nullable: false, sortable: true, domain: { step: 'millisecond' } } as const;

/** An object that is polled. */
export const THINGS: ObjectSpec = {
  fields: { id: { type: 'string', nullable: false }, changed: { ...DATE, filter: { '>=': 'exact' } } },
  changes: { updated: 'changed' },
};
/** The configuration of an instance whose things are polled. */
export const POLLS_THINGS = { 'event.notification.enabled': true, 'event.objects': 'things' };
/** The newest thing, which the polls have already seen. */
export const NEWEST = { id: 't1', changed: '2029-12-31T23:59:59.001Z' };

interface Polled {
  readonly accountId: number;
  readonly count: number;
  readonly intervalMs: number;
  readonly dueMs: number;
  /** Milliseconds after `dueMs` within which the polls become due. Default 0. */
  readonly spreadMs?: number;
}

/** Adds instances of an account that were polled before. The account must have a user. */
export async function addPolled(
  knex: Knex,
  { accountId, count, intervalMs, dueMs, spreadMs = 0 }: Polled,
): Promise<void> {
  await knex.raw(
    `insert into instance (account_id, user_id, name, element_key, credentials, token, token_hash)
     select ?::bigint, (select min(id) from app_user where account_id = ?::bigint), 'x', 'odata', '', '', sha256(gen_random_uuid()::text::bytea)
     from generate_series(1, ?::int)`,
    [accountId, accountId, count],
  );
  await knex.raw(
    `insert into poll (account_id, instance_id, resource, settings_version, interval_ms, due, kind, watermark)
     select account_id, id, 'things', settings_version, ?::bigint,
       ?::timestamptz + random() * ?::int * interval '1 millisecond', 'window', ?::timestamptz
     from instance where account_id = ? on conflict do nothing`,
    [intervalMs, new Date(dueMs), spreadMs, new Date(NEWEST.changed), accountId],
  );
  await knex.raw(
    `insert into poll_seen (account_id, instance_id, resource, record_key, version, seen_at)
     select account_id, instance_id, resource, ?::bytea, ?::bytea, watermark from poll where account_id = ? on conflict do nothing`,
    [hashOf(NEWEST.id), hashOf(`at ${Date.parse(NEWEST.changed)}`), accountId],
  );
}
