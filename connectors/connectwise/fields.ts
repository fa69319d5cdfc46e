import { can, type FieldSpec, type Fields, json } from '#connector';
import { isAskable } from './conditions.ts';

const GIVEN = { createable: true } as const;
const WRITTEN = { createable: true, updateable: true } as const;

/** ConnectWise does not document whether a missing value differs from every value. */
const EQUAL = { ...can.only('exact', '=', 'IN'), ...can.only('superset', '!=', 'NOT IN') };
const INTEGERS = ['-2147483648', '2147483647'] as const;

/** A text. As far as is known, ConnectWise compares texts without regard to case, and `*` and `_` may be wildcards. */
const text = {
  type: 'string',
  domain: { text: { askable: isAskable } },
  filter: can.only('superset', '=', 'IN', 'LIKE'),
} as const satisfies FieldSpec;
const integer = {
  type: 'integer',
  range: INTEGERS,
  filter: { ...EQUAL, ...can.order('exact'), ...can.null },
} as const satisfies FieldSpec;
const number = {
  type: 'number',
  filter: { ...can.compare('superset'), ...can.null },
} as const satisfies FieldSpec;
const flag = { type: 'boolean', filter: can.only('exact', '=') } as const satisfies FieldSpec;
/**
 * A time that is returned in whole seconds. If ConnectWise stores fractions, only these two operators have the same meaning for the
 * returned value. The service derives the others from them.
 */
const instant = {
  type: 'datetime',
  domain: { step: 'second', first: '1753-01-01', last: '9999-12-31' },
  filter: { ...can.only('exact', '<', '>='), ...can.null },
} as const satisfies FieldSpec;

/** Read-only fields by the names of the table. `memo` is a text of any length, by which conditions cannot filter. */
export const shown = {
  text,
  memo: { type: 'string' },
  integer,
  number,
  flag,
  instant,
  /** A time that the schema declares as a text. */
  moment: { type: 'datetime' },
  list: { type: 'array' },
} as const satisfies Fields;

export const written = {
  text: { ...text, ...WRITTEN },
  memo: { ...shown.memo, ...WRITTEN },
  /** A required text. */
  name: { ...text, ...WRITTEN, required: true, nullable: false },
  email: { ...text, ...WRITTEN, format: 'email' },
  integer: { ...integer, ...WRITTEN },
  number: { ...number, ...WRITTEN },
  flag: { ...flag, ...WRITTEN },
  instant: { ...instant, ...WRITTEN },
  list: { ...shown.list, ...WRITTEN },
} as const satisfies Fields;

/** Returns a field that only a creation accepts, and that no response contains. */
export const input = (label: string) => ({ type: 'string', label, ...GIVEN }) as const satisfies FieldSpec;

/** Returns a field with the given values of the schema. Another value is an error in a condition, so requests contain none. */
export function oneOf(...values: readonly string[]) {
  const filter = can.only('superset', '=', '!=', 'IN', 'NOT IN');
  return {
    type: 'string',
    values,
    domain: { text: { askable: (text) => values.includes(text) } },
    filter,
  } as const satisfies FieldSpec;
}

export const chosenOf = (...values: readonly string[]) => ({ ...oneOf(...values), ...WRITTEN }) satisfies FieldSpec;

/** Returns fields with the same specification. */
export function each<Spec extends FieldSpec>(spec: Spec, ...names: readonly string[]): Readonly<Record<string, Spec>> {
  return Object.fromEntries(names.map((name) => [name, spec]));
}

/** Members that a reference contains in addition to the id. */
const SHOWN_OF_REFERENCE: Readonly<Record<string, readonly string[]>> = {
  company: ['identifier', 'name'],
  member: ['identifier', 'name'],
  owner: ['identifier', 'name'],
  primarySalesRep: ['identifier', 'name'],
  closedBy: ['identifier', 'name'],
  territoryManager: ['identifier', 'name'],
  parentCompany: ['identifier', 'name'],
  ticket: ['summary'],
};

/** Returns the fields of a reference to another record. Only its id can be written. */
function reference(name: string, access: Pick<FieldSpec, 'createable' | 'updateable' | 'required'>): Fields {
  const id: FieldSpec = { ...integer, ...access, ...(access.required === true && { nullable: false }) };
  const others = SHOWN_OF_REFERENCE[name] ?? ['name'];
  return { [`${name}.id`]: id, ...each(text, ...others.map((other) => `${name}.${other}`)) };
}

function referencesWith(access: Parameters<typeof reference>[1]) {
  return (...names: readonly string[]): Fields => Object.assign({}, ...names.map((name) => reference(name, access)));
}

export const references = {
  shown: referencesWith({}),
  written: referencesWith(WRITTEN),
  required: referencesWith({ ...WRITTEN, required: true }),
} as const;

/** Removes the filters from fields of the schema for which no source shows that a condition may name them. An unknown name is an error. */
export function unasked(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, { filter, domain, ...spec }]) => [name, spec]));
}

export const ID = { id: { ...integer, range: ['0', '2147483647'], nullable: false, sortable: true } } as const;

/** Fields of most records. */
export const OWN = {
  ...ID,
  '_info.lastUpdated': {
    ...instant,
    nullable: false,
    sortable: true,
    label: 'Last changed',
    // Name of the field in ConnectWise's conditions.
    aliases: { lastUpdated: '=' },
  },
  '_info.updatedBy': { ...shown.memo, label: 'User of the last change' },
} as const satisfies Fields;

/** Fields of only a few records. */
export const ENTERED = {
  '_info.dateEntered': { ...shown.moment, label: 'Created' },
  '_info.enteredBy': { ...shown.memo, label: 'User who created it' },
} as const satisfies Fields;

export const CUSTOM = {
  customFields: { ...written.list, label: 'Custom fields; an update writes all of them' },
} as const satisfies Fields;

type Values = Readonly<Record<string, unknown>>;

/** Returns null for a reference without an id. */
function toNative(value: unknown): unknown {
  return json.isObject(value) && Object.values(value).every((part) => part === null) ? null : value;
}

export function toBody(values: Values): Values {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, toNative(value)]));
}

/** Returns a JSON Patch (RFC 6902). A change inside a reference has no effect, so each member is replaced as a whole. */
export function toPatch(values: Values): readonly Values[] {
  return Object.entries(toBody(values)).map(([name, value]) => ({ op: 'replace', path: name, value }));
}
