import { Readable } from 'node:stream';
import type {
  Config,
  Connector,
  ConnectorContext,
  ListInput,
  ListPage,
  ObjectSpec,
  Objects,
  Operation,
  ProviderRequest,
  ProviderResponse,
  PushedField,
  StoredUpload,
  UploadInput,
  UploadOperation,
} from '#connector';
import { SYSTEM_CLOCK } from '../src/clock.ts';
import { type AccessTokens, createProviderClient, type ProviderCall } from '../src/connector/client/index.ts';
import { createEgress } from '../src/egress/index.ts';
import { AppError } from '../src/errors.ts';
import { createRecordMapper } from '../src/resources/record.ts';
import { pushedField } from '../src/where/index.ts';
import { discoverAll, withoutThreads } from './discover.ts';
import { type CreateSimulator, type ServedSimulator, serveSimulator } from './served.ts';

/**
 * Tools for tests of one connector, as `#connector/testing`. They run its operations on the client that runs them in the service, without
 * the core above it.
 */

export { callProvider, type TestCall } from './call.ts';
export { discoverAll, withoutThreads } from './discover.ts';
export { judge } from './judge.ts';
export { type CreateSimulator, type ServedSimulator, serveSimulator } from './served.ts';

/** A record under the names of the API. */
export type Row = Readonly<Record<string, unknown>>;

/** A connection to one account at the provider. */
export interface Connection {
  readonly context: ConnectorContext;
  /** Every request so far, as the provider sees it: `GET https://…`. Retries and redirects are included. */
  readonly requests: readonly string[];
  /**
   * Runs an operation.
   * @throws AppError as in the API
   */
  readonly run: <Input, Output>(operation: Operation<Input, Output> | undefined, input: Input) => Promise<Output>;
  /**
   * Sends a file.
   * @throws AppError as in the API
   */
  readonly upload: <Input extends UploadInput>(
    operation: UploadOperation<Input> | undefined,
    input: Input,
    bytes: Uint8Array,
  ) => Promise<StoredUpload>;
  /** Lists one page of native records. By default, the fields are those of a request that names none. */
  readonly list: (object: ObjectSpec, input?: Partial<ListInput<unknown>>) => Promise<ListPage>;
  /** Lists all rows under the names of the API, page by page. */
  readonly listAll: (object: ObjectSpec, input?: Partial<ListInput<unknown>>) => Promise<readonly Row[]>;
  /** Finds all objects with their fields. */
  readonly discover: () => Promise<DiscoveredConnection>;
  /** Finds one object with its fields, as the service does. */
  readonly describe: (name: string) => Promise<ObjectSpec>;
}

/** A connection with all its objects. */
export interface DiscoveredConnection extends Connection {
  readonly objects: Objects;
  /**
   * Returns an object by its name.
   * @throws Error if there is none
   */
  readonly object: (name: string) => ObjectSpec;
}

export interface ConnectOptions {
  readonly config: Config;
  /** The address of the simulators. If it is set, the instance is one on a simulator. */
  readonly simulatorsUrl?: string;
  /** The access tokens of a connector with OAuth. Default: `oauth.user.token` of the configuration, without expiry. */
  readonly tokens?: AccessTokens;
  /** A function that is called after every successful call. */
  readonly onExchange?: (request: ProviderRequest, response: ProviderResponse) => void;
  /** Whether to retry temporary failures, without waiting. Default false. */
  readonly retry?: boolean;
}

/** Connects to a simulator, or to a server on this machine. No other address can be reached. */
export function connect(connector: Connector, options: ConnectOptions): Connection {
  const { simulatorsUrl, retry = false } = options;
  const requests: string[] = [];
  const config = {
    ...withDefaults(connector, options.config),
    ...(simulatorsUrl !== undefined && { simulator: true }),
  };
  const egress = createEgress({ allow: ['127.0.0.0/8'], simulatorsUrl, keepAliveMs: 1000 });
  const client = createProviderClient({
    egress,
    // Waits between retries end at once.
    clock: { ...SYSTEM_CLOCK, after: (_ms, call) => SYSTEM_CLOCK.after(0, call) },
    random: { fraction: () => 0 },
    report: ({ method, url }) => void requests.push(`${method} ${url}`),
    ...(simulatorsUrl !== undefined && { simulatorsUrl }),
  });
  const call: ProviderCall = {
    connector,
    config,
    retry,
    signal: new AbortController().signal,
    tokens: options.tokens ?? tokensIn(config),
  };
  const { onExchange } = options;
  const reported = (given: ConnectorContext): ConnectorContext => ({
    ...given,
    send: async (request) => {
      const response = await given.send(request);
      onExchange?.(request, response);
      return response;
    },
  });
  const context = reported({ config, signal: call.signal, send: (request) => client.send(call, request) });
  const upload: Connection['upload'] = async (operation, input, bytes) => {
    if (operation === undefined) throw new Error('There is no such operation.');
    return client.upload(operation, { input, bytes: Readable.from([Buffer.from(bytes)]) }, call);
  };
  return createConnection({ connector, context, requests, upload }, (operation, input) =>
    client.execute({ run: (given) => runIn(reported(given), operation, input) }, input, call),
  );
}

/** Runs an operation of a connector. */
export async function runIn<Input, Output>(
  context: ConnectorContext,
  operation: Operation<Input, Output>,
  input: Input,
): Promise<Output> {
  if ('run' in operation) return operation.run(context, input);
  return operation.read(await context.send(operation.request(input, context.config)), input);
}

