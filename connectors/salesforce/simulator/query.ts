import { compileCondition, toKey } from './condition.ts';
import type { Dataset } from './data.ts';
import { resolveField, type Scope } from './paths.ts';
import { Problem } from './problem.ts';
import { type FieldSchema, OBJECTS, type Row, readField } from './schema.ts';
import { type Count, type Order, parseStatement, type Statement } from './statement.ts';

type Json = Readonly<Record<string, unknown>>;

export interface QueryOptions {
  /** `/services/data/v62.0`. */
  readonly prefix: string;
  readonly includeDeleted: boolean;
  readonly batchSize: number;
}

/** Runs statements, and keeps what is left of long results for `nextRecordsUrl`. */
export interface QueryEngine {
  readonly query: (soql: string, options: QueryOptions) => Json;
  /** @throws Problem 400 for a locator that is unknown or was dropped. */
  readonly queryMore: (locator: string, options: Omit<QueryOptions, 'includeDeleted'>) => Json;
}

const MAX_CURSORS = 50;

export function createQueryEngine(dataset: Dataset, fold: Scope['fold']): QueryEngine {
  const results = new Map<string, readonly Json[]>();
  let made = 0;

  function answer(
    records: readonly Json[],
    start: number,
    locator: string | undefined,
    options: Omit<QueryOptions, 'includeDeleted'>,
  ) {
    const end = start + options.batchSize;
    const page = { totalSize: records.length, done: end >= records.length, records: records.slice(start, end) };
    if (page.done) return page;
    const id = locator ?? keep(records);
    return { ...page, nextRecordsUrl: `${options.prefix}/query/${id}-${end}` };
  }

  function keep(records: readonly Json[]): string {
    const id = `0r85g00000${String(made++).padStart(5, '0')}AAA`;
    results.set(id, records);
    const [oldest] = results.keys();
    if (results.size > MAX_CURSORS && oldest !== undefined) results.delete(oldest);
    return id;
  }

  return {
    query: (soql, options) => {
      const statement = parseStatement(soql);
      const scope = scopeOf(dataset, statement, fold);
      const rows = select(dataset, {
        statement: toSelection(statement),
        scope,
        includeDeleted: options.includeDeleted,
      });
      if (statement.count !== undefined) return answerCount(rows, statement.count, scope);
      const project = createProjection(statement, scope, options.prefix);
      return answer(rows.map(project), 0, undefined, options);
    },
    queryMore: (locator, options) => {
      const [, id = '', start = ''] = /^(\w+)-(\d+)$/.exec(locator) ?? [];
      const records = results.get(id);
      if (records === undefined) throw new Problem(400, 'INVALID_QUERY_LOCATOR', 'invalid query locator');
      return answer(records, Number(start), id, options);
    },
  };
}

/** LIMIT counts answers, of which a COUNT of a field is one. */
function toSelection(statement: Statement): Statement {
  return statement.count?.field === undefined
    ? statement
    : { ...statement, limit: Number.POSITIVE_INFINITY, offset: 0 };
}

function answerCount(rows: readonly Row[], { field: written, name }: Count, scope: Scope): Json {
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

function select(dataset: Dataset, { statement, scope, includeDeleted }: Selection): readonly Row[] {
  const { where, offset, limit } = statement;
  const test = where === undefined ? () => true : compileCondition(where, scope);
  const rows = (dataset.get(statement.object) ?? []).filter((row) => includeDeleted || row.IsDeleted !== true);
  return rows
    .filter(test)
    .sort(compareRows(statement, scope))
    .slice(offset, offset + limit);
}

/** @throws Problem 400 for an object that is unknown or cannot be queried. */
function scopeOf(dataset: Dataset, { object: name }: Statement, fold: Scope['fold']): Scope {
  const object = OBJECTS[name];
  if (object === undefined || object.abilities?.queryable === false) {
    throw new Problem(400, 'INVALID_TYPE', `sObject type '${name}' is not supported.`);
  }
  const findRow: Scope['findRow'] = (objectName, id) => dataset.get(objectName)?.find((row) => row.Id === id);
  return { name, object, findRow, fold };
}

function compareRows({ orderBy }: Statement, scope: Scope): (a: Row, b: Row) => number {
  const terms = orderBy.map((order) => ({ order, key: keyReader(order, scope) }));
  return (a, b) => {
    for (const { order, key } of terms) {
      const [x, y] = [key(a), key(b)];
      if (x === y) continue;
      if (x === null || y === null) return (x === null) === order.nullsFirst ? -1 : 1;
      return x < y === order.descending ? 1 : -1;
    }
    return 0;
  };
}

function keyReader({ field: written }: Order, scope: Scope) {
  const [name, field] = resolveField(written, scope);
  if (field.unfilterable === true) {
    throw new Problem(400, 'INVALID_FIELD', `field '${name}' can not be sorted in a query call`);
  }
  return (row: Row) => toKey(field, readField(row, name, field), scope.fold);
}

function createProjection(statement: Statement, scope: Scope, prefix: string): (row: Row) => Json {
  const fields = statement.fields.map((written) => resolveField(written, scope));
  return (row) => showRecord(scope.name, row, { fields, prefix });
}

interface Shown {
  /** By name, or by path for those of a parent. */
  readonly fields: readonly (readonly [string, FieldSchema])[];
  readonly prefix: string;
}

/** A record as answers have it; files are the path they are at, and a parent is an object inside it, or null. */
export function showRecord(objectName: string, row: Row, { fields, prefix }: Shown): Json {
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
