import official from '../official.json' with { type: 'json' };

/** A column as `sys_dictionary` has it. Values are texts, and null for nothing. */
export interface Column {
  /** The provider's `internal_type`. */
  readonly type: string;
  readonly longest: number;
  /** The table that a reference names a record of. */
  readonly reference?: string;
  /** What of that record it names. Default `sys_id`. */
  readonly key?: string;
  readonly mandatory?: boolean;
  readonly readOnly?: boolean;
  /** Labels of the values. */
  readonly choices?: Readonly<Record<string, string>>;
  /** What a new record has where nothing was said. */
  readonly initial?: string;
}

export type Columns = Readonly<Record<string, Column>>;

export interface TableSchema {
  readonly label: string;
  /** What it extends. */
  readonly base?: string;
  /** Its own: those of the base come before. */
  readonly columns: Columns;
  /** The column that stands for a record where another one names it. */
  readonly display?: string;
  /** Only the instance itself writes here. */
  readonly isClosed?: boolean;
}

export const TABLES: Readonly<Record<string, TableSchema>> = official.tables;

export const DAYS: readonly string[] = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** Its own and those it has from what it extends, under which its own may stand in place of another. */
export function columnsOf(name: string): Columns {
  const { base, columns } = schemaOf(name);
  const all = ALL_COLUMNS.get(name) ?? (base === undefined ? columns : { ...columnsOf(base), ...columns });
  ALL_COLUMNS.set(name, all);
  return all;
}

const ALL_COLUMNS = new Map<string, Columns>();

/** The table and what extends it. */
export function classesOf(name: string): readonly string[] {
  const extensions = Object.keys(TABLES).filter((other) => schemaOf(other).base === name);
  return [name, ...extensions.flatMap(classesOf)];
}

export function schemaOf(name: string): TableSchema {
  const schema = Object.hasOwn(TABLES, name) ? TABLES[name] : undefined;
  if (schema === undefined) throw new Error(`There is no table ${name}.`);
  return schema;
}

/** How values of the column are compared. */
export function kindOf({ type, reference }: Column) {
  return reference === undefined ? (KINDS[type] ?? 'string') : 'reference';
}

const KINDS: Readonly<Record<string, 'number' | 'boolean' | 'date' | 'datetime'>> = {
  integer: 'number',
  decimal: 'number',
  boolean: 'boolean',
  glide_date: 'date',
  glide_date_time: 'datetime',
};
