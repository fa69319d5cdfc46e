import {
  type Collection,
  type CollectionSpec,
  type Column,
  type Complaint,
  createCollections,
  cycle,
  Fault,
  type Member,
  type MovableClock,
  schemaMembers,
  type TableChange,
} from '#connector/simulator';
import official from '../official.json' with { type: 'json' };
import { NOT_FOUND, NOT_VALID } from './faults.ts';
import { PORTAL_ID } from './login.ts';
import { KINDS_BY_NAME, type Kind, type Property } from './properties.ts';
import { comparable } from './search.ts';

export type Records = ReturnType<typeof createRecords>;
/** A collection of CRM objects, or the owners. */
export type Of = Collection;

/** Writes an instant as HubSpot does: without a fraction where there is none. */
export function writeInstant(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

/** The columns that are no property. */
const ARCHIVED = 'archived';

/** Creates all collections, with hostile texts. */
export function createRecords(clock: MovableClock, onChange: (name: string, change: TableChange) => void) {
  const kinds = Object.entries(KINDS_BY_NAME).map(([name, kind], index): [string, CollectionSpec] => [
    name,
    {
      ...{ rows: 150, key: 'hs_object_id', deleted: ARCHIVED, created: [kind.created], changed: [kind.changed] },
      members: Object.fromEntries(
        Object.entries(kind.properties).map(([property, about]) => [property, memberOf(property, about)]),
      ),
      makeId: (row) => String(51_000_000_000 + index * 1_000_000 + row * 7),
      // Some records are archived from the start.
      vary: { ...columnsOf(kind), [ARCHIVED]: (index) => index % 20 === 19 },
      check: checksOf(kind),
      ...(kind.properties.firstname && { label: 'firstname' }),
    },
  ]);
  const owners: CollectionSpec = {
    members: schemaMembers(official, 'PublicOwner'),
    rows: 25,
    makeId: (index) => String(710 + index),
    vary: {
      archived: cycle([false, false, false, true]),
      email: (index) => `owner${index}@example.com`,
      userId: (index) => 9000 + index,
    },
  };
  return createCollections<string, CollectionSpec>({
    of: { ...Object.fromEntries(kinds), owners },
    clock,
    isStrict: true,
    writeTime: writeInstant,
    write: { number: String, boolean: String },
    readTime: (value) => readTime(value),
    read: READERS,
    refuse: (complaints) => new Fault(400, 'VALIDATION_ERROR', printComplaints(complaints)),
    absent: () => new Fault(404, 'OBJECT_NOT_FOUND', NOT_FOUND),
    onChange,
  });
}

const TYPES: Readonly<Record<string, Member['type']>> = {
  ...{ number: 'number', bool: 'boolean', date: 'date', datetime: 'datetime' },
};

function memberOf(name: string, { type, options, isReadOnly, fieldType }: Property): Member {
  // An empty text is no value.
  const common = { isReadOnly, isPossible: (text: string) => text !== '', longest: 65_536 };
  if (name === 'hubspot_owner_id') return { ...common, type: 'reference', refersTo: 'owners' };
  const isOne = type === 'enumeration' && fieldType === 'select';
  return { ...common, type: TYPES[type] ?? 'string', ...(isOne && { values: options }) };
}

function columnsOf({ properties }: Kind): Readonly<Record<string, Column>> {
  const addresses = (index: number) => (index % 5 === 4 ? null : `Person${index}@Example.com`.toLowerCase());
  const chosen = Object.entries(properties).flatMap(
    ([
      name,
      {
        fieldType,
        options: [first = '', second = ''],
      },
    ]) => (fieldType === 'checkbox' ? [[name, cycle([first, `${first};${second}`, null, second])] as const] : []),
  );
  return { ...Object.fromEntries(chosen), ...(properties.email && { email: addresses }) };
}

/** Readers of values in bodies, which are texts. An empty text clears the property. */
const READERS: Readonly<Partial<Record<Member['type'], (value: unknown) => unknown>>> = {
  string: (value) => (value === '' ? null : typeof value === 'string' ? value : undefined),
  reference: (value) => (value === '' ? null : value),
  number: textIf((text) => comparable(text, { type: 'number' } as Property) !== undefined),
  boolean: textIf((text) => text === 'true' || text === 'false'),
  date: (value) => {
    if (value === '') return null;
    const ms = readTime(value);
    return ms === undefined || ms % 86_400_000 !== 0 ? undefined : new Date(ms).toISOString().slice(0, 10);
  },
};

function textIf(isHeld: (text: string) => boolean) {
  return (value: unknown) => (value === '' ? null : typeof value === 'string' && isHeld(value) ? value : undefined);
}

/** Reads ISO 8601, or milliseconds since 1970. */
function readTime(value: unknown): number | undefined {
  const isTime = typeof value === 'string' && /^(?:-?\d+|\d{4}-\d\d-\d\d(?:T.*)?)$/.test(value);
  const ms = isTime ? (/^-?\d+$/.test(value) ? Number(value) : Date.parse(value)) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

function checksOf({ properties }: Kind): NonNullable<CollectionSpec['check']> {
  return (row) =>
    Object.entries(row).flatMap(([member, value]): Complaint[] => {
      const { fieldType, options = [] } = properties[member] ?? {};
      if (typeof value !== 'string') return [];
      if (member === 'email' && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value)) {
        return [{ reason: 'other', member, code: 'INVALID_EMAIL', message: `Email address ${value} is invalid` }];
      }
      const isWrong = fieldType === 'checkbox' && !value.split(';').every((part) => options.includes(part));
      return isWrong ? [{ reason: 'value', member, message: '' }] : [];
    });
}

const CODES: Readonly<Record<Complaint['reason'], readonly [error: string, message: (member: string) => string]>> = {
  unknown: ['PROPERTY_DOESNT_EXIST', (member) => `Property "${member}" does not exist`],
  readOnly: ['READ_ONLY_VALUE', (member) => `"${member}" is a read only property; its value cannot be set.`],
  value: ['INVALID_OPTION', (member) => `The value of ${member} was not one of the allowed options`],
  type: ['INVALID_VALUE', (member) => `The value of ${member} is not of its type`],
  length: ['INVALID_VALUE', (member) => `The value of ${member} is too long`],
  missing: ['INVALID_VALUE', (member) => `${member} is required`],
  other: ['INVALID_VALUE', (member) => member],
};

function printComplaints(complaints: readonly Complaint[]): string {
  const faults = complaints.map(({ reason, member: name, message: own, code }) => {
    const [error, print] = CODES[reason];
    const message = code === undefined ? print(name) : own;
    return { isValid: false, message, error: code ?? error, name, portalId: PORTAL_ID };
  });
  return NOT_VALID + JSON.stringify(faults);
}
