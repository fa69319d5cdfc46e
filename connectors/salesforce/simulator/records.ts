import { type Dataset, writeInstant } from './data.ts';
import { completeId, makeId } from './ids.ts';
import { Problem } from './problem.ts';
import { bytesOf, type FieldSchema, OBJECTS, type ObjectSchema, type Row } from './schema.ts';

type Json = Readonly<Record<string, unknown>>;

/** @throws Problem 404 */
export function getObject(name: string): ObjectSchema {
  const object = Object.hasOwn(OBJECTS, name) ? OBJECTS[name] : undefined;
  if (object !== undefined) return object;
  throw new Problem(404, 'NOT_FOUND', 'The requested resource does not exist');
}

/** @throws Problem 404, also for a record in the recycle bin. */
export function getRow(dataset: Dataset, name: string, written: string): Row {
  const id = completeId(written);
  const row = dataset.get(name)?.find((candidate) => candidate.Id === id);
  if (row?.IsDeleted === true) throw new Problem(404, 'ENTITY_IS_DELETED', 'entity is deleted');
  if (row !== undefined) return row;
  const message =
    id === undefined
      ? 'Provided external ID field does not exist or is not accessible'
      : 'The requested resource does not exist';
  throw new Problem(404, 'NOT_FOUND', message);
}

export function createRow(dataset: Dataset, name: string, body: Json, nowMs: number): Json {
  const object = getChangeable(name, 'createable');
  const values = readValues(name, object, body, isSettableOnCreate);
  const defaults = Object.entries(object.fields).map(([field, schema]) => [field, schema.defaulted ?? null]);
  const row = { ...Object.fromEntries(defaults), ...values };
  assertComplete(object, row);
  const rows = dataset.get(name) ?? [];
  const at = writeInstant(nowMs);
  const system = { Id: makeId(object.keyPrefix, 1000 + rows.length), IsDeleted: false, CreatedDate: at };
  rows.push({ ...row, ...system, LastModifiedDate: at, SystemModstamp: at });
  dataset.set(name, rows);
  return { id: system.Id, success: true, errors: [] };
}

export function updateRow(dataset: Dataset, name: string, id: string, body: Json, nowMs: number): void {
  const object = getChangeable(name, 'updateable');
  const row = getRow(dataset, name, id);
  const at = writeInstant(nowMs);
  const isSettable = (field: FieldSchema) => isSettableOnCreate(field) && field.insertOnly !== true;
  const changed = { ...row, ...readValues(name, object, body, isSettable), LastModifiedDate: at, SystemModstamp: at };
  assertComplete(object, changed);
  put(dataset, name, changed);
}

export function deleteRow(dataset: Dataset, name: string, id: string): void {
  getChangeable(name, 'deletable');
  put(dataset, name, { ...getRow(dataset, name, id), IsDeleted: true });
}

/** The bytes of a file field. @throws Problem 404 */
export function getBytes(dataset: Dataset, name: string, id: string, field: string): Buffer {
  if (getObject(name).fields[field]?.type !== 'base64') {
    throw new Problem(404, 'NOT_FOUND', 'The requested resource does not exist');
  }
  return bytesOf(getRow(dataset, name, id)[field]);
}

function put(dataset: Dataset, name: string, changed: Row): void {
  const rows = dataset.get(name) ?? [];
  dataset.set(
    name,
    rows.map((row) => (row.Id === changed.Id ? changed : row)),
  );
}

function getChangeable(name: string, ability: 'createable' | 'updateable' | 'deletable'): ObjectSchema {
  const object = getObject(name);
  if (object.abilities?.[ability] !== false) return object;
  throw new Problem(405, 'METHOD_NOT_ALLOWED', `HTTP Method not allowed for ${name}`);
}

function isSettableOnCreate({ readOnly }: FieldSchema): boolean {
  return readOnly !== true;
}

function readValues(
  objectName: string,
  { fields }: ObjectSchema,
  body: Json,
  isSettable: (field: FieldSchema) => boolean,
): Json {
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => {
      if (name === 'attributes') return [];
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (field === undefined) {
        throw new Problem(400, 'INVALID_FIELD', `No such column '${name}' on sobject of type ${objectName}`);
      }
      if (!isSettable(field)) {
        const message = `Unable to create/update fields: ${name}. Please check the security settings of this field and verify that it is read/write for your profile or permission set.`;
        throw new Problem(400, 'INVALID_FIELD_FOR_INSERT_UPDATE', message, [name]);
      }
      return [[name, readValue(name, field, value)]];
    }),
  );
}

const ACCEPTS: Readonly<Record<string, (value: unknown) => boolean>> = {
  boolean: (value) => typeof value === 'boolean',
  int: (value) => Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31,
  double: Number.isFinite,
  currency: Number.isFinite,
  percent: Number.isFinite,
  date: matches(/^\d{4}-\d{2}-\d{2}$/),
  datetime: matches(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,3})?(Z|[+-]\d{2}:?\d{2})$/),
  time: matches(/^\d{2}:\d{2}:\d{2}(\.\d{1,3})?Z?$/),
};

function matches(pattern: RegExp): (value: unknown) => boolean {
  return (value) => typeof value === 'string' && pattern.test(value);
}

function readValue(name: string, field: FieldSchema, value: unknown): unknown {
  if (value === null || value === '') return null;
  const accepts = ACCEPTS[field.type];
  if (accepts !== undefined) {
    if (!accepts(value)) throw unreadable(field, value);
    return field.type === 'datetime' ? writeInstant(Math.floor(Date.parse(String(value)) / 1000) * 1000) : value;
  }
  if (typeof value !== 'string') throw unreadable(field, value);
  return field.type === 'reference' ? readReference(name, value) : readText(name, field, value);
}

function unreadable({ type }: FieldSchema, value: unknown): Problem {
  return new Problem(
    400,
    'JSON_PARSER_ERROR',
    `Cannot deserialize instance of ${type} from value ${JSON.stringify(value)}`,
  );
}

function readReference(name: string, value: string): string {
  const id = completeId(value);
  if (id === undefined) throw new Problem(400, 'MALFORMED_ID', `${name}: id value of incorrect type: ${value}`, [name]);
  return id;
}

/** Blanks around a text are not kept; a text of nothing else is null. */
function readText(name: string, field: FieldSchema, value: string): string | null {
  if (field.type === 'base64') return value;
  const text = value.trim();
  if (field.length !== undefined && text.length > field.length) {
    throw new Problem(400, 'STRING_TOO_LONG', `${name}: data value too large: (max length=${field.length})`, [name]);
  }
  if (field.restricted === true && field.values?.includes(text) !== true) {
    const message = `${name}: bad value for restricted picklist field: ${text}`;
    throw new Problem(400, 'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST', message, [name]);
  }
  return text === '' ? null : text;
}

function assertComplete({ fields }: ObjectSchema, row: Row): void {
  const missing = Object.entries(fields)
    .filter(([name, field]) => field.required === true && field.readOnly !== true && row[name] === null)
    .map(([name]) => name);
  if (missing.length === 0) return;
  throw new Problem(400, 'REQUIRED_FIELD_MISSING', `Required fields are missing: [${missing.join(', ')}]`, missing);
}
