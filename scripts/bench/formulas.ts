/**
 * Measures the engine of formulas: `npm run bench:formulas [-- --executions 5000] [-- --stored 5000000] [-- --profile folder]`. The service and
 * PostgreSQL are processes of their own on loopback, and all of them share the machine, so look at the CPU time too. Ends by itself.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createRunStore } from '../../src/formulas/executions/run-store.ts';
import { ALL_BUCKETS } from '../../test/support/buckets.ts';
import { drained, startLoadDatabase } from '../event-load/postgres.ts';
import { cpuMsOf, describeMachine, quantile, round } from './measure.ts';
import { connectDemo, createDataDir, removeDataDir, settingsOn, startService } from './running-service.ts';

const { values: given } = parseArgs({
  options: {
    executions: { type: 'string', default: '5000' },
    stored: { type: 'string', default: '0' },
    profile: { type: 'string' },
  },
});
const EXECUTIONS = Number(given.executions);
const STORED = Number(given.stored);
const BATCH = 200;
const IDLE_SECONDS = 20;
const LATENCY_PER_SECOND = 50;
const LATENCY_SECONDS = 10;
const CLAIMS = 50;

const database = await startLoadDatabase({ accounts: 0 });
const { knex } = database;
const dataDir = await createDataDir();
const service = await startService({
  dataDir,
  environment: settingsOn(database.url),
  execArgv: given.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${given.profile}`],
});
const runs = createRunStore(knex);

const idOf = async (path: string, body: object): Promise<number> =>
  (await service.call<{ readonly id: number }>(path, { body })).id;

/** Creates a formula with one instance. */
async function addFormula(
  steps: readonly { readonly name: string }[],
  configuration: object = {},
  trigger: object = { type: 'manual' },
) {
  const [first] = steps;
  const id = await idOf('/formulas', {
    name: `bench ${first?.name}`,
    configuration: Object.keys(configuration).map((key) => ({ key, name: key, type: 'elementInstance' })),
    triggers: [{ ...trigger, onSuccess: first === undefined ? [] : [first.name] }],
    steps: steps.map((step, at) => ({
      ...step,
      onSuccess: steps[at + 1] === undefined ? [] : [steps[at + 1]?.name],
    })),
  });
  return { id, instanceId: await idOf(`/formulas/${id}/instances`, { name: 'bench', configuration }) };
}

const build = {
  name: 'build',
  type: 'script',
  properties: { body: 'done({ id: trigger.args.number, list: [1, 2, 3] });' },
};
const isDone = { name: 'isDone', type: 'filter', properties: { body: 'done(steps.build.id >= 0);' } };
const { id: hr, token } = await connectDemo(service, { 'event.notification.enabled': true });
const [employee] = await service.call<readonly { readonly id: string }[]>('/employees?pageSize=1', { token });
const get = {
  name: 'get',
  type: 'elementRequest',
  properties: { elementInstanceId: '${config.hr}', method: 'GET', api: `/employees/${employee?.id}` },
};
const [account] = await knex('account').select('id');
const accountId = Number(account?.id);

interface Formula {
  readonly id: number;
  readonly instanceId: number;
}

/** Stores executions as triggers do, and measures the time until all of them have ended. */
async function measure(what: string, { id, instanceId }: Formula, count: number): Promise<void> {
  const sizes = async () => {
    const { rows } = await knex.raw(
      `select sum(pg_total_relation_size(c.oid))::float8 as bytes from pg_class c
       where c.relkind = 'r' and (c.relname like 'formula_execution%' or c.relname like 'formula_step%')`,
    );
    return Number(rows[0].bytes);
  };
  const before = { bytes: await sizes(), service: cpuMsOf([service.pid]), postgres: await database.cpuMs() };
  const begin = performance.now();
  for (let at = 0; at < count; at += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, count - at) }, (_, index) => ({
      ...{ accountId, formulaInstanceId: instanceId, formula: { accountId, id }, version: 1, serial: false },
      trigger: [[['args'], { number: at + index }]] as const,
      createdAt: new Date(),
    }));
    await runs.start(batch);
    // Starting an execution through the API wakes the worker.
    if (at === 0) await service.call(`/formulas/instances/${instanceId}/executions`, { body: { number: 0 } });
  }
  const storedMs = performance.now() - begin;
  await drained(knex, { table: 'formula_run' });
  const ms = performance.now() - begin;
  const { rows } = await knex.raw(
    'select status, count(*)::integer as count from formula_execution where formula_instance_id = ? group by 1',
    [instanceId],
  );
  const faults = await knex.raw(
    `select content::text as reason from formula_step where is_fault and step_name <> 'trigger' limit 1`,
  );
  for (const { reason } of faults.rows) console.log(`a failure: ${reason}`.slice(0, 1_000));
  console.log(
    what,
    JSON.stringify({
      perSecond: Math.round((count * 1000) / ms),
      storedInMs: Math.round(storedMs),
      serviceCpuMsEach: round((cpuMsOf([service.pid]) - before.service) / count),
      postgresCpuMsEach: round(((await database.cpuMs()) - before.postgres) / count),
      bytesEach: Math.round(((await sizes()) - before.bytes) / count),
      statuses: rows,
    }),
  );
}

