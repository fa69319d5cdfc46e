import {
  type Config,
  type ConnectorContext,
  type CreateInput,
  isNotFound,
  json,
  notFound,
  type ObjectSpec,
  type ProviderRequest,
  type ProviderResponse,
  type PushedField,
  path,
  type RecordInput,
  type UpdateInput,
  unusable,
} from '#connector';
import { filtersHere, rootOf } from './config.ts';
import { compositeId, hasId, keyFilter, keyOf, keyPredicate } from './key.ts';
import type { EntitySet, Property } from './metadata.ts';
import { idFieldOf } from './types.ts';
import { typesOf, withoutOwnControlInformation, writeBody } from './values.ts';

/**
 * Headers of a change of a single record. Source: OData Protocol 4.01, section 11.4. Services that protect records by ETags require
 * `If-Match`, and without it a PATCH or PUT of an unknown id would create a record. With `*` the last writer wins.
 */
const EXISTING = { 'if-match': '*' };
const WITH_RECORD = { prefer: 'return=representation' };

/**
 * Returns a reader of native records. It removes the control information of the record, and adds the id to a record with a composite key.
 * Control information inside a value is removed when the value of a field is read (`readerOf`), so values that no field shows are never
 * traversed.
 */
export function recordReader(set: EntitySet): (native: unknown) => unknown {
  const keys = keyOf(set.type);
  const idField = idFieldOf(set.type);
  return (native) => {
    if (!json.isObject(native)) return native;
    const record = withoutOwnControlInformation(native);
    if (keys.length < 2 || idField === undefined) return record;
    return { ...record, [idField]: compositeId(keys, record) };
  };
}

/** Maximum length of a `$select` in characters. Some servers accept at most 2,048 characters for a whole query. */
const MAX_SELECT_LENGTH = 500;

/**
 * Returns the `$select` for the required properties and the key. Undefined if all properties are required, or if the list would be too
 * long.
 */
export function selectClause({ type }: EntitySet, fields: readonly PushedField[]): string | undefined {
  const needed = new Set([...type.key, ...fields.map(({ native }) => native.split('.')[0])]);
  const properties = type.properties.map(({ name }) => name).filter((name) => needed.has(name));
  const clause = properties.join(',');
  const isNarrower = fields.length > 0 && properties.length < type.properties.length;
  return isNarrower && clause !== '' && clause.length <= MAX_SELECT_LENGTH ? clause : undefined;
}

type RecordOperations = Pick<ObjectSpec, 'get' | 'create' | 'update' | 'replace' | 'remove'>;

export function recordOperations(set: EntitySet): RecordOperations {
  const { capabilities, type } = set;
  const hasKey = type.key.length > 0;
  const read = recordReader(set);
  const change = (method: 'PATCH' | 'PUT') => ({
    run: async (context: ConnectorContext, input: UpdateInput) =>
      read(await sendChange(context, set, changeRequest(set, method, input), input)),
  });
  return {
    ...(capabilities.readableByKey &&
      hasKey && {
        get: { run: async (context, input) => read(await readRecord(context, set, input)) },
      }),
    ...(capabilities.insertable && {
      create: { run: async (context, input) => read(await createRecord(context, set, input)) },
    }),
    ...(capabilities.updatable && hasKey && { update: change('PATCH'), replace: change('PUT') }),
    ...(capabilities.deletable &&
      hasKey && { remove: { request: ({ id }) => removeRequest(set, id), read: () => undefined } }),
  };
}

async function readRecord(context: ConnectorContext, set: EntitySet, { id, fields }: RecordInput): Promise<unknown> {
  const keys = keyOf(set.type);
  const query = { $select: selectClause(set, fields) };
  const filter = mayFilterByKey(set, context.config) ? keyFilter(keys, id) : undefined;
  if (filter === undefined) return (await context.send({ path: addressOf(set, id), query })).body;
  const { body } = await context.send({ path: path`/${set.name}`, query: { $filter: filter, ...query } });
  const found = json.at(body, 'value');
  const records: readonly unknown[] = Array.isArray(found) ? found : [];
  const record = records.find((each) => json.isObject(each) && hasId(keys, each, id));
  if (record === undefined) throw notFound('The service finds no record with this key.');
  return record;
}

function mayFilterByKey({ type, capabilities }: EntitySet, config: Config): boolean {
  return !filtersHere(config) && type.key.every(capabilities.filterable);
}

function addressOf(set: EntitySet, id: string): string {
  return path`/${set.name}` + keyPredicate(keyOf(set.type), id);
}

function removeRequest(set: EntitySet, id: string): ProviderRequest {
  return { method: 'DELETE', path: addressOf(set, id), headers: EXISTING };
}

function changeRequest(set: EntitySet, method: 'PATCH' | 'PUT', { id, values }: UpdateInput): ProviderRequest {
  const body = writeBody(
    method === 'PUT' ? { ...emptyValues(set, values), ...values } : values,
    typesOf(set.type.properties),
  );
  return {
    method,
    path: addressOf(set, id),
    headers: { ...EXISTING, ...WITH_RECORD, ...body.headers },
    json: body.json,
  };
}

