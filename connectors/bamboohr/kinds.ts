import type { FieldSpec } from '#connector';
import {
  readAmount,
  readBoolean,
  readDate,
  readInteger,
  readList,
  readOption,
  writeAmount,
  writeCheckbox,
  writeText,
} from './values.ts';

/**
 * What each kind of column can do. Only what the description of the dataset query promises is declared, and `exact` only where
 * nothing about the comparison is open:
 * - Text: whether cases are told apart is not documented. Compared as `cs`, an `eq` that ignores case only finds too much; a `ne`
 *   that ignores case would find too little, so there is none. `in` takes one value only on text, numbers and dates.
 * - Dates: no value may be stored as 0000-00-00, which is before every date, and may count as different from one.
 * - Numbers: no value may count as 0, and as different from every number.
 * - Amounts, booleans, several options, government ids: no operator is documented.
 */
export const KINDS = {
  id: {
    type: 'integer',
    nullable: false,
    sortable: true,
    filter: { '=': 'exact', '!=': 'exact', '<': 'exact', '<=': 'exact', '>': 'exact', '>=': 'exact' },
    read: readInteger,
  },
  text: {
    type: 'string',
    sortable: true,
    collation: 'cs',
    // What BambooHR finds for an empty literal is not documented.
    domain: { text: { askable: (text) => text !== '' } },
    filter: { '=': 'superset' },
    write: writeText,
  },
  options: {
    type: 'string',
    sortable: true,
    collation: 'cs',
    domain: { text: { nonEmpty: true } },
    filter: { '=': 'superset', IN: 'superset' },
    read: readOption,
    write: writeText,
  },
  /**
   * The only list that is the same for every customer. It is asked for in its own spelling, so that it does not matter whether BambooHR
   * tells cases apart.
   */
  status: {
    type: 'string',
    nullable: false,
    sortable: true,
    collation: 'ci',
    values: ['Active', 'Inactive'],
    domain: { closed: true },
    filter: { '=': 'exact', '!=': 'exact', IN: 'exact' },
  },
  date: {
    type: 'date',
    sortable: true,
    filter: { '=': 'exact', '!=': 'superset', '<': 'superset', '<=': 'superset', '>': 'exact', '>=': 'exact' },
    read: readDate,
    write: writeText,
  },
  integer: {
    type: 'integer',
    sortable: true,
    filter: { '=': 'superset', '!=': 'superset', '<': 'superset', '<=': 'superset', '>': 'superset', '>=': 'superset' },
    read: readInteger,
    write: writeText,
  },
  amount: { type: 'number', read: readAmount, write: writeAmount },
  boolean: { type: 'boolean', read: readBoolean, write: writeCheckbox },
  list: { type: 'array', read: readList },
  opaque: { type: 'string', write: writeText },
} as const satisfies Record<string, FieldSpec>;

export type Kind = keyof typeof KINDS;

/** The words that `meta/fields` has for types. A field of another one (`state`, `ssn`, `pay_type`) is shown as text and not filtered. */
const KIND_BY_TYPE: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['text', 'text'],
  ['textarea', 'text'],
  ['email', 'text'],
  ['phone', 'text'],
  ['list', 'options'],
  ['multilist', 'list'],
  ['date', 'date'],
  ['int', 'integer'],
  ['currency', 'amount'],
  ['checkbox', 'boolean'],
]);

/** Undefined where the type is not told. */
export function findKind(type: string | undefined): Kind | undefined {
  return type === undefined ? undefined : (KIND_BY_TYPE.get(type) ?? 'opaque');
}
