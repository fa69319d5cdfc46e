import type { Knex } from 'knex';
import { EXACT_IN_SQL, type FieldSpec, prepareSql, type Sql, type SqlQueryable } from '../where/index.ts';

const NEEDED = { nullable: false, filter: EXACT_IN_SQL } as const;

/** Types of columns that callers filter by. PostgreSQL evaluates every operator exactly. */
export const TEXT = { type: 'string', ...NEEDED } as const;
export const INTEGER = { type: 'integer', ...NEEDED } as const;
export const FLAG = { type: 'boolean', ...NEEDED } as const;
export const INSTANT = { type: 'datetime', ...NEEDED } as const;

/** Returns the field for a column that may be null. */
export function orNull<Spec extends FieldSpec>(spec: Spec) {
  return { ...spec, nullable: true } as const;
}

/** Declares the columns of a table that callers may filter by: for each field its type, and its expression over the table. */
export function filterable(fields: Readonly<Record<string, readonly [FieldSpec, string]>>): SqlQueryable {
  const entries = Object.entries(fields);
  return {
    fields: Object.fromEntries(entries.map(([name, [spec]]) => [name, spec])),
    columns: Object.fromEntries(entries.map(([name, [, column]]) => [name, column])),
  };
}

/** The page of a list that a caller wants. */
export interface PageQuery {
  /** A filter in the query language over the fields that `filterable` declares. */
  readonly where?: string | undefined;
  /** Restricts the list to rows after this id, in the order of the list. */
  readonly afterId?: number | undefined;
  readonly limit: number;
}

/** The rows that a store selects for a page. */
export interface Selection extends Omit<PageQuery, 'where'> {
  readonly condition?: Sql | undefined;
  /** Whether the newest rows come first. Default: the oldest. */
  readonly newestFirst?: boolean | undefined;
}

/**
 * Reads a page. It selects one row more than the limit, which shows whether another page follows.
 * @returns the rows and, unless they are the last ones, the `last` of them, behind which the next page begins
 * @throws AppError WHERE_SYNTAX, WHERE_INVALID
 */
export async function listPage<Row, Query extends Pick<PageQuery, 'where' | 'limit'>>(
  queryable: SqlQueryable,
  { where, ...query }: Query,
  read: (selection: Omit<Query, 'where'> & Pick<Selection, 'condition'>) => Promise<readonly Row[]>,
): Promise<{ readonly rows: readonly Row[]; readonly last: Row | undefined }> {
  const { limit } = query;
  const condition = where === undefined ? undefined : prepareSql(where, queryable);
  const found = await read({ ...query, condition, limit: limit + 1 });
  const rows = found.slice(0, limit);
  return { rows, last: found.length > limit ? rows.at(-1) : undefined };
}

/** Restricts a query of a table with ids to one page. */
export function selectPage<Query extends Knex.QueryBuilder>(
  query: Query,
  { condition, afterId, newestFirst = false, limit }: Selection,
): Query {
  query.orderBy('id', newestFirst ? 'desc' : 'asc').limit(limit);
  if (afterId !== undefined) query.where('id', newestFirst ? '<' : '>', afterId);
  if (condition !== undefined) narrow(query, condition);
  return query;
}

export function narrow(query: Knex.QueryBuilder, { sql, bindings }: Sql): void {
  query.whereRaw(sql, [...bindings]);
}