/**
 * Returns the empty values of a replacement. By the specification, services empty properties that the request omits, but some (SAP CAP by
 * default) keep them. Nothing is added inside a complex value.
 */
function emptyValues({ type, capabilities }: EntitySet, values: UpdateInput['values']): Record<string, unknown> {
  const given = new Set(Object.keys(values).map((name) => name.split('.')[0]));
  const emptied = type.properties.filter(
    (property) => isEmptied(property) && capabilities.updatableProperty(property.name),
  );
  const left = emptied.filter(({ name }) => !given.has(name) && !type.key.includes(name));
  return Object.fromEntries(left.map((property) => [property.name, property.type.kind === 'collection' ? [] : null]));
}

function isEmptied({ type, nullable, computed, immutable, hasDefault }: Property): boolean {
  return nullable && !computed && !immutable && !hasDefault && type.name !== 'Edm.Stream';
}

/** Sends a change. If the response does not contain the record, the record is read back. */
async function sendChange(context: ConnectorContext, set: EntitySet, request: ProviderRequest, input: UpdateInput) {
  const response = await context.send(request);
  if (response.status === 201) throw await undoCreation(context, set, response, input);
  if (json.isObject(response.body)) return response.body;
  try {
    return await readRecord(context, set, input);
  } catch (error) {
    const created = createdRequest(set, response, {}, context.config);
    if (!isNotFound(error) || created === undefined) throw error;
    throw notFound(
      'The service finds no record with this key.',
      `The service returned the address of another record, ${positionOf(created)}. Causeway did not change it.`,
    );
  }
}

/**
 * Handles a service that ignores `If-Match: *` and creates a record if there is none to change, under the requested key or under a key of
 * its own. The new record is removed only if it cannot be another one: if there is still none under the requested id.
 * @returns the error that describes the outcome
 */
async function undoCreation(
  context: ConnectorContext,
  set: EntitySet,
  response: ProviderResponse,
  { id }: UpdateInput,
): Promise<Error> {
  const created = createdRequest(set, response, Object(response.body), context.config);
  const at = created === undefined ? '' : ` at ${positionOf(created)}`;
  const reported = `The record did not exist, so the service created one${at} (status 201).`;
  const missing = await failureOf(readRecord(context, set, { id, fields: [] }));
  if (created === undefined || !isNotFound(missing))
    return notFound(reported, `${reported} The new record still exists.`);
  const kept = await failureOf(context.send({ ...created, method: 'DELETE', headers: EXISTING }));
  context.signal.throwIfAborted();
  const fate =
    kept === undefined ? 'Causeway deleted it again.' : 'Causeway could not delete it, so the new record still exists.';
  return notFound(reported, `${reported} ${fate}`);
}

function positionOf({ url, path = '' }: ProviderRequest): string {
  return url ?? path;
}

/** Returns the error of a call, or undefined if the call succeeded. */
async function failureOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
    return undefined;
  } catch (error) {
    return error;
  }
}

async function createRecord(context: ConnectorContext, set: EntitySet, input: CreateInput): Promise<unknown> {
  const body = writeBody(input.values, typesOf(set.type.properties));
  const headers = { ...WITH_RECORD, ...body.headers };
  const response = await context.send({ method: 'POST', path: path`/${set.name}`, headers, json: body.json });
  if (json.isObject(response.body)) return response.body;
  const id = givenId(set, body.json);
  const created = createdRequest(set, response, body.json, context.config);
  try {
    if (id !== undefined) return await readRecord(context, set, { id, fields: [] });
    if (created !== undefined) return (await context.send(created)).body;
  } catch (error) {
    context.signal.throwIfAborted();
    throw createdUnread(id === undefined ? `at ${positionOf(created ?? {})}` : `with the id '${id}'`, error);
  }
  throw createdUnread('and returned neither the record nor its address');
}

/** Returns the error for a created record that could not be read. It must not suggest that nothing was created. */
function createdUnread(where: string, cause?: unknown): Error {
  const reason = cause instanceof Error ? ` Reading it back failed: ${cause.message}` : '';
  return unusable(`The service created the record ${where}. Do not create it again.${reason}`, cause);
}

/**
 * Returns the request for a created record. It uses the key if it is known, because some services do not escape a quote inside a key
 * correctly in `Location`.
 */
function createdRequest(
  set: EntitySet,
  { headers }: ProviderResponse,
  values: Readonly<Record<string, unknown>>,
  config: Config,
): ProviderRequest | undefined {
  const id = givenId(set, values);
  if (id !== undefined) return { path: addressOf(set, id) };
  const location = headers.location ?? headers['odata-entityid'];
  if (location === undefined) return undefined;
  return { url: new URL(location, `${rootOf(config)}/`).href };
}

/** Returns the id of a record if its whole key is among the values. */
function givenId({ type }: EntitySet, values: Readonly<Record<string, unknown>>): string | undefined {
  const keys = keyOf(type);
  const isGiven = keys.length > 0 && keys.every(({ name }) => values[name] !== undefined && values[name] !== null);
  if (!isGiven) return undefined;
  return keys.length === 1 ? String(values[keys[0]?.name ?? '']) : compositeId(keys, values);
}
