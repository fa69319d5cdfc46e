import { once } from 'node:events';
import { createServer } from 'node:http';
import type {
  Config,
  ConnectorContext,
  Failure,
  FailureKind,
  ListInput,
  ObjectSpec,
  Operation,
  ProviderRequest,
  PushedField,
} from '#connector';
import { withoutThreads } from '../../test/support/discover-all.ts';
import { judge } from '../../test/support/judge.ts';
import salesforce from './index.ts';
import { createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

/** For tests: the connector with its simulator behind it, and no core in between. */
export interface Connection {
  readonly context: ConnectorContext;
  /** `GET /query?q=…`, decoded, in the order they were sent. */
  readonly requests: readonly string[];
  /** With its fields. */
  readonly describe: (name: string) => Promise<ObjectSpec>;
  readonly run: <Input, Output>(operation: Operation<Input, Output> | undefined, input: Input) => Promise<Output>;
}

export interface RunningSimulator {
  readonly url: string;
  readonly connect: (config?: Config) => Connection;
  readonly stop: () => Promise<void>;
}

export async function startSimulator(): Promise<RunningSimulator> {
  const server = createServer((request, response) => simulator.handle(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The simulator listens on no port.');
  const url = `http://127.0.0.1:${address.port}`;
  const simulator = createSimulator({ baseUrl: url });
  return {
    url,
    connect: (config = {}) => connect(url, { ...DEMO_CONFIGURATION, ...config }),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function connect(simulatorUrl: string, config: Config): Connection {
  const requests: string[] = [];
  const context: ConnectorContext = {
    config,
    signal: new AbortController().signal,
    send: async (request) => {
      const url = targetOf(config, request);
      requests.push(`${request.method ?? 'GET'} ${decodeURIComponent(url.pathname + url.search)}`);
      return exchange(simulatorUrl, url, request);
    },
  };
  return {
    context,
    requests,
    describe: (name) => describeObject(context, name),
    run: async (operation, input) => {
      if (operation === undefined) throw new Error('The object has no such operation.');
      if ('run' in operation) return operation.run(context, input);
      return operation.read(await context.send(operation.request(input, config)), input);
    },
  };
}

async function describeObject(connector: ConnectorContext, name: string): Promise<ObjectSpec> {
  const context = withoutThreads(connector);
  const objects = typeof salesforce.objects === 'function' ? await salesforce.objects(context) : salesforce.objects;
  const object = await objects[name]?.describe?.(context);
  if (object === undefined) throw new Error(`There is no object '${name}'.`);
  return object;
}

function targetOf(config: Config, { url, path = '', query = {} }: ProviderRequest): URL {
  const base = salesforce.baseUrl(config);
  const target = new URL(url === undefined ? base + path : url, base);
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  if (pairs.length > 0) target.search = pairs.join('&');
  return target;
}

/** An answer that the connector calls a failure. */
export class FailedError extends Error {
  readonly kind: FailureKind;

  constructor({ kind, message }: Failure & { readonly kind: FailureKind }, body: unknown) {
    super(message ?? JSON.stringify(body));
    this.kind = kind;
  }
}

async function exchange(simulatorUrl: string, url: URL, request: ProviderRequest) {
  const answer = await fetch(simulatorUrl + url.pathname + url.search, {
    method: request.method ?? 'GET',
    headers: {
      authorization: `Bearer ${DEMO_ACCESS_TOKEN}`,
      forwarded: `host=${url.host}`,
      'content-type': 'application/json',
      ...request.headers,
    },
    body: request.json === undefined ? null : JSON.stringify(request.json),
  });
  const text = await answer.text();
  const response = {
    status: answer.status,
    headers: Object.fromEntries(answer.headers),
    body: text === '' ? undefined : JSON.parse(text),
  };
  const failure = judge(salesforce, response, request.method);
  if (failure !== undefined) throw new FailedError(failure, response.body);
  return response;
}

export function fieldOf(object: ObjectSpec, name: string): PushedField {
  const spec = object.fields[name];
  if (spec === undefined) throw new Error(`There is no field '${name}'.`);
  return { ...spec, name, native: spec.native ?? name };
}

/** A list request with the named fields, and nothing else unless given. */
export function listOf(object: ObjectSpec, names: readonly string[], more: Partial<ListInput<unknown>> = {}) {
  const fields = names.map((name) => fieldOf(object, name));
  return { parameters: {}, fields, orderBy: [], limit: 2000, ...more };
}
