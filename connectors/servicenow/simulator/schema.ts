import type { Member, Members } from '#connector/simulator';
import official from '../official.json' with { type: 'json' };

/** A column as `sys_dictionary` describes it. Values are texts or null. */
export interface Column {
  /** The `internal_type` of ServiceNow. */
  readonly type: string;
  readonly longest: number;
  /** The table to whose records a reference refers. */
  readonly reference?: string;
  /** The column of the referenced record that the value contains. Default `sys_id`. */
  readonly key?: string;
  readonly mandatory?: boolean;
  readonly readOnly?: boolean;
  /** Labels of the values. */
  readonly choices?: Readonly<Record<string, string>>;
  /** Default value of a new record. */
  readonly initial?: string;
}

export type Columns = Readonly<Record<string, Column>>;

interface TableSchema {
  readonly label: string;
  /** The table that this one extends. */
  readonly base?: string;
  /** The table's own columns, which follow those of the base. */
  readonly columns: Columns;
  /** The column whose value represents a record in references. */
  readonly display?: string;
  /** Whether only the instance itself writes records. */
  readonly isClosed?: boolean;
}

export const TABLES: Readonly<Record<string, TableSchema>> = official.tables;

/** Returns the columns of a table, including inherited ones. An own column replaces an inherited column of the same name. */
export function columnsOf({ base, columns }: TableSchema): Columns {
  const above = TABLES[base ?? ''];
  return above === undefined ? columns : { ...columnsOf(above), ...columns };
}

/** Returns the table and the tables that extend it. */
export function classesOf(name: string): readonly string[] {
  const extensions = Object.keys(TABLES).filter((other) => TABLES[other]?.base === name);
  return [name, ...extensions.flatMap(classesOf)];
}

type Kind = Exclude<Member['type'], 'array'>;

const KINDS: Readonly<Record<string, Kind>> = {
  ...{ integer: 'integer', decimal: 'number', boolean: 'boolean', glide_date: 'date', glide_date_time: 'datetime' },
  // Each entry of a journal is a record of its own, so repeating a text adds an entry.
  journal_input: 'object',
};

/** Returns the kind by which values of the column are compared. */
export function kindOf({ type, reference }: Column): Kind {
  return reference === undefined ? (KINDS[type] ?? 'string') : 'reference';
}

/**
 * Returns the members that requests can write. ServiceNow's null is an empty text, and columns that the instance writes itself are
 * excluded.
 */
export function membersFrom(columns: Columns): Members {
  const known = Object.entries(columns).filter(([name]) => !name.startsWith('sys_'));
  return Object.fromEntries(
    known.map(([name, column]): [string, Member] => {
      const { longest, reference: refersTo, choices, mandatory, readOnly: isReadOnly, initial } = column;
      const type = choices === undefined ? kindOf(column) : 'string';
      const isNeverNull = mandatory === true || initial !== undefined;
      const form = { type, longest, refersTo, values: choices && Object.keys(choices) };
      return [name, { ...form, isReadOnly, isNeverNull, isPossible: (text) => text !== '' }];
    }),
  );
}

/** Readers of texts by kind. A reader returns undefined for a text that is no value of the kind. */
export const READERS: Readonly<Record<Kind, (text: string) => string | undefined>> = {
  string: (text) => text,
  reference: (text) => text,
  object: (text) => text,
  integer: readNumber,
  number: readNumber,
  boolean: (text) => (/^(?:true|false|1|0)$/i.test(text) ? String(/^(?:true|1)$/i.test(text)) : undefined),
  date: (text) => readMoment(text)?.slice(0, 10),
  datetime: readMoment,
};

function readNumber(text: string): string | undefined {
  return /^-?\d+(?:\.\d+)?$/.test(text) ? text : undefined;
}

/** Reads a time. A day is its first second. A day such as 30 February is rejected, although it can be parsed. */
function readMoment(text: string): string | undefined {
  const full = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text} 00:00:00` : text;
  const ms = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(full) ? Date.parse(`${full}Z`) : Number.NaN;
  return !Number.isNaN(ms) && printMoment(ms) === full ? full : undefined;
}

/** Prints a time as `yyyy-MM-dd HH:mm:ss`, in UTC. */
export function printMoment(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}
