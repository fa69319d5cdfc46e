import { setTimeout as sleep } from 'node:timers/promises';
import {
  CallError,
  DEMO,
  type RunningService,
  settingsOn,
  startService,
  withDataDir,
} from '../bench/running-service.ts';
import { nowMicros } from '../event-load/clock.ts';
import { writeObjectId } from '../event-load/messages.ts';
import { drained } from '../event-load/postgres.ts';
import { countLost, type Promised, type Scenario, STDIO, type Stage } from './scenario.ts';

interface ProcessOptions {
  /** Milliseconds for which a worker process is frozen. */
  readonly frozenMs: number;
  /** Events that are published, and queries that are sent, each second. */
  readonly perSecond: number;
  readonly secondsBetween: number;
}

const ACCOUNTS = 8;
const QUERY = new URLSearchParams({ where: "status = 'Active'", fields: 'id,lastName', pageSize: '20' });
/** Milliseconds after which a caller gives up. */
const PATIENCE_MS = 20_000;
const DRAIN_MS = 120_000;
/** Milliseconds for which a node of a cluster is away. */
const DOWN_MS = 3_000;
const MOST_DUPLICATES = 0.01;
/** Statuses that callers may see while a part of the database is away. After 503 they can repeat the request. */
const ALLOWED: ReadonlySet<string> = new Set(['200', '503']);

interface Instance {
  readonly id: number;
  readonly token: string;
  readonly account: string;
}

/**
 * Two processes with ROLE=api and two with ROLE=worker run under load. A worker process is frozen and woken, then each node of the database
 * crashes, the coordinator last. Every acknowledged event must be delivered.
 */
export function processes(options: ProcessOptions): Scenario {
  return async (stage) => {
    const services: RunningService[] = [];
    const run = (dataDir: string) => {
      const start = async (role: 'api' | 'worker') => {
        const environment = { ...settingsOn(stage.database.url), ROLE: role };
        const service = await startService({ dataDir, environment, stdio: STDIO });
        services.push(service);
        return service;
      };
      return runProcesses(stage, { ...options, start }).finally(() => Promise.all(services.map(({ stop }) => stop())));
    };
    return withDataDir(run);
  };
}

interface RunOptions extends ProcessOptions {
  readonly start: (role: 'api' | 'worker') => Promise<RunningService>;
}

async function runProcesses(stage: Stage, options: RunOptions): Promise<readonly Promised[]> {
  const { start, frozenMs, perSecond, secondsBetween } = options;
  const { knex, nodes } = stage.database;
  // The service creates its own account.
  await knex('account').delete();
  await knex('organization').delete();
  const apis = [await start('api'), await start('api')];
  const [worker] = await Promise.all([start('worker'), start('worker')]);
  const instances = await createInstances(apis, stage.receiver.url);
  const events = createLoad(perSecond, (number) => publish(apis, instances, number));
  const queries = createLoad(perSecond, (number) => query(apis, instances, number));

  await sleep(secondsBetween * 1000);
  worker.child.kill('SIGSTOP');
  await sleep(frozenMs);
  worker.child.kill('SIGCONT');
  await sleep(secondsBetween * 1000);
  for (const node of [...nodes.slice(1), ...nodes.slice(0, 1)]) {
    await node.crash(nodes.length > 1 ? DOWN_MS : 0);
    await sleep(secondsBetween * 1000);
  }
  const published = await events.stop();
  const queried = await queries.stop();

  const { left } = await drained(knex, { timeoutMs: DRAIN_MS });
  const { numbers, duplicates } = await stage.receiver.numbers();
  const lost = countLost(published.done, numbers);
  const share = duplicates / Math.max(1, numbers.length);
  return [
    {
      promise: `2 API and 2 worker processes, one frozen for ${frozenMs / 1000} s, ${nodes.length} crashes of ${nodes.length > 1 ? 'nodes, the coordinator last' : 'PostgreSQL'}: lost = 0`,
      found: `${published.done.size} acknowledged, ${numbers.length} arrived, ${lost} lost`,
      kept: lost === 0 && published.done.size > 0,
    },
    { promise: 'nothing is left undelivered', found: `${left} left`, kept: left === 0 },
    {
      promise: `duplicates < ${MOST_DUPLICATES * 100} %`,
      found: `${duplicates} (${(share * 100).toFixed(2)} %)`,
      kept: share < MOST_DUPLICATES,
    },
    { promise: 'publishers see 200 or 503', found: published.seen(), kept: published.sawOnly(ALLOWED) },
    { promise: 'queries see 200 or 503', found: queried.seen(), kept: queried.sawOnly(ALLOWED) },
  ];
}

