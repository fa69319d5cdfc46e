import { rm } from 'node:fs/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { createOrganization, type FirstCredentials } from '../../src/accounts/new-organization.ts';
import { type App, type AppPorts, startApp } from '../../src/app/index.ts';
import { readConfig, type ServiceConfig } from '../../src/config/index.ts';
import { openDatabase } from '../../src/db/database.ts';
import { createKeyring } from '../../src/db/keyring.ts';
import { openPlatformKeys } from '../../src/db/platform-keys.ts';
import { createLogger } from '../../src/log.ts';
import { SYSTEM_RANDOM } from '../../src/platform.ts';
import './lazy-response-validators.ts';
import { copyDatabase, createTemporaryFolder, createTestDatabase, silentLog } from './database.ts';
import { isDistributedRun, query } from './nodes.ts';

/** A response of the API. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  // Tests read bodies whose shape has already been validated against the spec.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly body: any;
}

export interface ApiCall {
  readonly method?: string;
  readonly query?: Readonly<Record<string, string | number | readonly string[] | undefined>>;
  /** Body of the request. It is sent as JSON; a string and a form are sent unchanged. */
  readonly body?: unknown;
  /** Whether the body of the response is returned as a Buffer. */
  readonly asBytes?: boolean;
  /** Headers of the request. An empty `authorization` is left out. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Token of an instance. With it, the call is on the instance. */
  readonly token?: string;
}

/** The ways in which tests call the API. Paths are below the base path. */
export interface Client {
  readonly call: (path: string, call?: ApiCall) => Promise<ApiAnswer>;
  readonly send: (method: string, path: string, body?: unknown, more?: ApiCall) => Promise<ApiAnswer>;
  /** Sends a request. @returns the body of the response. @throws when the status is not 200 */
  readonly change: (method: string, path: string, body?: unknown, more?: ApiCall) => Promise<ApiAnswer['body']>;
  /** Sends a GET request. @returns the body of the response. @throws when the status is not 200 */
  readonly get: (path: string, call?: ApiCall) => Promise<ApiAnswer['body']>;
  /** Creates an instance. @returns the response. @throws when the status is not 200 */
  readonly createInstance: (element: string, configuration: object, more?: object) => Promise<ApiAnswer['body']>;
}

/** A running service whose responses are validated against the spec, with the credentials for calls. */
export interface TestApp extends FirstCredentials, Client {
  readonly app: App;
  /** All lines that the service has logged. */
  readonly logged: readonly string[];
  readonly databaseUrl: string;
}

export const ORGANIZATION_SECRET = 'organization-secret-of-the-tests';
export const USER_SECRET = 'user-secret-of-the-tests';
/** The credentials of a service that a test starts. */
export const FIRST_CREDENTIALS: FirstCredentials = {
  organizationSecret: ORGANIZATION_SECRET,
  userSecret: USER_SECRET,
  organizationId: 1,
  accountId: 1,
  userId: 1,
};
export const ENCRYPTION_KEYS = `test:${Buffer.alloc(32, 7).toString('base64')}`;

/** Options that are no environment variables, such as shorter times. */
export type AppOverrides = Pick<
  AppPorts,
  | 'engineOptions'
  | 'pollerOptions'
  | 'bulkOptions'
  | 'formulaOptions'
  | 'recorderOptions'
  | 'rateBudgetOptions'
  | 'connectors'
  | 'simulatorsUrl'
>;

type Environment = Readonly<Record<string, string>>;

/**
 * Starts a service before the tests of the calling suite, and stops it after them. `environment` can be a function, which is called after
 * the servers that it names have started.
 */
export function useApp(environment: Environment | (() => Environment) = {}, overrides: AppOverrides = {}): TestApp {
  let started: StartedApp | undefined;

  before(async function start() {
    this.timeout(60_000);
    started = await startTestApp(typeof environment === 'function' ? environment() : environment, overrides);
  });

  after(async () => {
    await started?.stop();
    // Releases the memory of the service, because a run starts hundreds of them.
    started = undefined;
  });

  return onceStarted(() => started, FIRST_CREDENTIALS);
}

/** Starts another service on the database and the simulators of one. */
export function useAnotherProcess(one: TestApp): TestApp {
  return useApp(() => ({
    DATABASE_URL: one.databaseUrl,
    SIMULATORS_PORT: 'off',
    SIMULATORS_URL: one.app.simulatorsUrl ?? '',
  }));
}

/** Options that distinguish a shared service from others of the process. Functions could not be compared. */
type SharedOverrides = Pick<AppOverrides, 'engineOptions' | 'pollerOptions' | 'formulaOptions' | 'recorderOptions'>;

interface SharedService {
  readonly started: Promise<StartedApp>;
  /** Number of suites that use it now. */
  users: number;
  idle?: NodeJS.Timeout;
}

const shared = new Map<string, SharedService>();
const stopping = new Set<Promise<void>>();

/** A service that does nothing needs as much CPU time in this time as the start of another one. */
const IDLE_MS = 25_000;

