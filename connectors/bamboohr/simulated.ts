import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type ComparisonOperator,
  type ConnectorContext,
  type Failure,
  isNotFound,
  type ListInput,
  type ListPage,
  notFound,
  type ObjectSpec,
  type Objects,
  type Operation,
  type PushedField,
  type Value,
} from '#connector';
import { discoverAll } from '../../test/support/discover-all.ts';
import { judge } from '../../test/support/judge.ts';
import bamboohr from './index.ts';
import { createSimulator } from './simulator.ts';

/** For tests: the connector with its simulator behind it, and no core in between. */

export const CONFIG = { username: 'demo-key', 'company.name': 'Acme' };

export type Row = Readonly<Record<string, unknown>>;

export interface Simulated {
  readonly connect: (config?: typeof CONFIG) => ConnectorContext;
  /** All rows of a listing, page by page. */
  readonly listAll: (object: ObjectSpec, input?: Partial<ListInput<unknown>>) => Promise<readonly Row[]>;
  readonly list: (object: ObjectSpec, input: Partial<ListInput<unknown>>) => Promise<ListPage>;
  readonly discover: () => Promise<Objects>;
  /** Back to the first data. */
  readonly reset: () => void;
  readonly stop: () => Promise<void>;
}

export async function startSimulated(): Promise<Simulated> {
  let simulator = createSimulator();
  const server = createServer((request, response) => simulator.handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const connect = (config = CONFIG) => createContext(root, config);
  const list = (object: ObjectSpec, input: Partial<ListInput<unknown>>): Promise<ListPage> => {
    const defaults = { parameters: {}, fields: allFields(object), orderBy: [], limit: 50 };
    return run(object.list, connect(), { ...defaults, ...input });
  };
  return {
    connect,
    list,
    listAll: async (object, input = {}) => {
      const rows: Row[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await list(object, { ...input, ...(cursor !== undefined && { cursor }) });
        rows.push(...page.records.map((record) => normalise(object, record)));
        if (page.next === undefined) return rows;
        cursor = page.next;
      }
    },
    discover: () => discoverAll(bamboohr.objects, connect()),
    reset: () => {
      simulator = createSimulator();
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

class Failed extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message ?? failure.kind);
    this.failure = failure;
  }
}

/** As little of the core's client as the connector needs: base URL, authentication, headers, JSON, judgement. */
function createContext(root: string, config: typeof CONFIG): ConnectorContext {
  const { auth } = bamboohr;
  if (auth.type !== 'basic') throw new Error('Basic authentication was expected.');
  const { username, password } = auth.credentials(config) ?? {};
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  return {
    config,
    signal: new AbortController().signal,
    send: async ({ method = 'GET', path = '', query = {}, json }) => {
      const url = new URL(root + path);
      for (const [key, value] of Object.entries(query)) url.searchParams.set(key, String(value));
      const answer = await fetch(url, {
        method,
        headers: {
          ...bamboohr.headers,
          authorization,
          forwarded: `host=${new URL(bamboohr.baseUrl(config)).host}`,
          'content-type': 'application/json',
        },
        ...(json !== undefined && { body: JSON.stringify(json) }),
      });
      const text = await answer.text();
      const isJson = answer.headers.get('content-type')?.includes('json') ?? false;
      const response = {
        status: answer.status,
        headers: Object.fromEntries(answer.headers),
        body: isJson ? JSON.parse(text) : text,
      };
      const failure = judge(bamboohr, response, method);
      if (failure !== undefined)
        throw failure.kind === 'notFound' ? notFound(failure.message ?? '') : new Failed(failure);
      return response;
    },
  };
}

export async function run<Input, Output>(
  operation: Operation<Input, Output> | undefined,
  context: ConnectorContext,
  input: Input,
): Promise<Output> {
  if (operation === undefined) throw new Error('There is no such operation.');
  if ('run' in operation) return operation.run(context, input);
  return operation.read(await context.send(operation.request(input, context.config)), input);
}

export async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  const error = await promise.then(
    () => new Error('A failure was expected.'),
    (reason: unknown) => reason,
  );
  if (error instanceof Failed) return error.failure;
  if (error instanceof Error && isNotFound(error)) return { kind: 'notFound', message: error.message };
  throw error;
}

export function getObject(objects: Objects, name: string): ObjectSpec {
  const object = objects[name];
  if (object === undefined) throw new Error(`There is no object ${name}.`);
  return object;
}

/** What is answered to a caller who names no fields. */
export function allFields(object: ObjectSpec): readonly PushedField[] {
  return Object.keys(object.fields)
    .map((name) => fieldOf(object, name))
    .filter(({ onDemand }) => onDemand !== true);
}

export function fieldOf(object: ObjectSpec, name: string): PushedField {
  const spec = object.fields[name];
  if (spec === undefined) throw new Error(`There is no field ${name}.`);
  return { ...spec, name, native: spec.native ?? name };
}

/** Our names and values, as the core makes them: dotted natives lead into nested objects. */
export function normalise(object: ObjectSpec, record: unknown): Row {
  return Object.fromEntries(
    allFields(object).map(({ name, native, read }) => {
      const value = native.split('.').reduce<unknown>(getMember, record);
      return [name, read === undefined ? value : read(value)];
    }),
  );
}

function getMember(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

/** One predicate in the provider's syntax. */
export function translate(object: ObjectSpec, name: string, operator: string, text: string): unknown {
  const field = fieldOf(object, name);
  const value = toValue(field, text);
  const { compare, in: among } = object.translator ?? {};
  return isComparison(operator) ? compare?.(field, operator, value) : among?.(field, [value], operator === 'NOT IN');
}

function isComparison(operator: string): operator is ComparisonOperator {
  return ['=', '!=', '<', '<=', '>', '>='].includes(operator);
}

function toValue({ type }: PushedField, text: string): Value {
  if (type === 'integer' || type === 'number') return { kind: 'number', text };
  return type === 'date' ? { kind: 'date', text } : { kind: 'string', value: text };
}
