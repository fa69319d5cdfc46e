import { Fault, type Table, type TableRow } from '#connector/simulator';
import { completeId, writeInstant } from './ids.ts';
import { blankOf, type Dataset } from './rows.ts';
import { bytesOf, type FieldSchema, OBJECTS, type ObjectSchema } from './schema.ts';

type Json = Readonly<Record<string, unknown>>;

const notFound = (message = 'The requested resource does not exist') => new Fault(404, 'NOT_FOUND', message);

/** @throws Fault 404 */
export function getObject(name: string): ObjectSchema {
  const object = Object.hasOwn(OBJECTS, name) ? OBJECTS[name] : undefined;
  if (object === undefined) throw notFound();
  return object;
}

function getTable(dataset: Dataset, name: string): Table {
  const table = dataset.get(name);
  if (table === undefined) throw notFound();
  return table;
}

/** @throws Fault 404, also for a record in the recycle bin. */
export function getRow(dataset: Dataset, name: string, written: string): TableRow {
  const id = completeId(written);
  if (id === undefined) throw notFound('Provided external ID field does not exist or is not accessible');
  const row = getTable(dataset, name).find(id);
  if (row === undefined) throw notFound();
  if (row.IsDeleted === true) throw new Fault(404, 'ENTITY_IS_DELETED', 'entity is deleted');
  return row;
}

export function createRow(dataset: Dataset, name: string, body: Json): Json {
  const object = getChangeable(name, 'createable');
  const values = readValues(name, object, body, isSettableOnCreate);
  assertComplete(object, { ...blankOf(object.fields), ...values });
  return { id: getTable(dataset, name).insert(values).Id, success: true, errors: [] };
}

export function updateRow(dataset: Dataset, name: string, id: string, body: Json): void {
  const object = getChangeable(name, 'updateable');
  const row = getRow(dataset, name, id);
  const isSettable = (field: FieldSchema) => isSettableOnCreate(field) && field.insertOnly !== true;
  const values = readValues(name, object, body, isSettable);
  assertComplete(object, { ...row, ...values });
  getTable(dataset, name).update(String(row.Id), values);
}

export function deleteRow(dataset: Dataset, name: string, id: string): void {
  getChangeable(name, 'deletable');
  getTable(dataset, name).remove(String(getRow(dataset, name, id).Id));
}

/** The bytes of a file field. @throws Fault 404 */
export function getBytes(dataset: Dataset, name: string, id: string, field: string): Buffer {
  if (getObject(name).fields[field]?.type !== 'base64') throw notFound();
  return bytesOf(getRow(dataset, name, id)[field]);
}

function getChangeable(name: string, ability: 'createable' | 'updateable' | 'deletable'): ObjectSchema {
  const object = getObject(name);
  if (object.abilities?.[ability] !== false) return object;
  throw new Fault(405, 'METHOD_NOT_ALLOWED', `HTTP Method not allowed for ${name}`);
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
        throw new Fault(400, 'INVALID_FIELD', `No such column '${name}' on sobject of type ${objectName}`);
      }
      if (!isSettable(field)) {
        const message = `Unable to create/update fields: ${name}. Please check the security settings of this field and verify that it is read/write for your profile or permission set.`;
        throw new Fault(400, 'INVALID_FIELD_FOR_INSERT_UPDATE', message, { fields: [name] });
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

function unreadable({ type }: FieldSchema, value: unknown): Fault {
  return new Fault(
    400,
    'JSON_PARSER_ERROR',
    `Cannot deserialize instance of ${type} from value ${JSON.stringify(value)}`,
  );
}

function readReference(name: string, value: string): string {
  const id = completeId(value);
  if (id === undefined)
    throw new Fault(400, 'MALFORMED_ID', `${name}: id value of incorrect type: ${value}`, { fields: [name] });
  return id;
}

/** Blanks around a text are not kept; a text of nothing else is null. */
function readText(name: string, field: FieldSchema, value: string): string | null {
  if (field.type === 'base64') return value;
  const text = value.trim();
  if (field.length !== undefined && text.length > field.length) {
    throw new Fault(400, 'STRING_TOO_LONG', `${name}: data value too large: (max length=${field.length})`, {
      fields: [name],
    });
  }
  if (field.restricted === true && field.values?.includes(text) !== true) {
    const message = `${name}: bad value for restricted picklist field: ${text}`;
    throw new Fault(400, 'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST', message, { fields: [name] });
  }
  return text === '' ? null : text;
}

function assertComplete({ fields }: ObjectSchema, row: TableRow): void {
  const missing = Object.entries(fields)
    .filter(([name, field]) => field.required === true && field.readOnly !== true && row[name] === null)
    .map(([name]) => name);
  if (missing.length === 0) return;
  throw new Fault(400, 'REQUIRED_FIELD_MISSING', `Required fields are missing: [${missing.join(', ')}]`, {
    fields: missing,
  });
}
