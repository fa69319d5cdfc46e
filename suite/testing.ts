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

/** For tests of one connector, as `#connector/testing`: its operations on the client that runs them in the service, and no core above it. */

export { discoverAll, withoutThreads } from './discover.ts';
export { judge } from './judge.ts';
export { type CreateSimulator, type ServedSimulator, serveSimulator } from './served.ts';

export type Row = Readonly<Record<string, unknown>>;

/** One account at the provider. */
export interface Connection {
  readonly context: ConnectorContext;
  /** Every request so far, as the provider sees it: `GET https://…`. Retries and redirects are requests, too. */
  readonly requests: readonly string[];
  /** @throws AppError as the API answers it */
  readonly run: <Input, Output>(operation: Operation<Input, Output> | undefined, input: Input) => Promise<Output>;
  /** Sends a file. @throws AppError as the API answers it */
  readonly upload: <Input extends UploadInput>(
    operation: UploadOperation<Input> | undefined,
    input: Input,
    bytes: Uint8Array,
  ) => Promise<StoredUpload>;
  /** One page of the provider's records; unless given, with the fields that a caller gets who names none. */
  readonly list: (object: ObjectSpec, input?: Partial<ListInput<unknown>>) => Promise<ListPage>;
  /** All rows under our names, page by page. */
  readonly listAll: (object: ObjectSpec, input?: Partial<ListInput<unknown>>) => Promise<readonly Row[]>;
  /** Everything that the provider has, with its fields. */
  readonly discover: () => Promise<DiscoveredConnection>;
  /** One object with its fields, found as the service does it. */
  readonly describe: (name: string) => Promise<ObjectSpec>;
}

export interface DiscoveredConnection extends Connection {
  readonly objects: Objects;
  /** @throws Error where there is none of the name */
  readonly object: (name: string) => ObjectSpec;
}

export interface ConnectOptions {
  readonly config: Config;
  /** Where simulators run; the instance is one on the simulator then. */
  readonly simulatorsUrl?: string;
  /** Of a connector with OAuth. Default: the `oauth.user.token` of the configuration, for ever. */
  readonly tokens?: AccessTokens;
  /** Told of every call that succeeded. */
  readonly onExchange?: (request: ProviderRequest, response: ProviderResponse) => void;
  /** Failed calls that may pass are tried again, without waiting. Default false. */
  readonly retry?: boolean;
}

/** A connection to a simulator, or to a service on this machine. Nothing else can be reached, unless `open` says so. */
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
    // What is waited for between retries comes at once.
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
  const told = (given: ConnectorContext): ConnectorContext => ({
    ...given,
    send: async (request) => {
      const response = await given.send(request);
      onExchange?.(request, response);
      return response;
    },
  });
  const context = told({ config, signal: call.signal, send: (request) => client.send(call, request) });
  const upload: Connection['upload'] = async (operation, input, bytes) => {
    if (operation === undefined) throw new Error('There is no such operation.');
    return client.upload(operation, { input, bytes: Readable.from([Buffer.from(bytes)]) }, call);
  };
  return createConnection({ connector, context, requests, upload }, (operation, input) =>
    client.execute({ run: (given) => runIn(told(given), operation, input) }, input, call),
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

/** The settings of an instance that was given these. */
export function withDefaults({ configuration }: Connector, given: Config): Config {
  const defaults = configuration.flatMap((field) => (field.default === undefined ? [] : [[field.key, field.default]]));
  return { ...Object.fromEntries(defaults), ...given };
}

/** An instance with OAuth whose access token lasts. */
export function tokensIn(config: Config): AccessTokens | undefined {
  const accessToken = config['oauth.user.token'];
  if (typeof accessToken !== 'string') return undefined;
  return { current: async () => accessToken, replace: async () => accessToken };
}

/** A simulator of the connector's provider, and connections to it. */
export interface Provider extends ServedSimulator {
  /** @param config beside what was given at the start */
  readonly connect: (config?: Config, options?: Partial<ConnectOptions>) => Connection;
}

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

export function objectOf(objects: Objects, name: string): ObjectSpec {
  const object = Object.hasOwn(objects, name) ? objects[name] : undefined;
  if (object === undefined)
    throw new Error(`There is no object '${name}'; there are ${Object.keys(objects).join(', ')}.`);
  return object;
}

export function fieldOf(object: ObjectSpec, name: string): PushedField {
  const spec = Object.hasOwn(object.fields, name) ? object.fields[name] : undefined;
  if (spec === undefined) throw new Error(`There is no field '${name}'.`);
  return pushedField(name, spec);
}

/** What a list answers to a caller who names no fields. */
export function listedFields(object: ObjectSpec): readonly PushedField[] {
  return allFields(object).filter(({ unlisted }) => unlisted !== true);
}

/** What a single record is answered with. */
export function allFields(object: ObjectSpec): readonly PushedField[] {
  return Object.entries(object.fields)
    .filter(([, { onDemand }]) => onDemand !== true)
    .map(([name, spec]) => pushedField(name, spec));
}

/** A record of the provider under our names and with our values, as the service makes it. */
export function normalise(object: ObjectSpec, record: unknown, fields = allFields(object)): Row {
  return createRecordMapper(fields)(record);
}

/** What a call failed of. @throws Error when it did not fail, or of something that the API has no word for */
export async function failureOf(call: Promise<unknown>): Promise<AppError> {
  const outcome = await call.then(
    () => new Error('The call succeeded, though it must not.'),
    (error: unknown) => error,
  );
  if (outcome instanceof AppError) return outcome;
  throw outcome;
}
