/**
 * Kills the processes that run formulas, and their database, and counts what is lost: `npm run chaos:formulas [-- --executions 10000]
 * [-- --kills 20] [-- --restarts 3]`. Everything runs on loopback with a database of its own, and ends by itself. Exit code 1: a promise was
 * broken.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { limitTo, readNumbers } from '../bench/measure.ts';
import {
  createDataDir,
  type RunningService,
  removeDataDir,
  settingsOn,
  startService,
} from '../bench/running-service.ts';
import { drained, startLoadDatabase } from '../event-load/postgres.ts';
import { startProvider } from './formulas/provider.ts';
import { report, STDIO } from './scenario.ts';

const wanted = readNumbers({ executions: 10_000, instances: 200, kills: 20, restarts: 3 });
const SENDERS = 16;
const BETWEEN_MS = 3_000;
/** Maximum milliseconds until everything is done: the lease of executions whose process was killed must expire first. */
const DRAIN_MS = 180_000;
const LIMIT_MS = 30 * 60_000;
const RESPONSE_MS = 10_000;
const PATH = ['trigger', 'make', 'charge', 'create', 'isDone', 'end'];

limitTo(LIMIT_MS);
const [database, provider, dataDir] = await Promise.all([
  startLoadDatabase({ accounts: 0 }),
  startProvider(),
  createDataDir(),
]);
const { knex } = database;
const startedAt = performance.now();
const seconds = () => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;

const start = () => startService({ dataDir, environment: settingsOn(database.url), stdio: STDIO });
const services: RunningService[] = [await start()];
services.push(await start());

const post = <Body>({ call }: RunningService, path: string, body: object) =>
  call<Body>(path, { body, signal: AbortSignal.timeout(RESPONSE_MS) });

const [first] = services;
if (first === undefined) throw new Error('No service runs');
const script = (name: string, body: string, onSuccess: readonly string[]) => ({
  name,
  type: 'script',
  properties: { body },
  onSuccess,
});
interface Made {
  readonly id: number;
}
const formula = await post<Made>(first, '/formulas', {
  name: 'chaos',
  triggers: [{ type: 'manual', onSuccess: ['make'] }],
  steps: [
    script('make', 'done({ number: trigger.args.number });', ['charge']),
    {
      name: 'charge',
      type: 'httpRequest',
      properties: {
        method: 'PUT',
        url: `${provider.url}/charges/\${steps.make.number}`,
        body: '${steps.make}',
        retry: 'true',
        retryAttempts: '5',
        retryDelay: '200',
      },
      onSuccess: ['create'],
    },
    {
      name: 'create',
      type: 'request',
      properties: {
        method: 'POST',
        api: '/formulas',
        body: { name: 'made-${steps.make.number}' },
      },
      onSuccess: ['isDone'],
    },
    {
      name: 'isDone',
      type: 'filter',
      properties: { body: 'done(steps.charge.response.code === 200 || steps.charge.response.code === "200");' },
      onSuccess: ['end'],
    },
    script('end', 'done({ number: steps.make.number });', []),
  ],
});
const instanceIds: number[] = [];
for (let at = 0; at < wanted.instances; at++)
  instanceIds.push((await post<Made>(first, `/formulas/${formula.id}/instances`, { name: `chaos ${at}` })).id);
console.log(`${wanted.instances} instances after ${seconds()}`);

/** The ids of the executions whose start the service confirmed. */
const accepted = new Map<number, number>();
let unanswered = 0;
let lastNumber = 0;
let isOver = false;
const spanMs = (wanted.kills + wanted.restarts + 1) * BETWEEN_MS;

async function send(): Promise<void> {
  while (accepted.size < wanted.executions) {
    // Starts are spread over the time of the crashes.
    const share = Math.min(1, (performance.now() - loadedAt) / spanMs);
    if (!isOver && lastNumber >= wanted.executions * share) {
      await sleep(20);
      continue;
    }
    const number = ++lastNumber;
    const service = services[number % services.length];
    if (service === undefined) continue;
    try {
      const path = `/formulas/instances/${instanceIds[number % instanceIds.length]}/executions`;
      const [{ id }] = await post<[Made]>(service, path, { number });
      accepted.set(number, id);
    } catch {
      // The service or its database ended during the request, so that nobody knows whether the execution was started.
      unanswered += 1;
      await sleep(100);
    }
  }
}