/** Measures the time from the storage of an execution, which an event shares, to its first step and to its end. */
async function measureLatency(what: string, path: string, body: object): Promise<void> {
  const [before] = await knex('formula_execution').max({ id: 'id' });
  const sent: Promise<unknown>[] = [];
  const begin = performance.now();
  for (let at = 0; at < LATENCY_PER_SECOND * LATENCY_SECONDS; at++) {
    await sleep(Math.max(0, begin + (at * 1000) / LATENCY_PER_SECOND - performance.now()));
    sent.push(service.call(path, { body }));
  }
  await Promise.all(sent);
  await drained(knex, { table: 'formula_run' });
  const { rows } = await knex.raw(
    `select extract(epoch from s.created_at - e.created_at)::float8 * 1000 as ms, extract(epoch from e.updated_at - e.created_at)::float8 * 1000 as whole
     from formula_execution e join formula_step s on s.account_id = e.account_id and s.execution_id = e.id and s.ordinal = 0 where e.id > ?`,
    [Number(before?.id ?? 0)],
  );
  const begun: number[] = rows.map(({ ms }: { ms: number }) => ms);
  const ended: number[] = rows.map(({ whole }: { whole: number }) => whole);
  console.log(
    `${LATENCY_PER_SECOND} starts a second by ${what}`,
    JSON.stringify({
      beginP50Ms: round(quantile(begun, 0.5)),
      beginP95Ms: round(quantile(begun, 0.95)),
      endP50Ms: round(quantile(ended, 0.5)),
      endP95Ms: round(quantile(ended, 0.95)),
    }),
  );
}

async function transactions(): Promise<number> {
  const { rows } = await knex.raw(
    'select (xact_commit + xact_rollback)::float8 as count from pg_stat_database where datname = current_database()',
  );
  return Number(rows[0].count);
}

async function scansOfFormulas(): Promise<number> {
  await knex.raw('select pg_stat_force_next_flush()');
  const found = await knex.raw(
    `select sum(seq_scan + coalesce(idx_scan, 0))::float8 as count from pg_stat_user_tables where relname in ('formula_run', 'formula_instance')`,
  );
  return Number(found.rows[0].count);
}

/** Measures the CPU time of a service that has nothing to do. */
async function measureIdle(): Promise<void> {
  await sleep(3_000);
  const before = { count: await transactions(), scans: await scansOfFormulas(), cpu: cpuMsOf([service.pid]) };
  await sleep(IDLE_SECONDS * 1000);
  console.log(
    'idle',
    JSON.stringify({
      transactionsPerSecondOfAllRooms: round(((await transactions()) - before.count) / IDLE_SECONDS),
      scansOfRunsAndInstancesPerSecond: round(((await scansOfFormulas()) - before.scans) / IDLE_SECONDS),
      cpuMsPerSecond: round((cpuMsOf([service.pid]) - before.cpu) / IDLE_SECONDS),
    }),
  );
}

/** Measures the time of a claim that finds nothing, and of one that finds an execution. */
async function measureClaims(what: string, { id, instanceId }: Formula): Promise<void> {
  const times: number[] = [];
  for (let at = 0; at < CLAIMS; at++) {
    // Due at a time that only this claim passes, so that no worker takes the execution.
    const createdAt = new Date(Date.now() + 3_600_000);
    await runs.start([
      {
        ...{ accountId, formulaInstanceId: instanceId, formula: { accountId, id }, version: 1, serial: false },
        trigger: [],
        createdAt,
      },
    ]);
    const begin = performance.now();
    const now = new Date(createdAt.getTime() + 1);
    const claimed = await runs.claim({
      buckets: ALL_BUCKETS.held(),
      now,
      leaseUntil: now,
      limit: 64,
      share: 32,
      except: [],
    });
    times.push(performance.now() - begin);
    if (claimed.length === 0) throw new Error('Nothing was claimed');
    const ids = claimed.map(({ id: run }) => run);
    await knex('formula_run').whereIn('id', ids).delete();
    await knex('formula_execution').whereIn('id', ids).delete();
  }
  console.log(
    `claims, ${what}`,
    JSON.stringify({ p50Ms: round(quantile(times, 0.5)), p95Ms: round(quantile(times, 0.95)) }),
  );
}

async function storeMany(instanceId: number, id: number): Promise<void> {
  const begin = performance.now();
  await knex.raw(
    `insert into formula_execution (account_id, created_at, updated_at, formula_instance_id, formula_account_id, formula_id, formula_version,
       status, trigger)
     select ?, now() - n * interval '1 second' / 10, now(), ?, ?, ?, 1, 'success', '[[["args"],{"number":1}]]'
     from generate_series(1, ?) n`,
    [accountId, instanceId, accountId, id, STORED],
  );
  // What autovacuum and a checkpoint would do later belongs to no execution.
  await knex.raw('vacuum (analyze) formula_execution');
  await knex.raw('checkpoint');
  console.log(`${STORED} executions stored`, `${Math.round((performance.now() - begin) / 1000)} s`);
}

const { rows } = await knex.raw('show server_version');
console.log({ ...describeMachine(), postgres: rows[0].server_version });
const three = await addFormula([build, get, isDone], { hr });
const two = await addFormula([build, isDone]);
const filler = await addFormula([{ ...build, name: 'filler' }]);
await measureIdle();
await measure('warm-up', three, 500);
await measure('script, request, filter', three, EXECUTIONS);
await measure('script, filter', two, EXECUTIONS);
const byApi = await addFormula([build, get, isDone], { hr });
await measureLatency('the API', `/formulas/instances/${byApi.instanceId}/executions`, { number: 1 });
const ended = { ...build, properties: { body: 'done({ id: trigger.event.objectId });' } };
const onEvent = { type: 'event', properties: { elementInstanceId: '${config.hr}' } };
await addFormula([ended, get], { hr }, onEvent);
await measureLatency('events', '/events/test', { instanceId: hr, type: 'employees.updated' });
await measureClaims('as it is', filler);
if (STORED > 0) {
  await storeMany(filler.instanceId, filler.id);
  await measureClaims(`with ${STORED} stored`, filler);
  await measure(`script, request, filter with ${STORED} stored`, three, EXECUTIONS);
}
await service.stop();
await database.stop();
await removeDataDir(dataDir);
