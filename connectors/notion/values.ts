import { type Json, json } from '#connector';

/** Functions that show the value of a property, by its type. Any other property is shown as Notion has it. */
const SHOWN: Readonly<Record<string, (value: unknown) => unknown>> = {
  title: textOf,
  rich_text: textOf,
  select: (value) => json.at(value, 'name'),
  status: (value) => json.at(value, 'name'),
  multi_select: (value) => json.objects(value, 'the options').map(({ name }) => name),
  people: idsOf,
  relation: idsOf,
  unique_id: (value) => json.at(value, 'number'),
  formula: innerOf,
  rollup: innerOf,
};

/** Returns the text of rich text without its styles. */
export function textOf(value: unknown): string {
  return json
    .objects(value ?? [], 'rich text')
    .map(({ plain_text }) => String(plain_text ?? ''))
    .join('');
}

function idsOf(value: unknown): readonly unknown[] {
  return json.objects(value, 'the ids').map(({ id }) => id);
}

/** `{ "type": "number", "number": 5 }` */
function innerOf(value: unknown): unknown {
  return json.at(value, json.text(json.at(value, 'type'), 'the type of a result'));
}

/** Returns a page with its properties by their ids. Empty texts and lists are missing values, as in Notion's filters. */
export function toRecord(page: Json): Json {
  const properties = json.isObject(page.properties) ? Object.values(page.properties) : [];
  const shown = properties.map((property) => {
    const { id, type } = json.object(property, 'a property');
    const value = json.at(property, String(type));
    const own = SHOWN[String(type)]?.(value) ?? value;
    return [keyOf(json.text(id, 'the id of a property')), isEmpty(own) ? null : own] as const;
  });
  return { ...page, properties: Object.fromEntries(shown) };
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}

/** The native name of a property begins with it. */
export const PREFIX = 'properties.';

/** Ids such as `%3Ab.x` are encoded already, except for points, which would lead into inner members. */
export function keyOf(id: string): string {
  return id.replaceAll('.', '%2E');
}

/** Returns the id of the property in a native name: `properties.%3AxYz` or `properties.%3AxYz.start`. */
export function propertyId(native: string): string {
  return idOf(native.split('.')[1] ?? '');
}

function idOf(key: string): string {
  return key.replaceAll('%2E', '.');
}

/** Returns the properties of a request from native values. */
export function toProperties({ properties }: Json): Json {
  const given = Object.entries(json.isObject(properties) ? properties : {});
  return Object.fromEntries(given.map(([key, value]) => [idOf(key), value]));
}

/** Returns text as rich text. A piece has at most 2,000 characters. Source: "Request limits". */
export function toRichText(value: unknown): readonly Json[] {
  const pieces = typeof value === 'string' ? (value.match(/.{1,1000}/gsu) ?? []) : [];
  return pieces.map((content) => ({ text: { content } }));
}

const named = (name: unknown) => (name === null ? null : { name });
const listOf = (make: (item: unknown) => unknown) => (value: unknown) => (Array.isArray(value) ? value.map(make) : []);
const toText = (value: unknown) => (value === '' ? null : value);
const same = (value: unknown) => value;

/** Functions that write a value, by the type of its property. Properties of other types cannot be written. */
export const WRITTEN: Readonly<Record<string, (value: unknown) => unknown>> = {
  title: toRichText,
  rich_text: toRichText,
  url: toText,
  email: toText,
  phone_number: toText,
  number: same,
  checkbox: same,
  date: same,
  select: named,
  status: named,
  multi_select: listOf((name) => ({ name })),
  people: listOf((id) => ({ id })),
  relation: listOf((id) => ({ id })),
  files: listOf(same),
};