// Mocha's workers are ended after their last file, and the database ends with the server of the run.
if (typeof after === 'function' && process.env.MOCHA_WORKER_ID === undefined) {
  after(async function stopShared() {
    this.timeout(60_000);
    for (const key of shared.keys()) stopSharedService(key);
    await Promise.all(stopping);
  });
}

function joinSharedService(key: string, start: () => Promise<StartedApp>): SharedService {
  const service: SharedService = shared.get(key) ?? { started: start(), users: 0 };
  shared.set(key, service);
  clearTimeout(service.idle);
  service.users += 1;
  return service;
}

function leaveSharedService(key: string, service: SharedService): void {
  service.users -= 1;
  if (service.users === 0) service.idle = setTimeout(() => stopSharedService(key), IDLE_MS).unref();
}

/** A later suite starts another one. */
function stopSharedService(key: string): void {
  const service = shared.get(key);
  if (service === undefined) return;
  shared.delete(key);
  clearTimeout(service.idle);
  const stopped = service.started.then(({ stop }) => stop());
  stopping.add(stopped);
  // The hook after all tests sees a failure in `stopping`, and in a worker it fails as an unhandled rejection.
  void stopped.then(() => stopping.delete(stopped));
}

/**
 * Gives the suite its own organization, with one account and one administrator, on a service that all suites of this process share. It is
 * for suites that neither change nor count what belongs to the whole service, such as the records of the simulators. `logged` begins with
 * the suite.
 */
export function useSharedApp(environment: Environment = {}, overrides: SharedOverrides = {}): TestApp {
  const key = JSON.stringify([environment, overrides]);
  let joined: SharedService | undefined;
  let started: StartedApp | undefined;
  const credentials: FirstCredentials = { ...FIRST_CREDENTIALS };

  before(async function join() {
    this.timeout(60_000);
    joined = joinSharedService(key, () => startTestApp(environment, overrides));
    const service = await joined.started;
    Object.assign(credentials, await addOrganization(service.databaseUrl, this.test?.parent?.title ?? 'Tests'));
    service.logged.length = 0;
    started = service;
  });

  after(() => {
    started = undefined;
    if (joined !== undefined) leaveSharedService(key, joined);
  });

  return onceStarted(() => started, credentials);
}

async function addOrganization(databaseUrl: string, name: string): Promise<FirstCredentials> {
  const database = openDatabase({ url: databaseUrl, poolSize: 1, log: silentLog });
  try {
    const { knex } = database;
    const keyring = createKeyring(ENCRYPTION_KEYS);
    const platform = { knex, keyring, keys: await openPlatformKeys({ knex, keyring }), random: SYSTEM_RANDOM };
    const user = { emailAddress: 'admin@example.com', firstName: 'First', lastName: 'User' };
    return await createOrganization(platform, { name, ...user }, async () => {});
  } finally {
    await database.close();
  }
}

/** Returns a service with these secrets that can be used after it has started. */
function onceStarted(find: () => StartedApp | undefined, credentials: FirstCredentials): TestApp {
  const current = (): StartedApp => {
    const started = find();
    if (started === undefined) throw new Error('The service of this suite has not started yet.');
    return started;
  };
  const call: TestApp['call'] = (path, input = {}) => callApi(current().app.baseUrl + path, input, credentials);
  return {
    get app() {
      return current().app;
    },
    get logged() {
      return current().logged;
    },
    get databaseUrl() {
      return current().databaseUrl;
    },
    get organizationSecret() {
      return credentials.organizationSecret;
    },
    get userSecret() {
      return credentials.userSecret;
    },
    get organizationId() {
      return credentials.organizationId;
    },
    get accountId() {
      return credentials.accountId;
    },
    get userId() {
      return credentials.userId;
    },
    ...clientOf(call),
  };
}

/** Returns the ways to call that `call` makes possible. */
export function clientOf(call: Client['call']): Client {
  const get: Client['get'] = async (path, given) =>
    bodyOf(await call(path, given), `${given?.method ?? 'GET'} ${path}`);
  const change: Client['change'] = (method, path, body, more) => get(path, { ...more, method, body });
  return {
    call,
    send: (method, path, body, more) => call(path, { ...more, method, body }),
    change,
    get,
    createInstance: (element, configuration, more) =>
      change('POST', '/instances', { element: { key: element }, name: 'Test', configuration, ...more }),
  };
}

