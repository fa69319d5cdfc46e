import { createResults, Fault, type RowOrder, sortRows, type TableRow } from '#connector/simulator';
import { comparedField, compileCondition, foldOf } from './condition.ts';
import { resolveField, type Scope } from './paths.ts';
import { READINGS, type Readings } from './readings.ts';
import type { Dataset } from './rows.ts';
import { type FieldSchema, OBJECTS, readField } from './schema.ts';
import { assertBulk, type Count, type Order, parseStatement, type Statement } from './statement.ts';

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
  /** The rows themselves. @throws Fault 400 also for what only bulk queries refuse */
  readonly findAll: (soql: string, options: Pick<QueryOptions, 'includeDeleted'>) => Found;
}

export interface Found {
  readonly object: string;
  /** By name, or by path for those of a parent. */
  readonly fields: readonly (readonly [string, FieldSchema])[];
  readonly rows: RowList;
}

/** Rows that need not be in memory at once. */
export interface RowList {
  readonly length: number;
  readonly at: (index: number) => TableRow | undefined;
}

/** Where records are. */
export interface Source {
  readonly dataset: Dataset;
  readonly readings: Readings;
}

export function createQueryEngine(source: Source, fold: Scope['fold']): QueryEngine {
  const results = createResults<Found>({
    most: 50,
    makeId: (number) => `0r85g00000${String(number).padStart(5, '0')}AAA`,
  });

  function answer(found: Found, start: number, locator: string | undefined, options: PageOptions): Json {
    const { rows } = found;
    const end = start + options.batchSize;
    const records = takeRows(rows, start, end).map((row) =>
      showRecord(found.object, row, { fields: found.fields, prefix: options.prefix }),
    );
    const page = { totalSize: rows.length, done: end >= rows.length, records };
    if (page.done && !options.isStuck) return page;
    const next = options.isStuck ? start : end;
    return {
      ...page,
      done: false,
      nextRecordsUrl: `${options.prefix}/query/${locator ?? results.keep([found])}-${next}`,
    };
  }

  function find(statement: Statement, scope: Scope, includeDeleted: boolean): Found {
    const rows = select(source, { statement, scope, includeDeleted });
    return { object: scope.name, fields: statement.fields.map((written) => resolveField(written, scope)), rows };
  }

  return {
    query: (soql, options) => {
      const statement = parseStatement(soql);
      const scope = scopeOf(source, statement, fold);
      const found = find(statement, scope, options.includeDeleted);
      if (statement.count !== undefined) return answerCount(found.rows, statement.count, scope);
      return answer(found, 0, undefined, options);
    },
    queryMore: (locator, options) => {
      const [, id = '', start = ''] = /^(\w+)-(\d+)$/.exec(locator) ?? [];
      const [found] = results.find(id) ?? [];
      if (found === undefined) throw new Fault(400, 'INVALID_QUERY_LOCATOR', 'invalid query locator');
      return answer(found, Number(start), id, options);
    },
    findAll: (soql, { includeDeleted }) => {
      assertBulk(soql);
      const statement = parseStatement(soql);
      return find(statement, scopeOf(source, statement, fold), includeDeleted);
    },
  };
}

export function takeRows(rows: RowList, start: number, end: number): readonly TableRow[] {
  const taken: TableRow[] = [];
  for (let index = start; index < Math.min(end, rows.length); index++) {
    const row = rows.at(index);
    if (row !== undefined) taken.push(row);
  }
  return taken;
}

function answerCount(rows: RowList, { field: written, name }: Count, scope: Scope): Json {
  if (written === undefined) return { totalSize: rows.length, done: true, records: [] };
  const [path, field] = resolveField(written, scope);
  const count = takeRows(rows, 0, rows.length).filter((row) => readField(row, path, field) !== null).length;
  return { totalSize: 1, done: true, records: [{ attributes: { type: 'AggregateResult' }, [name]: count }] };
}

interface Selection {
  readonly statement: Statement;
  readonly scope: Scope;
  readonly includeDeleted: boolean;
}

function select({ dataset, readings }: Source, { statement, scope, includeDeleted }: Selection): RowList {
  const { object, where, orderBy, count, offset, limit } = statement;
  const test = where === undefined ? undefined : compileCondition(where, scope);
  const stored =
    dataset
      .get(object)
      ?.rows(includeDeleted)
      .filter(test ?? (() => true)) ?? [];
  const made = object === READINGS ? readings.find(test) : NO_ROWS;
  if (made.length > 0 && isById(orderBy)) return cut(join(made, stored), offset, limit);
  const found = made.length === 0 ? stored : [...takeRows(made, 0, made.length), ...stored];
  const sorted = sortRows(
    found,
    orderBy.map((order) => readOrder(order, scope)),
  );
  // LIMIT counts answers, of which a COUNT of a field is one.
  return count?.field === undefined ? sorted.slice(offset, offset + limit) : sorted;
}

const NO_ROWS: RowList = [];

/** The order that made rows are in. */
function isById(orderBy: readonly Order[]): boolean {
  const [first] = orderBy;
  return first === undefined || (first.field.toLowerCase() === 'id' && !first.descending);
}

function join(first: RowList, second: RowList): RowList {
  const { length } = first;
  if (second.length === 0) return first;
  return {
    length: length + second.length,
    at: (index) => (index < length ? first.at(index) : second.at(index - length)),
  };
}

function cut(rows: RowList, offset: number, limit: number): RowList {
  return { length: Math.max(0, Math.min(rows.length - offset, limit)), at: (index) => rows.at(index + offset) };
}

/** @throws Fault 400 for an object that is unknown or cannot be queried. */
function scopeOf({ dataset }: Source, { object: name }: Statement, fold: Scope['fold']): Scope {
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
