import {
  type Config,
  type ConnectorContext,
  type CreateInput,
  type ObjectSpec,
  type ProviderRequest,
  type ProviderResponse,
  type PushedField,
  path,
  type RecordInput,
  type UpdateInput,
} from '#connector';
import { compositeId, keyOf, keyPredicate } from './key.ts';
import type { EntitySet, Property } from './metadata.ts';
import { isObject, typesOf, withoutControlInformation, writeBody } from './values.ts';

/**
 * Single records. Source: OData Protocol 4.01, section 11.4. A change carries `If-Match: *`: services that guard records by ETags
 * demand the header, and without it a PATCH or PUT of an unknown id would create a record. The last writer wins.
 */
const EXISTING = { 'if-match': '*' };
const WITH_RECORD = { prefer: 'return=representation' };

/** The name of the field that holds the id: the key property, or a field of our own when the key has several. */
export function idFieldOf({ type }: EntitySet): string | undefined {
  if (type.key.length < 2) return type.key[0];
  return type.properties.some(({ name }) => name === 'id') ? '$id' : 'id';
}

/** Native records without control information; those of a composite key with their id. */
export function recordReader(set: EntitySet): (native: unknown) => unknown {
  const keys = keyOf(set.type);
  const idField = idFieldOf(set);
  return (native) => {
    const record = withoutControlInformation(native);
    if (keys.length < 2 || idField === undefined || !isObject(record)) return record;
    return { ...record, [idField]: compositeId(keys, record) };
  };
}

/** Most characters of a `$select`; some servers take no more than 2,048 for a whole query. */
const MAX_SELECT_LENGTH = 500;

/** Asks for the properties that are needed, with the key; undefined when all of them are, or when the list would be long. */
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
        get: {
          request: (input: RecordInput) => getRequest(set, keyPredicate(keyOf(type), input.id), input.fields),
          read: (response: ProviderResponse) => read(response.body),
        },
      }),
    ...(capabilities.insertable && {
      create: { run: async (context, input) => read(await createRecord(context, set, input)) },
    }),
    ...(capabilities.updatable && hasKey && { update: change('PATCH'), replace: change('PUT') }),
    ...(capabilities.deletable &&
      hasKey && { remove: { request: ({ id }) => removeRequest(set, id), read: () => undefined } }),
  };
}

function getRequest(set: EntitySet, predicate: string, fields: readonly PushedField[]): ProviderRequest {
  return { path: path`/${set.name}` + predicate, query: { $select: selectClause(set, fields) } };
}

function removeRequest(set: EntitySet, id: string): ProviderRequest {
  return { method: 'DELETE', path: path`/${set.name}` + keyPredicate(keyOf(set.type), id), headers: EXISTING };
}

function changeRequest(set: EntitySet, method: 'PATCH' | 'PUT', { id, values }: UpdateInput): ProviderRequest {
  const body = writeBody(
    method === 'PUT' ? { ...emptyValues(set, values), ...values } : values,
    typesOf(set.type.properties),
  );
  return {
    method,
    path: path`/${set.name}` + keyPredicate(keyOf(set.type), id),
    headers: { ...EXISTING, ...WITH_RECORD, ...body.headers },
    json: body.json,
  };
}

/**
 * What a replacement empties. The specification has services do this for properties that are left out, but some (SAP CAP as it
 * comes) keep them. Inside a complex value nothing is added.
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

/** Reads the record back when the service answers without it. */
async function sendChange(context: ConnectorContext, set: EntitySet, request: ProviderRequest, input: UpdateInput) {
  const response = await context.send(request);
  if (isObject(response.body)) return response.body;
  const reread = await context.send(getRequest(set, keyPredicate(keyOf(set.type), input.id), input.fields));
  return reread.body;
}

async function createRecord(context: ConnectorContext, set: EntitySet, input: CreateInput): Promise<unknown> {
  const body = writeBody(input.values, typesOf(set.type.properties));
  const headers = { ...WITH_RECORD, ...body.headers };
  const response = await context.send({ method: 'POST', path: path`/${set.name}`, headers, json: body.json });
  if (isObject(response.body)) return response.body;
  const created = await context.send(createdRequest(set, response, body.json, context.config));
  return created.body;
}

/** By its key when the caller chose it: not every service writes a quote inside a key rightly into `Location`. */
function createdRequest(
  set: EntitySet,
  response: ProviderResponse,
  values: Readonly<Record<string, unknown>>,
  config: Config,
): ProviderRequest {
  const keys = keyOf(set.type);
  if (keys.length > 0 && keys.every(({ name }) => values[name] !== undefined && values[name] !== null)) {
    const id = keys.length === 1 ? String(values[keys[0]?.name ?? '']) : compositeId(keys, values);
    return getRequest(set, keyPredicate(keys, id), []);
  }
  const location = response.headers.location ?? response.headers['odata-entityid'];
  if (location === undefined)
    throw new Error('The service created a record and told neither its content nor its place.');
  return { url: new URL(location, `${String(config['base.url']).replace(/\/+$/, '')}/`).href };
}
