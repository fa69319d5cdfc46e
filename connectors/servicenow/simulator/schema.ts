import type { Member, Members } from '#connector/simulator';
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

interface TableSchema {
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

/** Its own and those it has from what it extends, under which its own may stand in place of another. */
export function columnsOf({ base, columns }: TableSchema): Columns {
  const above = TABLES[base ?? ''];
  return above === undefined ? columns : { ...columnsOf(above), ...columns };
}

/** The table and what extends it. */
export function classesOf(name: string): readonly string[] {
  const extensions = Object.keys(TABLES).filter((other) => TABLES[other]?.base === name);
  return [name, ...extensions.flatMap(classesOf)];
}

type Kind = Exclude<Member['type'], 'array'>;

const KINDS: Readonly<Record<string, Kind>> = {
  ...{ integer: 'integer', decimal: 'number', boolean: 'boolean', glide_date: 'date', glide_date_time: 'datetime' },
  // Each entry of a journal is a record of its own, and the same text twice is two of them.
  journal_input: 'object',
};

/** How values of the column are compared. */
export function kindOf({ type, reference }: Column): Kind {
  return reference === undefined ? (KINDS[type] ?? 'string') : 'reference';
}

/** Nothing is an empty text at ServiceNow, and what the instance writes itself is no member. */
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

/** Read a text as a value of the kind. Undefined for what is none. */
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

/** A day is its first second. The thirtieth of February is none, though it can be parsed. */
function readMoment(text: string): string | undefined {
  const full = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text} 00:00:00` : text;
  const ms = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(full) ? Date.parse(`${full}Z`) : Number.NaN;
  return !Number.isNaN(ms) && printMoment(ms) === full ? full : undefined;
}

/** `yyyy-MM-dd HH:mm:ss`, in UTC. */
export function printMoment(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}
