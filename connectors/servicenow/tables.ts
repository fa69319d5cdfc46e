import { type ConnectorContext, type Json, json } from '#connector';
import { textOf } from './fields.ts';
import { countOf, ID, PLAIN } from './query.ts';

/** A table. It includes the columns of the table that it extends. */
export interface Table {
  readonly name: string;
  readonly label: string | undefined;
  /** The table itself, the table that it extends, and so on. */
  readonly chain: readonly string[];
  /** The table itself, and all tables that extend it. */
  readonly classes: readonly string[];
  /** Whether its records contain the time of their last change. */
  readonly isDated: boolean;
  /** The columns that refer to this table's records, by their table. */
  readonly references: ReadonlyMap<string, readonly string[]>;
}

/** Maximum number of rows per request. It is the default limit of an instance. */
const MOST_ROWS = 10_000;

/** Reads all rows, whatever their number. */
export async function readRows(
  { send }: Pick<ConnectorContext, 'send'>,
  { table, query, fields }: { readonly table: string; readonly query: string; readonly fields: readonly string[] },
): Promise<readonly Json[]> {
  const rows: Json[] = [];
  for (let offset = 0; ; offset += MOST_ROWS) {
    const response = await send({
      path: `/table/${table}`,
      query: {
        ...PLAIN,
        sysparm_query: `${query}^ORDERBY${ID}`,
        sysparm_fields: fields.join(','),
        sysparm_limit: MOST_ROWS,
        sysparm_offset: offset,
        sysparm_suppress_pagination_header: 'true',
      },
    });
    rows.push(...json.objects(json.at(response.body, 'result'), `the rows of ${table}`));
    if (offset + MOST_ROWS >= countOf(response)) return rows;
  }
}

/** Name of the element that contains the time of the last change. */
export const CHANGED = 'sys_updated_on';

/**
 * Reads every table of the instance, with two calls for each ten thousand tables or references. Sources: "Tables and classes", "System
 * dictionary".
 */
export async function readTables(context: ConnectorContext): Promise<readonly Table[]> {
  const [tables, columns] = await Promise.all([
    readRows(context, {
      table: 'sys_db_object',
      query: 'nameISNOTEMPTY',
      fields: [ID, 'name', 'label', 'super_class'],
    }),
    readRows(context, {
      table: 'sys_dictionary',
      query: `elementISNOTEMPTY^active=true^internal_type=reference^ORelement=${CHANGED}`,
      fields: ['name', 'element', 'internal_type', 'reference'],
    }),
  ]);
  const byId = new Map(tables.map((row) => [textOf(row[ID]), row]));
  const dated = new Set(columns.filter(({ element }) => element === CHANGED).map(({ name }) => textOf(name)));
  const named = tables.flatMap((row) => {
    const name = textOf(row.name);
    return name === undefined || !isName(name) ? [] : [{ name, label: textOf(row.label), chain: chainOf(row, byId) }];
  });
  const classes = groupPairs(named.flatMap(({ name, chain }) => chain.map((above) => [above, name] as const)));
  const references = groupReferences(columns);
  return named
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((table) => ({
      ...table,
      classes: classes.get(table.name) ?? [],
      isDated: table.chain.some((above) => dated.has(above)),
      references: references.get(table.name) ?? new Map(),
    }));
}

/**
 * Returns whether a text can be the name of a table or a column. Paths and queries contain names without escapes. Parts of partitioned
 * tables have other names.
 */
export function isName(name: string): boolean {
  return /^[a-z]\w*$/i.test(name);
}

/** Returns the table and the tables that it extends. A table that extends itself, which is invalid, ends the chain. */
function chainOf(row: Json, byId: ReadonlyMap<string | undefined, Json>): readonly string[] {
  const chain: string[] = [];
  for (let each: Json | undefined = row; each !== undefined; each = byId.get(textOf(each.super_class))) {
    const name = textOf(each.name);
    if (name === undefined || chain.includes(name)) break;
    chain.push(name);
  }
  return chain;
}

type References = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;

/** Groups references by the referenced table, and by the table of the column. */
function groupReferences(columns: readonly Json[]): References {
  const pairs = columns.flatMap(({ name, element, internal_type: type, reference }) => {
    const [from, column, to] = [textOf(name), textOf(element), textOf(reference)];
    const isReference = textOf(type) === 'reference' && from !== undefined && column !== undefined && to !== undefined;
    return isReference && isName(from) && isName(column) ? [[to, [from, column] as const] as const] : [];
  });
  return new Map([...groupPairs(pairs)].map(([to, found]) => [to, groupPairs(found)]));
}

function groupPairs<Value>(pairs: readonly (readonly [string, Value])[]): ReadonlyMap<string, readonly Value[]> {
  const groups = new Map<string, Value[]>();
  for (const [key, value] of pairs) {
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}
