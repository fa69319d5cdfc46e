import { can, codec, type Domain, type FieldSpec, type Fields, fieldsOf } from '#connector';
import official from './official.json' with { type: 'json' };

/** Characters of texts that are never sent, because Xero documents no escape. Causeway compares such texts itself. */
const UNWRITTEN = /["\\\p{Cc}]/u;

/** Whether Xero's comparison of texts depends on case is not documented, so rows are checked again, and negations request all rows. */
export const TEXT = {
  type: 'string',
  domain: { text: { askable: (text) => text !== '' && !UNWRITTEN.test(text), certain: () => false } },
  filter: { ...can.null, ...can.equal('superset'), ...can.only('superset', 'LIKE') },
  likeForms: ['prefix', 'suffix', 'contains'],
  likeExcept: '"\\\t\n\r',
} as const satisfies FieldSpec;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** The identifier of a record. Xero writes it in lower case. */
export const GUID = {
  type: 'string',
  format: 'uuid',
  domain: { text: { nonEmpty: true, possible: (text) => UUID.test(text) } },
  // How a missing identifier is compared is not documented, so only records with the right one are requested.
  filter: can.only('exact', '=', 'IN'),
} as const satisfies FieldSpec;
export const ID = { ...GUID, nullable: false, filter: can.equal('exact') } as const;

/** A choice that every record has made. */
export const CHOICE = {
  nullable: false,
  domain: { closed: true },
  filter: can.equal('exact'),
} as const satisfies Partial<FieldSpec>;

/** A choice that a record may not have made. */
export const OPTION = {
  domain: { closed: true },
  filter: can.only('exact', '=', 'IN'),
} as const satisfies Partial<FieldSpec>;

const NUMBERS: Domain = { digits: { significant: 15 } };
export const NUMBER = {
  domain: NUMBERS,
  range: ['-9999999999999', '9999999999999'],
  filter: { ...can.null, ...can.compare('exact') },
} as const satisfies Partial<FieldSpec>;
export const FLAG = { filter: can.only('exact', '=', '!=') } as const satisfies Partial<FieldSpec>;

/** Reads `/Date(1439434356790+0000)/`, whose offset changes nothing. Other notations stay as they are. Source: "Requests and responses". */
function readTime(native: unknown): unknown {
  const [, ms] = /^\/Date\((-?\d{1,15})(?:[+-]\d{4})?\)\/$/.exec(String(native)) ?? [];
  return ms === undefined ? codec.instant().read(native) : new Date(Number(ms)).toISOString();
}

function readDay(native: unknown): unknown {
  const time = readTime(native);
  return typeof time === 'string' ? time.slice(0, 10) : time;
}

export const DAY = {
  type: 'date',
  domain: { first: '1900-01-01', last: '2999-12-31' },
  filter: { ...can.null, ...can.compare('exact') },
  read: readDay,
} as const satisfies FieldSpec;

const UPDATED = {
  type: 'datetime',
  nullable: false,
  sortable: true,
  domain: { step: 'millisecond', first: '1990-01-01T00:00:00Z', last: '2999-12-31T00:00:00Z' },
  filter: can.order('superset'),
  read: readTime,
} as const satisfies FieldSpec;

/** A part of a record, such as the contact of an invoice. */
export const part = (native: string, spec: FieldSpec = ID): FieldSpec => ({ ...spec, native });

type But = Readonly<Record<string, Partial<FieldSpec>>>;

/** Returns the same specification for several fields. */
export function all(spec: Partial<FieldSpec>, names: string): But {
  return Object.fromEntries(names.split(' ').map((name) => [name, spec]));
}

/** Members of a schema that say how a request went, and say nothing about the record. */
const ABOUT_REQUESTS =
  /^(?:ValidationErrors|Warnings|Attachments|StatusAttributeString|HasErrors|HasValidationErrors|UpdatedDateUTCString|InvoiceAddresses)$/;

interface Described {
  readonly schema: keyof typeof official.schemas;
  /** Members whose values Xero computes. The description does not mark all of them as read-only. */
  readonly computed?: string;
  readonly required?: string;
  readonly but: But;
}

/** Returns the fields of a record: all members of its schema, writable as the schema says. */
export function describedFields({ schema, computed = '', required = '', but }: Described): Fields {
  const { properties } = official.schemas[schema] as { readonly properties: object };
  const pick = Object.keys(properties).filter((name) => !ABOUT_REQUESTS.test(name));
  const fields = fieldsOf(official, schema, {
    pick: pick.join(' '),
    create: schema,
    update: schema,
    but: { ...but, UpdatedDateUTC: UPDATED },
  });
  const [isComputed, isRequired] = [computed, required].map(
    (names) => (name: string) => names.split(' ').includes(name),
  );
  return Object.fromEntries(
    Object.entries(fields).map(([name, spec]) => {
      if (isComputed?.(name) === true || name === 'UpdatedDateUTC') {
        const { createable: _, updateable: __, required: ___, ...shown } = spec;
        return [name, shown];
      }
      return [name, isRequired?.(name) === true ? { ...spec, required: true } : spec];
    }),
  );
}