type Execute = <Input, Output>(operation: Operation<Input, Output>, input: Input) => Promise<Output>;

interface Parts {
  readonly connector: Connector;
  readonly context: ConnectorContext;
  readonly requests: readonly string[];
  readonly upload: Connection['upload'];
}

function createConnection({ connector, context, requests, upload }: Parts, execute: Execute): Connection {
  const run: Connection['run'] = async (operation, input) => {
    if (operation === undefined) throw new Error('There is no such operation.');
    return execute(operation, input);
  };
  const list: Connection['list'] = async (object, input) => run(object.list, listInputOf(object, input));
  const connection: Connection = {
    context,
    requests,
    run,
    upload,
    list,
    listAll: (object, input) => listAll(list, object, input),
    discover: async () => {
      const objects = await execute({ run: (given) => discoverAll(connector.objects, given) }, undefined);
      return { ...connection, objects, object: (name) => objectOf(objects, name) };
    },
    describe: (name) => execute({ run: (given) => describeObject(connector, given, name) }, undefined),
  };
  return connection;
}

async function describeObject(connector: Connector, context: ConnectorContext, name: string): Promise<ObjectSpec> {
  const discovery = withoutThreads(context);
  const objects = typeof connector.objects === 'function' ? await connector.objects(discovery) : connector.objects;
  const object = objectOf(objects, name);
  return (await object.describe?.(discovery)) ?? object;
}

function listInputOf(object: ObjectSpec, input: Partial<ListInput<unknown>> = {}): ListInput<unknown> {
  return { parameters: {}, fields: listedFields(object), orderBy: [], limit: maxPageSizeOf(object), ...input };
}

function maxPageSizeOf({ list }: ObjectSpec): number {
  return list?.maxPageSize ?? 1;
}

async function listAll(
  list: Connection['list'],
  object: ObjectSpec,
  input: Partial<ListInput<unknown>> = {},
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const { readRecord = (record: unknown) => record } = object.list ?? {};
  for (let cursor: string | undefined; ; ) {
    const page = await list(object, { ...input, ...(cursor !== undefined && { cursor }) });
    const isEmptyEnd = page.records.length === 0 && page.next === undefined;
    if (cursor !== undefined && isEmptyEnd) throw new Error('A cursor led to an empty last page.');
    rows.push(
      ...page.records.map((record) => normalise(object, readRecord(record), input.fields ?? listedFields(object))),
    );
    cursor = page.next;
    if (cursor === undefined) return rows;
  }
}

/** Returns a configuration with the defaults of the connector's keys. */
export function withDefaults({ configuration }: Connector, given: Config): Config {
  const defaults = configuration.flatMap((field) => (field.default === undefined ? [] : [[field.key, field.default]]));
  return { ...Object.fromEntries(defaults), ...given };
}

/** Returns the access token of a configuration, which is treated as if it did not expire. Undefined if there is none. */
export function tokensIn(config: Config): AccessTokens | undefined {
  const accessToken = config['oauth.user.token'];
  if (typeof accessToken !== 'string') return undefined;
  return { current: async () => accessToken, replace: async () => accessToken };
}

/** A simulator of the connector's provider, and connections to it. */
export interface Provider extends ServedSimulator {
  /**
   * Connects to the simulator.
   * @param config values in addition to those given at the start
   */
  readonly connect: (config?: Config, options?: Partial<ConnectOptions>) => Connection;
}

/** Starts a simulator of the connector's provider. */
export async function startProvider(
  connector: Connector,
  createSimulator: CreateSimulator,
  configuration: Config = {},
): Promise<Provider> {
  const served = await serveSimulator(connector.key, createSimulator);
  const { simulatorsUrl } = served;
  return {
    ...served,
    connect: (config, options) =>
      connect(connector, { simulatorsUrl, ...options, config: { ...configuration, ...config } }),
  };
}

/**
 * Returns an object by its name.
 * @throws Error if there is none
 */
export function objectOf(objects: Objects, name: string): ObjectSpec {
  const object = Object.hasOwn(objects, name) ? objects[name] : undefined;
  if (object === undefined)
    throw new Error(`There is no object '${name}'; there are ${Object.keys(objects).join(', ')}.`);
  return object;
}

/**
 * Returns a field by its name.
 * @throws Error if there is none
 */
export function fieldOf(object: ObjectSpec, name: string): PushedField {
  const spec = Object.hasOwn(object.fields, name) ? object.fields[name] : undefined;
  if (spec === undefined) throw new Error(`There is no field '${name}'.`);
  return pushedField(name, spec);
}

/** Returns the fields of a list whose request names none. */
export function listedFields(object: ObjectSpec): readonly PushedField[] {
  return allFields(object).filter(({ unlisted }) => unlisted !== true);
}

/** Returns the fields of a single record. */
export function allFields(object: ObjectSpec): readonly PushedField[] {
  return Object.entries(object.fields)
    .filter(([, { onDemand }]) => onDemand !== true)
    .map(([name, spec]) => pushedField(name, spec));
}

/** Returns a native record under the names and with the values of the API. */
export function normalise(object: ObjectSpec, record: unknown, fields = allFields(object)): Row {
  return createRecordMapper(fields)(record);
}

/**
 * Returns the error of a call that must fail.
 * @throws Error when it succeeds, or fails with an error that is no AppError
 */
export async function failureOf(call: Promise<unknown>): Promise<AppError> {
  const outcome = await call.then(
    () => new Error('The call succeeded, but it must fail.'),
    (error: unknown) => error,
  );
  if (outcome instanceof AppError) return outcome;
  throw outcome;
}
