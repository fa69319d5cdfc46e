import { type Column, cycle, Fault, type Member, pick, sparse, type TableRow } from '#connector/simulator';

/** A property of a data source. Rows hold its plain value under its id, because names can hold anything. */
export interface Property {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  /** Names of options. Selects learn new ones from pages. */
  readonly options?: string[];
}

export const invalid = (message: string) => new Fault(400, 'validation_error', message);

/** A type of property: the form in which rows, responses and requests have its values. Source: "Page properties". */
interface Kind {
  readonly member: Member['type'];
  /** Default: hostile values of the type. */
  readonly column?: Column;
  readonly show: (value: unknown, property: Property) => unknown;
  /** Reads the value in a request. Without it, callers cannot set the property. */
  readonly read?: (sent: unknown, property: Property) => unknown;
  /** The settings of the property in its data source. */
  readonly settings?: (property: Property) => unknown;
}

const LONGEST_TEXT = 2000;
const ANNOTATIONS = { bold: false, italic: false, strikethrough: false, underline: false, code: false };

/** Returns rich text with one item; none for an empty text. */
export function richText(value: unknown): readonly unknown[] {
  if (value == null || value === '') return [];
  const content = String(value);
  const common = { plain_text: content, href: null, annotations: { ...ANNOTATIONS, color: 'default' } };
  return [{ type: 'text', text: { content, link: null }, ...common }];
}

/** Source: "Request limits", "Limits for property values". */
export function readRichText(sent: unknown): unknown {
  const items: readonly unknown[] = Array.isArray(sent) ? sent : [];
  const contents = items.map((item) => String(Object(Object(item).text).content ?? ''));
  if (items.length > 100) throw invalid('body failed validation: rich text has more than 100 items');
  if (contents.some(({ length }) => length > LONGEST_TEXT))
    throw invalid(`body failed validation: text.content.length should be ≤ \`${LONGEST_TEXT}\``);
  return contents.join('') || null;
}

const same = (value: unknown) => value ?? null;
const empty = () => ({});
const refs = (value: unknown, more: TableRow = {}) =>
  (Array.isArray(value) ? value : []).map((id: unknown) => ({ ...more, id }));
const readRefs = (sent: unknown) => (Array.isArray(sent) ? sent.map((each) => String(Object(each).id)) : []);

const optionOf = (name: unknown) => ({
  id: `o${Buffer.from(String(name)).toString('hex').slice(0, 12)}`,
  name,
  color: 'default',
});
const optionsOf = ({ options = [] }: Property) => options.map((name) => ({ ...optionOf(name), description: null }));

/** Reads an option by its name. Selects accept new ones, and a status does not. */
function readOption(sent: unknown, { options = [], type }: Property): unknown {
  if (sent == null) return null;
  const name = String(Object(sent).name);
  if (options.includes(name)) return name;
  if (type === 'status') throw invalid(`Status option "${name}" does not exist`);
  if (name.includes(',') || name === '') throw invalid('Invalid select option, commas not allowed');
  options.push(name);
  return name;
}

function readDate(sent: unknown): unknown {
  if (sent == null) return null;
  const { start, end = null, time_zone = null } = Object(sent);
  if (typeof start !== 'string' || Number.isNaN(Date.parse(start)))
    throw invalid('start should be a valid ISO 8601 date');
  // Times come back with milliseconds and an offset.
  const toShown = (text: unknown) =>
    typeof text === 'string' && text.includes('T') ? new Date(text).toISOString().replace('Z', '+00:00') : text;
  return { start: toShown(start), end: toShown(end), time_zone };
}

const dates: Column = (index) => {
  const day = new Date(Date.UTC(2023, 11, 30 + index * 9)).toISOString().slice(0, 10);
  const start = index % 3 === 1 ? `${day}T${String(index % 24).padStart(2, '0')}:30:00.000+00:00` : day;
  return { start, end: index % 7 === 6 ? '2030-01-01' : null, time_zone: null };
};

