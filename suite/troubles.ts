import type { Connector, ListPage } from '#connector';
import { type ErrorCode, isAppError, reasonOf } from '../src/errors.ts';
import { type ServedSimulator, serveSimulator } from './served.ts';
import { spread } from './soundness.ts';
import type { Subject } from './subject.ts';
import { idOf, type Listing } from './target.ts';
import { allFields, type Connection, type ConnectOptions, connect, failureOf, tokensIn } from './testing.ts';

/** A trouble at the provider, as the simulator kit names it, and the error that a caller must receive. */
interface Case {
  readonly trouble: string;
  readonly expected: readonly ErrorCode[];
  /** The wait that the caller must receive. */
  readonly retryAfterSeconds?: number;
  /** The operation that receives the trouble. Default: a list. */
  readonly operation?: 'get';
  /** A shorter time-out than the connector's, so that the suite does not wait for it. */
  readonly timeoutMs?: number;
}

/**
 * The troubles. Some providers use one status for several failures, with a code that the trouble lacks. None of them may count as a
 * success.
 */
const CASES: readonly Case[] = [
  { trouble: '401', expected: ['INSTANCE_CREDENTIALS_FAILED'] },
  { trouble: '403', expected: ['PROVIDER_REJECTED', 'INSTANCE_CREDENTIALS_FAILED'] },
  { trouble: '404', expected: ['NOT_FOUND'], operation: 'get' },
  { trouble: '409', expected: ['PROVIDER_REJECTED', 'CONFLICT'] },
  { trouble: '422', expected: ['PROVIDER_REJECTED'] },
  { trouble: '429; retry-after=7', expected: ['PROVIDER_RATE_LIMITED'], retryAfterSeconds: 7 },
  { trouble: '429; retry-after=none', expected: ['PROVIDER_RATE_LIMITED'], retryAfterSeconds: 60 },
  { trouble: '500', expected: ['PROVIDER_UNAVAILABLE'] },
  { trouble: '503; retry-after=3', expected: ['PROVIDER_UNAVAILABLE'], retryAfterSeconds: 3 },
  { trouble: 'slow; ms=2000', expected: ['PROVIDER_TIMEOUT'], timeoutMs: 150 },
  { trouble: 'cut', expected: ['PROVIDER_UNAVAILABLE', 'PROVIDER_PROTOCOL'] },
  { trouble: 'html', expected: ['PROVIDER_PROTOCOL'] },
  { trouble: 'html; status=503', expected: ['PROVIDER_UNAVAILABLE'] },
  { trouble: 'shape', expected: ['PROVIDER_PROTOCOL'] },
];

/** Number of troubled requests. No operation sends as many. */
const EVERY = 1000;

interface Stage {
  readonly provider: ServedSimulator;
  readonly connector: Connector;
  readonly config: Subject['target']['configuration'];
  /** The listing of an object, not one below a record. */
  readonly listing: Listing;
}

/** Causes trouble at the provider, and returns where a caller receives a wrong error. Empty if the provider is no simulator. */
export async function meetTroubles({
  createSimulator,
  target,
  large,
  listings,
  effort,
}: Subject): Promise<readonly string[]> {
  const listing = [...large, ...listings].find(({ path }) => !path.slice(1).includes('/'));
  if (createSimulator === undefined || listing === undefined) return [];
  const { connector, configuration: config } = target;
  const provider = await serveSimulator(connector.key, createSimulator);
  const stage: Stage = { connector, provider, config, listing };
  try {
    const faults: string[] = [];
    for (const each of spread(CASES, effort.troubles)) faults.push(...(await meet(stage, each)));
    for (const check of [recover, runInCircles, refuseCredentials, replaceToken]) faults.push(...(await check(stage)));
    return faults;
  } finally {
    await provider.stop();
  }
}

function connectTo({ connector, provider, config }: Stage, more: Partial<ConnectOptions> = {}): Connection {
  return connect(connector, { config, simulatorsUrl: provider.simulatorsUrl, ...more });
}

async function withTrouble<Result>(
  { provider }: Stage,
  plan: { readonly trouble: string; readonly times: number },
  run: () => Promise<Result>,
): Promise<Result> {
  await provider.command('/simulate/trouble', plan);
  try {
    return await run();
  } finally {
    await provider.command('/simulate/trouble', {}, 'DELETE');
  }
}