/** Creates instances in several accounts, so that all nodes of a cluster have some. */
async function createInstances(apis: readonly RunningService[], url: string): Promise<readonly Instance[]> {
  const { call } = pick(apis, 0);
  const instances: Instance[] = [];
  for (let index = 0; index < ACCOUNTS; index++) {
    const account = `account-${index}`;
    await call('/accounts', { body: { externalId: account, name: account } });
    const configuration = {
      ...DEMO,
      'event.notification.enabled': true,
      'event.notification.callback.url': `${url}/processes/${index}`,
    };
    const body = { element: { key: 'bamboohr' }, name: account, configuration };
    const made = await call<Omit<Instance, 'account'>>('/instances', { body, headers: inAccount(account) });
    instances.push({ ...made, account });
  }
  return instances;
}

function publish(apis: readonly RunningService[], instances: readonly Instance[], number: number): Promise<unknown> {
  const { id, account } = pick(instances, number);
  const body = { instanceId: id, data: { objectId: writeObjectId(number, nowMicros()) } };
  const signal = AbortSignal.timeout(PATIENCE_MS);
  return pick(apis, number).call('/events/test', { body, headers: inAccount(account), signal });
}

function query(apis: readonly RunningService[], instances: readonly Instance[], number: number): Promise<unknown> {
  const { token, account } = pick(instances, number);
  // The authorization of the platform beside the token names the organization in which the account is.
  const headers = { ...inAccount(account), authorization: `${pick(apis, number).authorization}, Element ${token}` };
  return pick(apis, number).call(`/employees?${QUERY}`, { headers, signal: AbortSignal.timeout(PATIENCE_MS) });
}

function inAccount(account: string) {
  return { 'elements-account-id': account };
}

function pick<Item>(items: readonly Item[], number: number): Item {
  const item = items[number % items.length];
  if (item === undefined) throw new Error('There is none');
  return item;
}

/** Sends requests at a fixed rate, even if earlier ones are still in progress, until it is stopped. */
function createLoad(perSecond: number, send: (number: number) => Promise<unknown>) {
  const done = new Set<number>();
  const counts = new Map<string, number>();
  const texts = new Map<string, unknown>();
  const running = new Set<Promise<void>>();
  let number = 0;
  let longestMs = 0;

  async function sendOne(own: number): Promise<void> {
    const startedAt = performance.now();
    let outcome = '200';
    try {
      await send(own);
      done.add(own);
    } catch (error) {
      outcome = error instanceof CallError ? String(error.status) : 'no response';
      if (!texts.has(outcome)) texts.set(outcome, error);
    }
    longestMs = Math.max(longestMs, performance.now() - startedAt);
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  }

  const timer = setInterval(() => {
    const sent = sendOne(++number).finally(() => running.delete(sent));
    running.add(sent);
  }, 1000 / perSecond);

  return {
    stop: async () => {
      clearInterval(timer);
      await Promise.all(running);
      for (const [outcome, text] of texts) if (!ALLOWED.has(outcome)) console.error(outcome, text);
      return {
        done,
        seen: () =>
          `${[...counts].map(([outcome, count]) => `${count} × ${outcome}`).join(', ')}, longest ${Math.round(longestMs)} ms`,
        sawOnly: (allowed: ReadonlySet<string>) => [...counts.keys()].every((outcome) => allowed.has(outcome)),
      };
    },
  };
}
