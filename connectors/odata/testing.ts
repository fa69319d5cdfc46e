import { once } from 'node:events';
import { createServer } from 'node:http';
import {
  type Config,
  type ConnectorContext,
  type FailureKind,
  type ListInput,
  type ListPage,
  notFound,
  type ObjectSpec,
  type Objects,
  type Operation,
  type ProviderRequest,
  type ProviderResponse,
  type PushedField,
} from '#connector';
import { discoverAll } from '../../test/support/discover-all.ts';
import { judge } from '../../test/support/judge.ts';
import odata from './index.ts';
import { createSimulator, type ODataSimulatorOptions } from './simulator.ts';

/** For tests of this connector only: calls its operations over plain HTTP, without retries, budgets or address policy. */
export interface Connection {
  readonly objects: Objects;
  readonly object: (name: string) => ObjectSpec;
  readonly context: ConnectorContext;
  /** Every request so far: `GET https://…`. */
  readonly requests: readonly string[];
  readonly run: <Input, Output>(operation: Operation<Input, Output> | undefined, input: Input) => Promise<Output>;
  /** Follows the pages to the end. */
  readonly listAll: (
    object: ObjectSpec,
    input?: Partial<ListInput<unknown>>,
  ) => Promise<readonly Record<string, unknown>[]>;
}

/** What a service refused, as an error that `isNotFound` knows. */
export type Refusal = Error & { readonly answered: number; readonly kind: FailureKind };

function refusalOf({ status, body }: ProviderResponse, kind: FailureKind): Refusal {
  const text = `${status}: ${JSON.stringify(body)}`;
  const error = kind === 'notFound' ? notFound(text) : new Error(text);
  return Object.assign(error, { answered: status, kind });
}

export function isRefusal(error: unknown): error is Refusal {
  return error instanceof Error && 'answered' in error && 'kind' in error;
}

export interface ConnectOptions {
  /** Where a simulator listens, when the base URL is a made-up host. */
  readonly simulatorOrigin?: string;
  /** No discovery, for tests of what comes before it. */
  readonly objects?: Objects;
}

export async function connect(config: Config, options: ConnectOptions = {}): Promise<Connection> {
  const requests: string[] = [];
  const context: ConnectorContext = {
    config,
    signal: new AbortController().signal,
    send: async (request) => {
      const { url, init } = buildRequest(config, request);
      requests.push(`${init.method} ${url}`);
      return receive(url, init, options.simulatorOrigin);
    },
  };
  const objects = options.objects ?? (await discoverAll(odata.objects, context));
  const run: Connection['run'] = async (operation, input) => {
    if (operation === undefined) throw new Error('The object has no such operation.');
    if ('run' in operation) return operation.run(context, input);
    return operation.read(await context.send(operation.request(input, config)), input);
  };
  return {
    objects,
    object: (name) => {
      const object = objects[name];
      if (object === undefined) throw new Error(`The service has no '${name}'.`);
      return object;
    },
    context,
    requests,
    run,
    listAll: (object, input) => listAll(run, object, input),
  };
}

async function listAll(run: Connection['run'], object: ObjectSpec, input: Partial<ListInput<unknown>> = {}) {
  const records: unknown[] = [];
  let cursor: string | undefined;
  do {
    const complete = {
      parameters: {},
      fields: [],
      orderBy: [],
      limit: 1000,
      ...input,
      ...(cursor !== undefined && { cursor }),
    };
    const page: ListPage = await run(object.list, complete);
    if (cursor !== undefined && page.records.length === 0) throw new Error('A cursor led to an empty page.');
    records.push(...page.records.map(object.list?.readRecord ?? ((record) => record)));
    cursor = page.next;
  } while (cursor !== undefined);
  return records.map((record) => toOurs(object, record));
}

/** A native record under our names and values. Nested members stay inside their object. */
export function toOurs(object: ObjectSpec, record: unknown): Record<string, unknown> {
  if (typeof record !== 'object' || record === null) throw new Error('A record is an object.');
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => {
      const read = object.fields[name]?.read;
      return [name, value === null || read === undefined ? value : read(value)];
    }),
  );
}

export function field(object: ObjectSpec, name: string): PushedField {
  const spec = object.fields[name];
  if (spec === undefined) throw new Error(`There is no field '${name}'.`);
  return { ...spec, name, native: spec.native ?? name };
}

function buildRequest(config: Config, request: ProviderRequest) {
  const base = odata.baseUrl(config).replace(/\/+$/, '');
  const query = Object.entries(request.query ?? {})
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join('&');
  const url = request.url ?? `${base}${request.path ?? ''}${query === '' ? '' : `?${query}`}`;
  const credentials = odata.auth.type === 'basic' ? odata.auth.credentials(config) : undefined;
  const headers: Record<string, string> = {
    ...odata.headers,
    ...(request.json !== undefined && { 'content-type': 'application/json' }),
    ...(credentials && { authorization: `Basic ${btoa(`${credentials.username}:${credentials.password}`)}` }),
    ...request.headers,
  };
  const body = request.json === undefined ? null : JSON.stringify(request.json);
  return { url, init: { method: request.method ?? 'GET', headers, body } };
}

async function receive(
  url: string,
  init: { readonly method: string; readonly headers: Record<string, string>; readonly body: string | null },
  simulatorOrigin: string | undefined,
): Promise<ProviderResponse> {
  const target = new URL(url);
  const headers = simulatorOrigin === undefined ? init.headers : { ...init.headers, forwarded: `host=${target.host}` };
  const address = simulatorOrigin === undefined ? url : `${simulatorOrigin}${target.pathname}${target.search}`;
  const answer = await fetch(address, { ...init, headers });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.includes('json') ?? false;
  const response = {
    status: answer.status,
    headers: Object.fromEntries(answer.headers),
    body: text === '' ? undefined : isJson ? JSON.parse(text) : text,
  };
  const failure = judge(odata, response, init.method);
  if (failure !== undefined) throw refusalOf(response, failure.kind);
  return response;
}

export interface RunningSimulator {
  readonly origin: string;
  readonly connect: (config?: Config) => Promise<Connection>;
  readonly stop: () => Promise<void>;
}

/** Reached through the made-up host demo.example.com, as the platform does it. */
export async function startSimulator(options: Partial<ODataSimulatorOptions> = {}): Promise<RunningSimulator> {
  const simulator = createSimulator({ baseUrl: 'http://unused.example.com', ...options });
  const server = createServer(simulator.handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The simulator listens on no port.');
  const origin = `http://127.0.0.1:${address.port}`;
  return {
    origin,
    connect: (config = {}) =>
      connect({ 'base.url': 'https://demo.example.com/odata/v4/shop', ...config }, { simulatorOrigin: origin }),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
