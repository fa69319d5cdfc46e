import { BAD_BODY, type Call, Fault, type TableRow } from '#connector/simulator';
import { type Complaint, Refusal } from './fault.ts';
import { defaultsOf, writeTime } from './rows.ts';
import { type Field, isReference, type Reference, SCHEMAS, type Schema, type TableName } from './schema.ts';
import { candidates, customFieldsOf, customKey, showRow, type World } from './show.ts';

type Given = Readonly<Record<string, unknown>>;

/** What a body says of a record, which is checked as it will be: `old` is what it is. Unknown members are passed over. @throws Refusal */
export function readObject(world: World, name: TableName, given: Given, old: TableRow = {}): TableRow {
  const { noun, members, arrays = {}, screen }: Schema = SCHEMAS[name];
  const complaints: Complaint[] = [];
  const values: Record<string, unknown> = {};
  for (const [member, value] of Object.entries(given)) {
    const spec = Object.hasOwn(members, member) ? members[member] : undefined;
    if (spec === undefined) continue;
    if (isReference(spec)) values[member] = findReference(world, { spec, member, value }, complaints);
    else if (spec.isReadOnly !== true) values[member] = readField({ spec, member, value }, complaints);
  }
  for (const [array, elements] of Object.entries(arrays)) {
    const value = given[array];
    if (value === undefined || array === 'types') continue;
    values[array] = list(value).map((element, index) => ({
      ...{ id: element.id ?? index + 1, ...element },
      ...('type' in elements && { type: Object(element.type ?? {}).id ?? element.type ?? null }),
    }));
  }
  if (screen !== undefined && given.customFields !== undefined) {
    values.custom = readCustomFields(world, { screen, given: list(given.customFields) }, complaints);
  }
  const whole = { ...old, ...values };
  complaints.push(...complaintsOf(world, name, whole));
  if (complaints.length > 0) throw new Refusal(noun, complaints);
  return values;
}

function list(value: unknown): readonly TableRow[] {
  return Array.isArray(value) ? value.map((element) => ({ ...Object(element) })) : [];
}

interface Said<Spec> {
  readonly spec: Spec;
  readonly member: string;
  readonly value: unknown;
}

/** By its id, its identifier or its name, whichever is said first. */
function findReference(world: World, { spec, member, value }: Said<Reference>, complaints: Complaint[]): unknown {
  if (value === null) return null;
  const said = Object(value);
  const by = ['id', 'identifier', 'name'].find((key) => said[key] != null);
  if (by === undefined) return null;
  const found = candidates(world, spec).find((row) => sameText(row[by], said[by]));
  if (found !== undefined) return found.id;
  complaints.push({ code: 'NotFound', message: `${member} ${said[by]} not found`, field: `${member}/${by}` });
  return null;
}

function sameText(a: unknown, b: unknown): boolean {
  return String(a).toLowerCase() === String(b).toLowerCase();
}

const READERS: Readonly<Record<Field['type'], (value: unknown) => unknown>> = {
  string: (value) => (typeof value === 'string' ? value : undefined),
  integer: (value) => (Number.isInteger(value) ? value : undefined),
  number: (value) => (typeof value === 'number' ? value : undefined),
  boolean: (value) => (typeof value === 'boolean' ? value : undefined),
  datetime: (value) => {
    const isTime = typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(value);
    const ms = isTime ? Date.parse(value) : Number.NaN;
    return Number.isNaN(ms) ? undefined : writeTime(ms);
  },
};

function readField({ spec, member, value }: Said<Field>, complaints: Complaint[]): unknown {
  if (value === null) return null;
  const { type, longest = Number.POSITIVE_INFINITY, words } = spec;
  const read = READERS[type](value);
  const complain = (code: string, message: string) => complaints.push({ code, message, field: member });
  if (read === undefined) complain('InvalidField', `The field ${member} is no ${type}.`);
  else if (String(read).length > longest) {
    complain('OutOfRange', `The field ${member} must be a string with a maximum length of ${longest}.`);
  } else if (words !== undefined && !words.includes(String(read))) {
    complain('InvalidField', `The field ${member} is one of ${words.join(', ')}.`);
  }
  return read ?? null;
}

const CUSTOM_TYPES: Readonly<Record<string, Field['type']>> = {
  Number: 'number',
  Percent: 'number',
  Currency: 'number',
  Checkbox: 'boolean',
  Date: 'datetime',
};

/** The whole array is passed: what is not in it loses its value. */
function readCustomFields(
  world: World,
  { screen, given }: { readonly screen: string; readonly given: readonly TableRow[] },
  complaints: Complaint[],
): TableRow {
  const known = customFieldsOf(world, screen);
  const pairs = given.flatMap(({ id, value = null }) => {
    const field = known.find((each) => each.id === id);
    if (field === undefined) {
      complaints.push({ code: 'NotFound', message: `customField ${id} not found`, field: 'customFields' });
      return [];
    }
    const type = CUSTOM_TYPES[String(field.fieldTypeIdentifier)] ?? 'string';
    return [[customKey(field), readField({ spec: { type }, member: 'customFields', value }, complaints)]];
  });
  return Object.fromEntries(pairs);
}