/** Returns the body of a response. @throws when the status is not 200 */
export function bodyOf({ status, body }: ApiAnswer, request = 'The request'): ApiAnswer['body'] {
  if (status !== 200) throw new Error(`${request} returned ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** Returns one member of each row of a body. */
export function pluck(rows: readonly ApiAnswer['body'][], name: string): ApiAnswer['body'][] {
  return rows.map((row) => row[name]);
}

export type StartedApp = TestApp & { readonly logged: string[]; readonly stop: () => Promise<void> };

/** Starts a service, for tests that start more than one. Pass the same `DATABASE_URL` to share a database. */
export async function startTestApp(
  environment: Readonly<Record<string, string>> = {},
  overrides: AppOverrides = {},
): Promise<StartedApp> {
  const databaseUrl = environment.DATABASE_URL ?? (await createServiceDatabase());
  const dataDir = await createTemporaryFolder();
  const logged: string[] = [];
  const log = createLogger({
    level: 'debug',
    destination: { write: (line: string) => void logged.push(line) },
  });
  const app = await startApp({
    config: testConfig({ DATABASE_URL: databaseUrl, DATA_DIR: dataDir, ...environment }),
    database: { url: databaseUrl },
    log,
    ...overrides,
  });

  const call: TestApp['call'] = (path, input = {}) => callApi(app.baseUrl + path, input, FIRST_CREDENTIALS);
  return {
    app,
    logged,
    databaseUrl,
    ...FIRST_CREDENTIALS,
    ...clientOf(call),
    stop: async () => {
      await app.stop();
      await rm(dataDir, { recursive: true });
    },
  };
}

let started: Promise<string> | undefined;

/**
 * Creates an empty database with the partitions and queues that a service creates at its first start, because creating them costs more than
 * the rest of a start.
 */
async function createServiceDatabase(): Promise<string> {
  started ??= startOnce();
  return copyDatabase(await started);
}

async function startOnce(): Promise<string> {
  const url = await createTestDatabase();
  const dataDir = await createTemporaryFolder();
  const config = testConfig({ DATABASE_URL: url, DATA_DIR: dataDir, SIMULATORS_PORT: 'off' });
  const app = await startApp({ config, database: { url }, log: silentLog, connectors: [] });
  await app.stop();
  await rm(dataDir, { recursive: true });
  await query(url, isDistributedRun ? TRUNCATE_TABLES : EMPTY_TABLES);
  return url;
}

/** Deletes all rows. `truncate` would create the files of all tables and indexes again, which takes as long as the start. */
const EMPTY_TABLES = `do $$
declare each record;
begin
  set local session_replication_role = replica;
  for each in
    select oid::regclass as name, relkind from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'S') and not relispartition
      and relname not like 'schema_migration%'
  loop
    execute format(case each.relkind when 'S' then 'select setval(%L, 1, false)' else 'delete from %s' end, each.name);
  end loop;
end $$`;

/** A distributed database knows no deletion without its foreign keys. */
const TRUNCATE_TABLES = EMPTY_TABLES.replace('set local session_replication_role = replica;', '').replace(
  "'delete from %s'",
  "'truncate %s cascade'",
);

function testConfig(environment: Readonly<Record<string, string>>): ServiceConfig {
  return readConfig({
    PORT: '0',
    SIMULATORS_PORT: '0',
    EGRESS_ALLOW: '127.0.0.0/8,::1',
    ENCRYPTION_KEYS,
    BOOTSTRAP_ORGANIZATION_SECRET: ORGANIZATION_SECRET,
    BOOTSTRAP_USER_SECRET: USER_SECRET,
    NODE_ENV: 'test',
    ...environment,
  });
}

async function callApi(
  url: string,
  { method = 'GET', query = {}, body, headers = {}, token, asBytes = false }: ApiCall,
  { organizationSecret, userSecret }: FirstCredentials,
): Promise<ApiAnswer> {
  const partner = token === undefined ? `Organization ${organizationSecret}` : `Element ${token}`;
  const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const { authorization = `User ${userSecret}, ${partner}`, ...others } = given;
  const sent = await encodeBody(body);
  // `fetch` would need more CPU time, and would let the service compress what the test decompresses.
  const response = await request(url + queryText(query), {
    method,
    headers: {
      'user-agent': 'node',
      ...(authorization !== '' && { authorization }),
      ...(sent !== undefined && { 'content-type': sent.type }),
      ...others,
    },
    body: sent?.content ?? null,
  });
  const answer = { status: response.statusCode, headers: readHeaders(response.headers) };
  const bytes = decode(answer.headers.get('content-encoding'), Buffer.from(await response.body.arrayBuffer()));
  if (asBytes) return { ...answer, body: bytes };
  const text = bytes.toString();
  const isJson = answer.headers.get('content-type')?.includes('json') ?? false;
  return { ...answer, body: isJson ? JSON.parse(text) : text };
}

async function encodeBody(body: unknown) {
  if (body === undefined) return undefined;
  if (body instanceof FormData) {
    const form = new Response(body);
    return { type: form.headers.get('content-type') ?? '', content: Buffer.from(await form.arrayBuffer()) };
  }
  return { type: 'application/json', content: typeof body === 'string' ? body : JSON.stringify(body) };
}

/** Decompresses a body. Only tests that send `accept-encoding` get a compressed one. */
function decode(encoding: string | null, bytes: Buffer): Buffer {
  if (bytes.length === 0) return bytes;
  if (encoding === 'gzip') return gunzipSync(bytes);
  return encoding === 'br' ? brotliDecompressSync(bytes) : bytes;
}

function readHeaders(received: Readonly<Record<string, string | readonly string[] | undefined>>): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(received)) {
    for (const value of [values ?? []].flat()) headers.append(name, value);
  }
  return headers;
}

function queryText(query: NonNullable<ApiCall['query']>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one): [string, string] => [name, String(one)]),
  );
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}
