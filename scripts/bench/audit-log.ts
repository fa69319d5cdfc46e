/**
 * Measures how the audit log is read when it has a year of a busy account: `npm run bench:audit [-- --rows 3000000]`. PostgreSQL is a
 * process of its own on loopback. Ends by itself.
 */
import { parseArgs } from 'node:util';
import type { Knex } from 'knex';
import { type AuditQuery, type AuditScope, createAuditLog } from '../../src/accounts/audit-log.ts';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { createPoolShares } from '../../src/db/pool-shares.ts';
import { firstOf } from '../../src/db/row.ts';
import { createLogger } from '../../src/log.ts';
import { startLoadDatabase } from '../event-load/postgres.ts';

const { values: given } = parseArgs({ options: { rows: { type: 'string', default: '3000000' } } });
const rows = Number(given.rows);
const DAYS = 365;
const DAY_MS = 86_400_000;
const ROUNDS = 11;
/** Rows that one statement makes. */
const PART = 100_000;
const LIMIT_MS = 15 * 60_000;
const log = createLogger({ level: 'fatal' });

/** Two thirds are of one account. Of 10,000 changes one is of settings, and ten are of users. */
const FILL = `
  insert into audit_log (at, request_id, organization_id, account_id, user_id, instance_id, method, resource_uri, action, target, section, target_id,
    ip_address, status, changes)
  select now() - n * (interval '${DAYS} days' / :rows), gen_random_uuid(), 1, case when n % 3 = 0 then 2 + n % 50 else 1 end, 1 + n % 20,
    case when n % 10000 > 10 then 1 + (n::bigint * 7919) % 5000 end, 'PATCH', '/elements/api-v2/instances/' || n % 5000, 'update',
    case when n % 10000 = 0 then 'settings' when n % 10000 <= 10 then 'user' else 'instance' end,
    case when n % 10000 = 0 then 'settings' when n % 10000 <= 10 then 'users' else 'element-instances' end, n % 5000, '192.0.2.7', 200,
    jsonb_build_object('name', jsonb_build_object('from', 'Shop ' || n, 'to', 'Shop ' || n + 1))
  from generate_series(:from::int, :to::int) n`;

const ACCOUNT = { organizationId: 1, accountId: 1 };
const ORGANIZATION = { organizationId: 1 };
const halfYearAgo = new Date(SYSTEM_CLOCK.now() - (DAYS / 2) * DAY_MS);

const READINGS: Readonly<Record<string, readonly [AuditScope, Omit<AuditQuery, 'limit'>]>> = {
  'the newest of an account': [ACCOUNT, {}],
  'the newest of the organization': [ORGANIZATION, {}],
  'a page half a year back': [
    ACCOUNT,
    { after: { at: halfYearAgo, requestId: '00000000-0000-0000-0000-000000000000' } },
  ],
  'before a day half a year back': [ORGANIZATION, { to: halfYearAgo }],
  'of one of 5,000 instances': [ORGANIZATION, { instanceId: 4_711 }],
  'of one of 20 users': [ACCOUNT, { userId: 7 }],
  'of users, one of 1,000 changes': [ACCOUNT, { section: 'users' }],
  'of settings, one of 10,000 changes': [ORGANIZATION, { section: 'settings' }],
  'of elements, where there are none': [ORGANIZATION, { section: 'elements' }],
};

const timer = setTimeout(() => process.exit(1), LIMIT_MS);
const database = await startLoadDatabase();
try {
  const { knex } = database;
  await makeYear(knex);
  const bytes = await sizeOf(knex);
  console.log(`${rows} rows, ${Math.round(bytes / rows)} bytes a row with its indexes, pages of 200`);
  for (const [name, reading] of Object.entries(READINGS)) console.log(await measure(knex, name, reading));
} finally {
  await database.stop();
  clearTimeout(timer);
}

async function makeYear(knex: Knex): Promise<void> {
  for (let daysAgo = DAYS + 3; daysAgo > -30; daysAgo -= 20) {
    const clock = { ...SYSTEM_CLOCK, now: () => SYSTEM_CLOCK.now() - daysAgo * DAY_MS };
    await openLog(knex, clock).ensure();
  }
  for (let from = 1; from <= rows; from += PART)
    await knex.raw(FILL, { rows, from, to: Math.min(rows, from + PART - 1) });
  await knex.raw('analyze audit_log');
}

function openLog(knex: Knex, clock = SYSTEM_CLOCK) {
  return createAuditLog({ knex, log, clock, shares: createPoolShares({ knex, poolSize: 4 }) }, { retentionDays: DAYS });
}

async function sizeOf(knex: Knex): Promise<number> {
  const { rows: sizes } = await knex.raw<{ rows: { bytes: number }[] }>(
    `select sum(pg_total_relation_size(inhrelid))::bigint as bytes from pg_inherits where inhparent = 'audit_log'::regclass`,
  );
  return Number(firstOf(sizes).bytes);
}

async function measure(knex: Knex, name: string, [scope, query]: readonly [AuditScope, Omit<AuditQuery, 'limit'>]) {
  const auditLog = openLog(knex);
  const times: number[] = [];
  let statement: Knex.Sql | undefined;
  const note = (sent: Knex.Sql) => {
    if (sent.sql.includes('from "audit_log"')) statement = sent;
  };
  knex.on('query', note);
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = SYSTEM_CLOCK.steady();
    await auditLog.list(1, scope, { ...query, limit: 200 });
    times.push(SYSTEM_CLOCK.steady() - startedAt);
  }
  knex.removeListener('query', note);
  const median = times.toSorted((one, other) => one - other)[ROUNDS >> 1] ?? 0;
  return `${name}: ${median.toFixed(1)} ms; ${statement === undefined ? '' : await explain(knex, statement)}`;
}

/** How much was looked at. */
async function explain(knex: Knex, { sql, bindings }: Knex.Sql): Promise<string> {
  const text = sql.replace(/\$\d+/g, '?');
  const { rows: plan } = await knex.raw(`explain (analyze, buffers, costs off, timing off) ${text}`, [...bindings]);
  const lines: string[] = plan.map((row: Readonly<Record<string, string>>) => row['QUERY PLAN']);
  const scans = lines.filter((line) => line.includes('Scan'));
  const kinds = [...new Set(scans.map((line) => line.replace(/.*?(\w[\w ]*Scan(?: Backward)?).*/, '$1')))];
  const removed = lines.flatMap((line) => /Rows Removed by Filter: (\d+)/.exec(line)?.[1] ?? []).map(Number);
  const [buffers = ''] = lines.filter((line) => line.includes('Buffers'));
  return `${scans.length} scans (${kinds.join(', ')}), ${removed.reduce((sum, one) => sum + one, 0)} rows removed,${buffers.trim().replace('Buffers:', '')}`;
}
