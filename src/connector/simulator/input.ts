import type { Member, Members } from './members.ts';
import { writeSeconds } from './rows.ts';
import type { TableRow } from './table.ts';

/** A fault of one member of a body, which the provider reports in its own words. */
export interface Complaint {
  readonly reason: 'missing' | 'type' | 'length' | 'value' | 'readOnly' | 'unknown' | 'other';
  readonly member: string;
  readonly message: string;
  /** The provider's own code, for complaints that it makes itself. */
  readonly code?: string;
}

/** A description of the bodies that a provider accepts. */
export interface InputForm {
  /** Reads an instant as milliseconds since 1970. It returns undefined for any other value. Default: ISO 8601 with an offset. */
  readonly readTime?: (value: unknown) => number | undefined;
  /** Writes an instant in the provider's form. Default: ISO 8601 in UTC, in whole seconds. */
  readonly writeTime?: (ms: number) => unknown;
  /** Readers for types whose values are not as in JSON. They return undefined for any other value. */
  readonly read?: Readonly<Partial<Record<Member['type'], (value: unknown, member: Member) => unknown>>>;
  /** Whether members that are unknown or cannot be set are complained about. Default: they are ignored. */
  readonly isStrict?: boolean;
}

/** Reads the values of a record in a body: only members that can be set, checked by type, length and list of values. */
export function readInput(members: Members, body: TableRow, form: InputForm & { readonly isNew: boolean }) {
  const { isNew, isStrict = false, readTime = readIso, writeTime = writeSeconds } = form;
  const datetime = (value: unknown) => {
    const ms = readTime(value);
    return ms === undefined ? undefined : writeTime(ms);
  };
  const readers = { ...READERS, datetime, ...form.read };
  const complaints: Complaint[] = [];
  const values: Record<string, unknown> = {};
  const complain = (reason: Complaint['reason'], member: string, message: string) =>
    complaints.push({ reason, member, message });
  for (const [name, value] of Object.entries(body)) {
    const member = Object.hasOwn(members, name) ? members[name] : objectAt(members, name);
    if (member === undefined || member.isReadOnly === true) {
      if (isStrict) complain(member === undefined ? 'unknown' : 'readOnly', name, `${name} cannot be set`);
      continue;
    }
    const known = value === null ? null : readers[member.type](value, member);
    const reason = reasonAgainst(member, known);
    if (reason !== undefined) complain(reason, name, MESSAGES[reason](name, member));
    values[name] = known;
  }
  for (const [name, { isRequired, isReadOnly }] of Object.entries(members)) {
    const isMissing = isNew || name in values ? (values[name] ?? null) === null : false;
    if (isRequired === true && isReadOnly !== true && isMissing) complain('missing', name, `${name} is required`);
  }
  return { values, complaints };
}

/** Returns an object whose members are declared by path. It can be set if one of them can. */
function objectAt(members: Members, name: string): Member | undefined {
  const parts = Object.keys(members).filter((path) => path.startsWith(`${name}.`));
  if (parts.length === 0) return undefined;
  return { type: 'object', isReadOnly: parts.every((path) => members[path]?.isReadOnly === true) };
}

const isText = (value: unknown): value is string => typeof value === 'string';
function readIso(value: unknown): number | undefined {
  const ms = isText(value) && /^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

const only = (is: (value: unknown) => boolean) => (value: unknown) => (is(value) ? value : undefined);

const READERS: Readonly<Record<Exclude<Member['type'], 'datetime'>, (value: unknown, member: Member) => unknown>> = {
  string: only(isText),
  integer: only(Number.isSafeInteger),
  number: only(Number.isFinite),
  boolean: only((value) => typeof value === 'boolean'),
  date: only((value) => isText(value) && /^\d{4}-\d\d-\d\d$/.test(value)),
  array: only(Array.isArray),
  object: only((value) => typeof value === 'object' && !Array.isArray(value)),
  reference: (value) => value,
};

const MESSAGES = {
  type: (name: string, { type }: Member) => `${name} is not of type ${type}`,
  length: (name: string, { longest }: Member) => `${name} is longer than ${longest} characters`,
  value: (name: string, { values = [] }: Member) => `${name} is none of ${values.join(', ')}`,
} as const;

function reasonAgainst({ longest, values }: Member, value: unknown): keyof typeof MESSAGES | undefined {
  if (value === undefined) return 'type';
  if (!isText(value)) return undefined;
  if (value.length > (longest ?? Number.POSITIVE_INFINITY)) return 'length';
  return values?.includes(value) === false ? 'value' : undefined;
}