async function meet(stage: Stage, each: Case): Promise<readonly string[]> {
  const { trouble, expected, retryAfterSeconds, operation = 'list', timeoutMs } = each;
  const { connector, listing } = stage;
  if (operation === 'get' && listing.object.get === undefined) return [];
  const connection = connectTo(timeoutMs === undefined ? stage : { ...stage, connector: { ...connector, timeoutMs } });
  const call = () => OPERATIONS[operation](connection, listing);
  const outcome = await withTrouble(stage, { trouble, times: EVERY }, () => failureOf(call()).catch(toError));
  const code = 'code' in outcome ? outcome.code : undefined;
  if (!expected.some((one) => one === code)) {
    return [
      `'${trouble}' at a ${operation} is reported as ${code ?? outcome.name} instead of ${expected.join(' or ')}: ${wordsOf(outcome)}`,
    ];
  }
  const reported = 'retryAfterSeconds' in outcome ? outcome.retryAfterSeconds : undefined;
  const isReported = retryAfterSeconds === undefined || reported === retryAfterSeconds;
  return isReported ? [] : [`'${trouble}' tells the caller to wait ${reported} s instead of ${retryAfterSeconds} s`];
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** Returns the message with the reason, for a response that the connector cannot read. */
function wordsOf(error: Error): string {
  return isAppError(error) ? reasonOf(error) : error.message;
}

const OPERATIONS = {
  list: (connection: Connection, { object }: Listing) => connection.list(object),
  get: (connection: Connection, listing: Listing) => {
    const [first] = listing.rows;
    if (first === undefined) throw new Error(`There is no record of ${listing.name}.`);
    return connection.run(listing.object.get, { id: idOf(listing, first), fields: allFields(listing.object) });
  },
} as const;

/** Checks that a temporary failure is retried, so that the caller does not see it. */
async function recover(stage: Stage): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const trouble of ['429; retry-after=0', '503; retry-after=0']) {
    const connection = connectTo(stage, { retry: true });
    const list = () => connection.list(stage.listing.object).then(() => undefined, toError);
    const error = await withTrouble(stage, { trouble, times: 1 }, list);
    if (error !== undefined) faults.push(`a list is not retried after one '${trouble}': ${wordsOf(error)}`);
  }
  return faults;
}

/** Number of rows per page, so that there are several pages. */
const PAGE = 2;

/** Checks that a list whose next page never changes ends or is rejected. */
async function runInCircles(stage: Stage): Promise<readonly string[]> {
  const { object, rows } = stage.listing;
  const connection = connectTo(stage);
  const walk = async () => {
    let cursor: string | undefined;
    for (let pages = 0; pages <= rows.length + 1; pages++) {
      const page: ListPage = await connection.list(object, { limit: PAGE, ...(cursor !== undefined && { cursor }) });
      cursor = page.next;
      if (cursor === undefined) return undefined;
    }
    return new Error('it does not end');
  };
  const outcome = await withTrouble(stage, { trouble: 'stuck', times: EVERY * PAGE }, () => walk().catch(toError));
  const isRight = outcome === undefined || ('code' in outcome && outcome.code === 'PROVIDER_PROTOCOL');
  return isRight ? [] : [`a list whose next page is always the same: ${wordsOf(outcome)}`];
}

/** Checks the error when every secret of the configuration is wrong, including the token. */
async function refuseCredentials(stage: Stage): Promise<readonly string[]> {
  const { connector, config } = stage;
  const keys = [...connector.configuration.filter(({ secret }) => secret).map(({ key }) => key), 'oauth.user.token'];
  const given = keys.filter((key) => typeof config[key] === 'string');
  if (given.length === 0) return [];
  const wrong = Object.fromEntries(given.map((key) => [key, 'wrong-credential']));
  const connection = connectTo({ ...stage, config: { ...config, ...wrong } });
  const outcome = await failureOf(connection.context.send(connector.probe)).catch(toError);
  const isRefused = 'code' in outcome && outcome.code === 'INSTANCE_CREDENTIALS_FAILED';
  return isRefused ? [] : [`wrong credentials at the probe: ${wordsOf(outcome)}`];
}

/** Checks that an expired OAuth access token is replaced once, and that the caller does not see it. */
async function replaceToken(stage: Stage): Promise<readonly string[]> {
  const good = tokensIn(stage.config);
  if (stage.connector.auth.type !== 'oauth2' || good === undefined) return [];
  let replaced = 0;
  const connection = connectTo(stage, {
    tokens: {
      current: async () => 'expired-token',
      replace: async (_refused, signal) => {
        replaced++;
        return good.current(signal);
      },
    },
  });
  const error = await connection.list(stage.listing.object).then(() => undefined, toError);
  if (error !== undefined) return [`an expired access token is not replaced: ${wordsOf(error)}`];
  return replaced === 1 ? [] : [`an expired access token is replaced ${replaced} times`];
}
