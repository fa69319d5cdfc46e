import type { FieldType } from '../../where/index.ts';
import type { Fields } from '../contract.ts';
import type { FilterField } from './filter.ts';
import type { TableRow } from './table.ts';

/** One member of a record. Rows are made from it, and input is checked against it. */
export interface Member {
  /** The type. A `reference` is the id of a record of the collection in `refersTo`. */
  readonly type: FieldType | 'reference';
  /** All possible values. */
  readonly values?: readonly string[];
  /** Maximum length of a text in characters. */
  readonly longest?: number;
  /** Returns whether a row can hold the text. */
  readonly isPossible?: (text: string) => boolean;
  /** The smallest and the greatest number. */
  readonly range?: readonly [least: string, most: string];
  /** Whether a new record must have it. Default false. */
  readonly isRequired?: boolean;
  /** Whether callers cannot set it. Default false. */
  readonly isReadOnly?: boolean;
  /** Whether every row has a value. Default false. */
  readonly isNeverNull?: boolean;
  readonly refersTo?: string;
}

/** Members by name. The name is a path (`employee.id`) where the value is inside an object. */
export type Members = Readonly<Record<string, Member>>;

/** Returns the members that a connector declares: native paths, types, values, and what can be written. */
export function membersOf(fields: Fields): Members {
  const entries = Object.entries(fields).map(([name, spec]): [string, Member] => {
    const { type, native = name, values, range, domain, required, nullable, createable, updateable } = spec;
    const { longest, nonEmpty, possible } = domain?.text ?? {};
    const isPossible = (text: string) => (nonEmpty !== true || text !== '') && possible?.(text) !== false;
    const isReadOnly = createable !== true && updateable !== true;
    const access = { isReadOnly, isRequired: required, isNeverNull: nullable === false };
    return [native, { type, values, range, longest, isPossible, ...access }];
  });
  return Object.fromEntries(entries);
}

/** A record in the provider's official description, as `official.json` has it. */
export interface RecordDescription {
  /** Members with their type (`string`, `string(100)`, `integer`, `reference(companies)`), or with the list of their values. */
  readonly properties: Readonly<Record<string, string | readonly string[]>>;
  readonly required?: readonly string[];
  readonly readOnly?: readonly string[];
}

/**
 * Returns the members of a described record.
 * @throws Error for an unknown type
 */
export function describedMembers({ properties, required = [], readOnly = [] }: RecordDescription): Members {
  const entries = Object.entries(properties).map(([name, property]): [string, Member] => {
    const isRequired = required.includes(name);
    return [
      name,
      { ...readProperty(property), isRequired, isNeverNull: isRequired, isReadOnly: readOnly.includes(name) },
    ];
  });
  return Object.fromEntries(entries);
}

function readProperty(property: string | readonly string[]): Pick<Member, 'type' | 'values' | 'longest' | 'refersTo'> {
  if (typeof property !== 'string') return { type: 'string', values: property };
  const [, type = '', argument] = /^(\w+)(?:\((\w+)\))?$/.exec(property) ?? [];
  if (!isType(type)) throw new Error(`'${property}' is no type.`);
  if (type === 'reference') return { type, refersTo: argument };
  return { type, longest: argument === undefined ? undefined : Number(argument) };
}

const TYPES = ['string', 'integer', 'number', 'boolean', 'date', 'datetime', 'array', 'object', 'reference'] as const;

function isType(word: string): word is Member['type'] {
  return TYPES.some((type) => type === word);
}

/** Returns the value at a path; undefined where an object on the way is missing. */
export function valueAt(row: TableRow, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => Object(value ?? {})[name], row);
}

/** A comparison of texts, for providers whose documentation does not define it. */
export type TextRule = 'ignoring case' | 'as written';

/** Functions that normalise a text before it is compared, by rule. */
export const FOLDS: Readonly<Record<TextRule, (text: string) => string>> = {
  'ignoring case': (text) => text.toLowerCase().trimEnd(),
  'as written': (text) => text,
};

/** Returns a member as filters and orders compare it; undefined for lists and objects, which neither accepts. */
export function filterFieldOf(members: Members, path: string, rule: TextRule = 'as written') {
  const { type, values } = (Object.hasOwn(members, path) ? members[path] : undefined) ?? {};
  if (type === undefined || type === 'array' || type === 'object') return undefined;
  // Listed values are compared as they are written.
  const fold = type === 'string' && values === undefined ? FOLDS[rule] : undefined;
  return {
    type: type === 'reference' ? 'integer' : type,
    read: (row: TableRow) => valueAt(row, path),
    fold,
  } satisfies FilterField;
}

/** Returns a text in lower case. A letter whose lower case has several characters, such as İ, stays as it is. */
export function foldCases(text: string): string {
  return Array.from(text, (letter) => ([...letter.toLowerCase()].length === 1 ? letter.toLowerCase() : letter)).join(
    '',
  );
}