/** Of the whole record: a change of one member is refused for what is wrong about another one. */
function complaintsOf({ tables }: World, name: TableName, row: TableRow): readonly Complaint[] {
  const { members }: Schema = SCHEMAS[name];
  const missing = Object.entries(members).flatMap(([member, spec]) => {
    const isMissing = !isReference(spec) && spec.isRequired === true && (row[member] == null || row[member] === '');
    const message = `The ${member} field is required.`;
    return isMissing ? [{ code: 'MissingRequiredField', message, field: member }] : [];
  });
  return [...missing, ...(OWN[name]?.(row, tables) ?? [])];
}

const DISPLAYS = ['detailDescriptionFlag', 'internalAnalysisFlag', 'resolutionFlag'];
const ADDRESS = ['addressLine1', 'addressLine2', 'city', 'state', 'zip', 'country'];

const OWN: Readonly<Partial<Record<TableName, (row: TableRow, tables: World['tables']) => readonly Complaint[]>>> = {
  companies: (row, { companies }) => {
    const year = row.yearEstablished;
    const isTaken = companies
      .rows(true)
      .some(({ id, identifier }) => id !== row.id && sameText(identifier, row.identifier));
    return [
      ...complainIf(year != null && (Number(year) < 1900 || Number(year) > 9999), {
        code: 'OutOfRange',
        message: 'The field yearEstablished must be between 1900 and 9999.',
        field: 'yearEstablished',
      }),
      ...complainIf(row.id === undefined && ADDRESS.every((member) => row[member] == null), {
        code: 'MissingRequiredField',
        message: 'At least one address field is required.',
        field: 'addressLine1',
      }),
      ...complainIf(isTaken, { code: 'ObjectExists', message: 'The identifier is taken.', field: 'identifier' }),
    ];
  },
  notes: (row) =>
    complainIf(!DISPLAYS.some((member) => row[member] === true), {
      code: 'ServiceNote',
      message: 'A note is displayed at least at one place.',
      field: DISPLAYS.join(', '),
    }),
};

function complainIf(isWrong: boolean, complaint: Complaint): readonly Complaint[] {
  return isWrong ? [complaint] : [];
}

/** What PUT makes of a record: what the body does not say is as in a new one, or null. */
export function readReplacement(world: World, name: TableName, given: Given, old: TableRow): TableRow {
  const { members, arrays = {} }: Schema = SCHEMAS[name];
  const kept = Object.entries(members).filter(([, spec]) => !isReference(spec) && spec.isReadOnly === true);
  const names = [...Object.keys(members), ...Object.keys(arrays), 'custom'];
  const blank = {
    ...Object.fromEntries(names.map((member) => [member, null])),
    ...defaultsOf(name),
    ...Object.fromEntries(kept.map(([member]) => [member, old[member]])),
  };
  return { ...blank, ...readObject(world, name, given, blank) };
}

/** What a JSON Patch changes. @throws Fault 400 for what is none, and for a place that is not there */
export function readPatch(world: World, name: TableName, { body }: Call, old: TableRow): TableRow {
  const operations = body.json();
  if (!Array.isArray(operations)) throw new Fault(400, BAD_BODY, 'The body is no array of operations.');
  const shown = showRow(world, name, old);
  const given: Record<string, unknown> = {};
  for (const operation of operations) applyOperation({ name, shown, given }, operation);
  return readObject(world, name, given, old);
}

interface Patched {
  readonly name: TableName;
  readonly shown: TableRow;
  readonly given: Record<string, unknown>;
}

/** Inside an object nothing is changed, and nothing is said; inside an array it is. */
function applyOperation({ name, shown, given }: Patched, operation: unknown): void {
  const { op, path, value = null } = Object(operation);
  const { members, arrays = {}, screen }: Schema = SCHEMAS[name];
  const [first = '', ...rest] = String(path).replace(/^\//, '').split('/');
  const isArray = Object.hasOwn(arrays, first) || (first === 'customFields' && screen !== undefined);
  if (!['add', 'replace', 'remove'].includes(op) || !(isArray || Object.hasOwn(members, first) || first === '_info')) {
    throw new Fault(400, 'InvalidObject', `The operation '${op}' on '${path}' cannot be done.`);
  }
  const wanted = op === 'remove' ? null : value;
  if (rest.length === 0) given[first] = wanted;
  else if (isArray) given[first] = changeElement(list(given[first] ?? shown[first]), rest, wanted);
}

function changeElement(elements: readonly TableRow[], [place = '', member]: readonly string[], value: unknown) {
  const index = place === '-' ? elements.length : Number(place);
  if (!(index >= 0 && index <= elements.length)) throw new Fault(400, 'InvalidObject', `There is no element ${place}.`);
  const element = member === undefined ? value : { ...elements[index], [member]: value };
  return element === null ? elements.toSpliced(index, 1) : elements.toSpliced(index, 1, Object(element));
}
