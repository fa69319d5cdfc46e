import { createResults, Fault, type RowOrder, sortRows, type TableRow } from '#connector/simulator';
import { comparedField, compileCondition, foldOf, resolveField, type Scope } from './condition.ts';
import type { Organization } from './organization.ts';
import { makeReading, READINGS } from './readings.ts';
import { type Field, OBJECTS, type SObject } from './schema.ts';
import { type Order, parseStatement, type Statement } from './statement.ts';

type Json = Readonly<Record<string, unknown>>;

interface PageOptions {
  /** Path of the API, such as `/services/data/v62.0`. */
  readonly prefix: string;
  readonly batchSize: number;
  /** Whether each page returns its own address as the next one. */
  readonly isStuck: boolean;
}

export type QueryEngine = ReturnType<typeof createQueryEngine>;

export interface Found {
  readonly object: SObject;
  readonly fields: readonly Field[];
  /** The found rows. Readings are created when they are read, so they are represented by their index. */
  readonly rows: readonly (TableRow | number)[];
}

/** Creates an engine that runs statements, and stores long results for `nextRecordsUrl`. */
export function createQueryEngine(organization: Organization, fold: Scope['fold']) {
  const results = createResults<Found>({
    most: 50,
    makeId: (number) => `0r85g00000${String(number).padStart(5, '0')}AAA`,
  });

  function respond(found: Found, { start, id }: { start: number; id?: string }, options: PageOptions): Json {
    const { rows, object, fields } = found;
    const end = start + options.batchSize;
    const records = takeRows(rows, start, end).map((row) => showRecord(object.name, row, { ...options, fields }));
    const page = { totalSize: rows.length, done: end >= rows.length && !options.isStuck, records };
    if (page.done) return page;
    const next = `${id ?? results.keep([found])}-${options.isStuck ? start : end}`;
    return { ...page, nextRecordsUrl: `${options.prefix}/query/${next}` };
  }

  /**
   * Returns the scope of a statement.
   * @throws Fault 400 for an object that is unknown or cannot be queried
   */
  function scopeOf({ object: name }: Statement): Scope {
    const object = OBJECTS[name];
    if (object?.queryable !== true) throw new Fault(400, 'INVALID_TYPE', `sObject type '${name}' is not supported.`);
    return { object, findRow: organization.find, fold };
  }

  /** Returns all rows of a statement, regardless of pages or sets. */
  function find(statement: Statement, includeDeleted: boolean): Found {
    const scope = scopeOf(statement);
    const { object } = scope;
    const { where, orderBy, limit } = statement;
    const passes = where === undefined ? undefined : compileCondition(where, scope);
    const stored =
      organization.collections[object.name]?.table.rows(includeDeleted).filter(passes ?? (() => true)) ?? [];
    const found = object.name === READINGS ? [...organization.readings.find(passes), ...stored] : stored;
    // Readings are in the order of ids already.
    const isById = orderBy.length === 0 || (orderBy[0]?.field.toLowerCase() === 'id' && !orderBy[0].descending);
    const terms = orderBy.map((order) => orderOf(order, scope));
    const rows = object.name === READINGS && isById ? found : sortRows(takeRows(found), terms);
    const fields = statement.fields.map((written) => resolveField(written, scope));
    return { object, fields, rows: rows.slice(0, limit) };
  }

  return {
    find,
    query: (soql: string, { includeDeleted, ...options }: PageOptions & { readonly includeDeleted: boolean }): Json => {
      const statement = parseStatement(soql);
      const found = find(statement, includeDeleted);
      if (statement.isCount) return { totalSize: found.rows.length, done: true, records: [] };
      return respond(found, { start: 0 }, options);
    },
    /**
     * Returns the next page of a result.
     * @throws Fault 400 for a locator that is unknown or was dropped
     */
    queryMore: (locator: string, options: PageOptions): Json => {
      const [, id = '', start = ''] = /^(\w+)-(\d+)$/.exec(locator) ?? [];
      const [found] = results.find(id) ?? [];
      if (found === undefined) throw new Fault(400, 'INVALID_QUERY_LOCATOR', 'invalid query locator');
      return respond(found, { start: Number(start), id }, options);
    },
  };
}

export function takeRows(rows: Found['rows'], start?: number, end?: number): readonly TableRow[] {
  return rows.slice(start, end).map((row) => (typeof row === 'number' ? makeReading(row) : row));
}

function orderOf({ field: written, descending, nullsFirst }: Order, scope: Scope): RowOrder {
  const field = resolveField(written, scope);
  if (!field.filterable) {
    throw new Fault(400, 'INVALID_FIELD', `field '${field.name}' can not be sorted in a query call`);
  }
  return { ...comparedField(field, foldOf(field, scope)), descending, nulls: nullsFirst ? 'first' : 'last' };
}

/** Prints a record as responses contain it. A file is its path, and a parent is an object inside it or null. */
export function showRecord(
  object: string,
  row: TableRow,
  { fields, prefix }: Pick<Found, 'fields'> & Pick<PageOptions, 'prefix'>,
): Json {
  const url = `${prefix}/sobjects/${object}/${row.Id}`;
  const shown: Record<string, unknown> = { attributes: { type: object, url } };
  for (const { name, type, read } of fields) {
    const value = read(row);
    const [parent = name, inner] = name.split('.');
    if (inner !== undefined) shown[parent] = value === null ? null : { [inner]: value };
    else shown[name] = type === 'base64' && value !== null ? `${url}/${name}` : value;
  }
  return shown;
}