const TEXT: Kind = { member: 'string', show: richText, read: readRichText };
const SHORT: Kind = { member: 'string', show: same, read: (sent) => same(sent) };
const CHOICE: Kind = {
  member: 'string',
  show: (value) => (value == null ? null : optionOf(value)),
  read: readOption,
  settings: (property) => ({ options: optionsOf(property) }),
};
const USER: Kind = { member: 'string', show: (id) => ({ object: 'user', id }) };

export const KINDS: Readonly<Record<string, Kind>> = {
  title: TEXT,
  rich_text: TEXT,
  number: { member: 'number', show: same, read: same, settings: () => ({ format: 'number' }) },
  select: CHOICE,
  status: { ...CHOICE, settings: (property) => ({ options: optionsOf(property), groups: [] }) },
  multi_select: {
    member: 'array',
    column: (index) => ['red', 'blue, no', 'Green'].filter((_, bit) => ((index >> bit) & 1) === 1 && bit !== 1),
    show: (value) => (Array.isArray(value) ? value : []).map(optionOf),
    read: (sent, property) => (Array.isArray(sent) ? sent : []).map((each) => readOption(each, property)),
    settings: (property) => ({ options: optionsOf(property) }),
  },
  date: { member: 'object', column: sparse(5, dates), show: same, read: readDate },
  checkbox: { member: 'boolean', show: (value) => value === true, read: (sent) => sent === true },
  url: SHORT,
  email: SHORT,
  phone_number: SHORT,
  people: {
    member: 'array',
    column: cycle<readonly string[]>([[], ['u1'], ['u1', 'u2']].map((ids) => ids.map(userId))),
    show: (value) => refs(value, { object: 'user' }),
    read: readRefs,
  },
  relation: { member: 'array', column: () => [], show: (value) => refs(value), read: readRefs },
  files: { member: 'array', column: () => [], show: () => [] },
  created_time: { member: 'datetime', show: same },
  last_edited_time: { member: 'datetime', show: same },
  created_by: USER,
  last_edited_by: USER,
  unique_id: {
    member: 'integer',
    column: (index) => index + 1,
    show: (number) => ({ prefix: 'TASK', number }),
    settings: () => ({ prefix: 'TASK' }),
  },
  formula: {
    member: 'number',
    column: (index) => index / 4,
    show: (number) => ({ type: 'number', number: number ?? null }),
    settings: () => ({ expression: 'prop("Points") / 4' }),
  },
};

/** Returns an id in the form of Notion's. */
export function idOf(kind: string, index: number): string {
  return `${kind.padEnd(8, '0')}-0000-4000-8000-${(index * 7 + 1).toString(16).padStart(12, '0')}`;
}

export function userId(name: string): string {
  return idOf('c0', Number(name.slice(1)));
}

/** The value of a property in a row. Those about the page stand there under their own names. */
export function heldBy(row: TableRow, { id, type }: Property): unknown {
  return Object.hasOwn(row, id) ? row[id] : row[type];
}

/** Returns a property of a page as responses show it. */
export function showValue(row: TableRow, property: Property): TableRow {
  const { id, type } = property;
  return { id, type, [type]: kindOf(property).show(heldBy(row, property), property) };
}

/** Returns a property as its data source shows it. */
export function showSettings(property: Property): TableRow {
  const { id, name, type } = property;
  return { id, name, description: null, type, [type]: (kindOf(property).settings ?? empty)(property) };
}

export function kindOf({ type }: Property): Kind {
  return KINDS[type] ?? pick(Object.values(KINDS), 0);
}

/**
 * Reads the properties of a request, by name or by id.
 * @throws Fault 400
 */
export function readProperties(properties: readonly Property[], sent: unknown): TableRow {
  const entries = Object.entries(Object(sent)).map(([name, value]) => {
    const property = properties.find((each) => each.name === name || each.id === name);
    if (property === undefined) throw invalid(`${name} is not a property that exists.`);
    const { read } = kindOf(property);
    if (read === undefined) throw invalid(`${name} cannot be set, because it is computed.`);
    if (!Object.hasOwn(Object(value), property.type)) throw invalid(`${name} is expected to be ${property.type}.`);
    return [property.id, read(Object(value)[property.type], property)];
  });
  return Object.fromEntries(entries);
}
