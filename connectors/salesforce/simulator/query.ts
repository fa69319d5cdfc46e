import { createResults, Fault, type RowOrder, sortRows, type TableRow } from '#connector/simulator';
import { comparedField, compileCondition, foldOf } from './condition.ts';
import { resolveField, type Scope } from './paths.ts';
import type { Dataset } from './rows.ts';
import { type FieldSchema, OBJECTS, readField } from './schema.ts';
import { type Count, type Order, parseStatement, type Statement } from './statement.ts';

type Json = Readonly<Record<string, unknown>>;

export interface QueryOptions {
  /** `/services/data/v62.0`. */
  readonly prefix: string;
  readonly includeDeleted: boolean;
  readonly batchSize: number;
  /** The next page is the one that was asked for. */
  readonly isStuck: boolean;
}

type PageOptions = Omit<QueryOptions, 'includeDeleted'>;

/** Runs statements, and keeps what is left of long results for `nextRecordsUrl`. */
export interface QueryEngine {
  readonly query: (soql: string, options: QueryOptions) => Json;
  /** @throws Fault 400 for a locator that is unknown or was dropped. */
  readonly queryMore: (locator: string, options: PageOptions) => Json;
}

export function createQueryEngine(dataset: Dataset, fold: Scope['fold']): QueryEngine {
  const results = createResults<Json>({
    most: 50,
    makeId: (number) => `0r85g00000${String(number).padStart(5, '0')}AAA`,
  });

  function answer(records: readonly Json[], start: number, locator: string | undefined, options: PageOptions): Json {
    const end = start + options.batchSize;
    const page = { totalSize: records.length, done: end >= records.length, records: records.slice(start, end) };
    if (page.done && !options.isStuck) return page;
    const next = options.isStuck ? start : end;
    return {
      ...page,
      done: false,
      nextRecordsUrl: `${options.prefix}/query/${locator ?? results.keep(records)}-${next}`,
    };
  }

  return {
    query: (soql, options) => {
      const statement = parseStatement(soql);
      const scope = scopeOf(dataset, statement, fold);
      const rows = select(dataset, { statement, scope, includeDeleted: options.includeDeleted });
      if (statement.count !== undefined) return answerCount(rows, statement.count, scope);
      const fields = statement.fields.map((written) => resolveField(written, scope));
      const records = rows.map((row) => showRecord(scope.name, row, { fields, prefix: options.prefix }));
      return answer(records, 0, undefined, options);
    },
    queryMore: (locator, options) => {
      const [, id = '', start = ''] = /^(\w+)-(\d+)$/.exec(locator) ?? [];
      const records = results.find(id);
      if (records === undefined) throw new Fault(400, 'INVALID_QUERY_LOCATOR', 'invalid query locator');
      return answer(records, Number(start), id, options);
    },
  };
}

function answerCount(rows: readonly TableRow[], { field: written, name }: Count, scope: Scope): Json {
  if (written === undefined) return { totalSize: rows.length, done: true, records: [] };
  const [path, field] = resolveField(written, scope);
  const count = rows.filter((row) => readField(row, path, field) !== null).length;
  return { totalSize: 1, done: true, records: [{ attributes: { type: 'AggregateResult' }, [name]: count }] };
}

interface Selection {
  readonly statement: Statement;
  readonly scope: Scope;
  readonly includeDeleted: boolean;
}

function select(dataset: Dataset, { statement, scope, includeDeleted }: Selection): readonly TableRow[] {
  const { object, where, orderBy, count, offset, limit } = statement;
  const test = where === undefined ? () => true : compileCondition(where, scope);
  const found = dataset.get(object)?.rows(includeDeleted).filter(test) ?? [];
  const sorted = sortRows(
    found,
    orderBy.map((order) => readOrder(order, scope)),
  );
  // LIMIT counts answers, of which a COUNT of a field is one.
  return count?.field === undefined ? sorted.slice(offset, offset + limit) : sorted;
}

/** @throws Fault 400 for an object that is unknown or cannot be queried. */
function scopeOf(dataset: Dataset, { object: name }: Statement, fold: Scope['fold']): Scope {
  const object = OBJECTS[name];
  if (object === undefined || object.abilities?.queryable === false) {
    throw new Fault(400, 'INVALID_TYPE', `sObject type '${name}' is not supported.`);
  }
  return { name, object, findRow: (objectName, id) => dataset.get(objectName)?.find(String(id)), fold };
}

function readOrder({ field: written, descending, nullsFirst }: Order, scope: Scope): RowOrder {
  const [name, field] = resolveField(written, scope);
  if (field.unfilterable === true) {
    throw new Fault(400, 'INVALID_FIELD', `field '${name}' can not be sorted in a query call`);
  }
  return { ...comparedField(name, field, foldOf(field, scope.fold)), descending, nulls: nullsFirst ? 'first' : 'last' };
}

interface Shown {
  /** By name, or by path for those of a parent. */
  readonly fields: readonly (readonly [string, FieldSchema])[];
  readonly prefix: string;
}

/** A record as answers have it; files are the path they are at, and a parent is an object inside it, or null. */
export function showRecord(objectName: string, row: TableRow, { fields, prefix }: Shown): Json {
  const url = `${prefix}/sobjects/${objectName}/${row.Id}`;
  const shown: Record<string, unknown> = { attributes: { type: objectName, url } };
  for (const [path, field] of fields) {
    const value = readField(row, path, field);
    const [name, inner] = path.split('.');
    if (inner === undefined) shown[path] = field.type === 'base64' && value !== null ? `${url}/${path}` : value;
    else if (name !== undefined) shown[name] = value === null ? null : { [inner]: value };
  }
  return shown;
}
