import type { TableRow } from '#connector/simulator';
import { type FieldType, FORM, fieldOf, LIST_ITEMS, printMoment } from './form.ts';
import { LONGEST_NAME } from './rows.ts';
import { badRequest } from './search.ts';

type Values = Readonly<Record<string, unknown>>;

/** In characters. `Purpose` is taken, and shown nowhere. */
const LONGEST: Readonly<Record<string, number>> = { Name: LONGEST_NAME, Purpose: 500, Comment: 500 };
const LONGEST_FIELD = 48;
const MOMENT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{1,3})?)?$/;

/**
 * What can be set of a report; the rest is passed over, the policy too, and null is as if it was not given.
 * @throws Fault 400 for a value of another type or one that is too long, and for a name that is missing
 */
export function readReport(body: Values, isNew: boolean): TableRow {
  const given = Object.entries(body).filter(([, value]) => value !== null);
  const read = Object.fromEntries(given.flatMap(([name, value]) => readMember(name, value)));
  if (isNew && read.Name === undefined) throw badRequest('Name is required.');
  return read;
}

function readMember(name: string, value: unknown): readonly (readonly [string, unknown])[] {
  const type = Object.hasOwn(FORM, name) ? FORM[name] : undefined;
  const longest = type === undefined ? LONGEST[name] : LONGEST_FIELD;
  if (longest === undefined && name !== 'UserDefinedDate') return [];
  if (typeof value !== 'string') throw badRequest(`${name} is a string.`);
  if (value.length > (longest ?? Number.POSITIVE_INFINITY))
    throw badRequest(`${name} has more than ${longest} characters.`);
  if (name === 'UserDefinedDate') return [[name, readMoment(name, value)]];
  if (name === 'Name' && value.trim() === '') throw badRequest('Name is required.');
  if (name === 'Purpose') return [];
  if (name === 'Comment') return [['LastComment', value]];
  return [[name, type === undefined ? value : readField(name, type, value)]];
}

/** Without a zone, as it is shown. */
function readMoment(name: string, value: string): string {
  const ms = Date.parse(value.length === 10 ? value : `${value}Z`);
  if (!MOMENT.test(value) || Number.isNaN(ms)) throw badRequest(`${name} is a date and time, and not '${value}'.`);
  return printMoment(ms);
}

/** A list takes codes. One that it does not have is kept as it is: the documents call that bad data. */
function readField(name: string, type: FieldType, value: string): TableRow | null {
  if (type === 'Number' && !/^(?:-?\d+(?:\.\d+)?)?$/.test(value)) throw badRequest(`${name} is a number.`);
  const item = type === 'List' ? LIST_ITEMS.find(({ Code }) => Code === value) : undefined;
  return item ?? fieldOf(type, value);
}