const loadedAt = performance.now();
const sending = Promise.all(Array.from({ length: SENDERS }, send));
let restarted = 0;
for (let kill = 1; kill <= wanted.kills; kill++) {
  await sleep(BETWEEN_MS);
  const victim = kill % services.length;
  services[victim]?.child.kill('SIGKILL');
  services[victim] = await start();
  if (restarted < wanted.restarts && kill % Math.ceil(wanted.kills / (wanted.restarts + 1)) === 0) {
    restarted += 1;
    await database.nodes[0]?.crash();
  }
}
isOver = true;
await sending;
console.log(
  `${accepted.size} executions are started after ${seconds()}, ${wanted.kills} kills and ${restarted} crashes`,
);

const { left } = await drained(knex, { table: 'formula_run', timeoutMs: DRAIN_MS });
console.log(`${left} are left after ${seconds()}`);
for (const service of services) await service.stop();

const executions = await knex('formula_execution').select('id', 'status');
const statusOf = new Map(executions.map(({ id, status }) => [Number(id), status]));
const lost = [...accepted.values()].filter((id) => !statusOf.has(id)).length;
const failed = executions.filter(({ status }) => status !== 'success').length;
const { rows: paths } = await knex.raw<{ rows: { id: number; path: string; restarted: string[] | null }[] }>(
  `select execution_id as id, string_agg(step_name, ' ' order by ordinal) as path,
     array_agg(step_name) filter (where is_restarted) as restarted
   from formula_step group by 1`,
);
const wrong = paths.filter(({ id, path }) => statusOf.get(Number(id)) === 'success' && path !== PATH.join(' '));
const restartedOf = (name: string) => paths.filter(({ restarted: names }) => names?.includes(name)).length;
const twice = [...provider.done.values()].filter((count) => count > 1).length;
const { rows: made } = await knex.raw<{ rows: { name: string; count: number }[] }>(
  `select name, count(*)::integer as count from formula where name like 'made-%' group by 1`,
);
const doubled = made.filter(({ count }) => count > 1).length;
const { rows: faults } = await knex.raw<{ rows: { step: string; content: [string[], unknown][] }[] }>(
  'select step_name as step, content from formula_step where is_fault',
);
const reasonOf = (content: readonly [string[], unknown][]) =>
  content
    .filter(([path]) => ['response.code', 'response.body', 'error'].includes(path.join('.')))
    .map(([, value]) => Object(value).message ?? value)
    .join(' ');
for (const [reason, alike = []] of Object.entries(
  Object.groupBy(faults, ({ step, content }) => `${step}: ${reasonOf(content)}`),
))
  console.log(`${alike.length} × ${reason}`.slice(0, 300));
await provider.stop();
await database.stop();
await removeDataDir(dataDir);

report([
  {
    promise: `${wanted.kills} SIGKILLs, ${restarted} crashes of PostgreSQL: lost = 0`,
    found: `${accepted.size} acknowledged, ${unanswered} unanswered, ${executions.length} executions, ${lost} lost`,
    kept: lost === 0 && accepted.size >= wanted.executions && restarted === wanted.restarts,
  },
  { promise: 'stuck = 0', found: `${left} left`, kept: left === 0 },
  { promise: 'every execution succeeds', found: `${failed} failed`, kept: failed === 0 },
  { promise: 'no step is stored twice or left out', found: `${wrong.length} other paths`, kept: wrong.length === 0 },
  {
    promise: 'calls of the provider twice only where a crash broke them off',
    found: `${twice} twice, ${restartedOf('charge')} restarted, ${provider.refused()} refused or hung`,
    kept: twice <= restartedOf('charge'),
  },
  {
    promise: 'calls of the own API twice only where a crash broke them off',
    found: `${doubled} twice, ${restartedOf('create')} restarted, ${made.length} made`,
    kept: doubled <= restartedOf('create'),
  },
]);
