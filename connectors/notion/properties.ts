import { can, codec, type Domain, defined, type FieldSpec, type Fields, type Json, json, kinds } from '#connector';
import { keyOf, PREFIX, WRITTEN } from './values.ts';

/** Notion does not document how it compares texts, so Causeway checks the rows again. An empty text is a missing value. */
const TEXTS: Domain = { text: { nonEmpty: true, certain: () => false, askable: (text) => text.length <= 2000 } };
const TEXT: FieldSpec = {
  type: 'string',
  domain: TEXTS,
  filter: { ...can.null, ...can.equal('superset'), ...can.only('superset', 'LIKE') },
  likeForms: ['literal', 'prefix', 'suffix', 'contains'],
};
/** Numbers are doubles. */
const COMPARED = { domain: { digits: { significant: 15 } }, filter: { ...can.null, ...can.compare('exact') } } as const;
const LIST: FieldSpec = { type: 'array', filter: can.null };

const kindOf = kinds<string, Json>({
  table: {
    title: TEXT,
    rich_text: TEXT,
    url: TEXT,
    email: { ...TEXT, format: 'email' },
    phone_number: TEXT,
    number: { type: 'number', ...COMPARED },
    unique_id: { type: 'integer', ...COMPARED },
    checkbox: { type: 'boolean', nullable: false, clearable: false, filter: can.only('exact', '=', '!=') },
    select: (property) => choiceOf(json.at(property, 'select', 'options')),
    status: (property) => choiceOf(json.at(property, 'status', 'options')),
    multi_select: LIST,
    people: LIST,
    relation: LIST,
    files: LIST,
    date: { type: 'object', filter: can.null },
  },
  unknown: { type: 'object' },
});

/** Notion refuses a filter with an option that does not exist. */
function choiceOf(options: unknown): FieldSpec {
  const values = json.objects(options, 'the options of a property').map(({ name }) => String(name));
  const folded = values.map((value) => value.toLowerCase());
  const isAlone = (text: string) => folded.filter((other) => other === text.toLowerCase()).length < 2;
  return {
    type: 'string',
    values,
    domain: { text: { nonEmpty: true, askable: (text) => values.includes(text), certain: isAlone } },
    filter: { ...can.null, ...can.equal('superset') },
  };
}

/** Properties that a page shows as members of its own, and buttons, which have no value. */
const LEFT_OUT: ReadonlySet<unknown> = new Set([
  ...['created_time', 'created_by', 'last_edited_time', 'last_edited_by', 'button'],
]);

/** Returns the fields for the properties of a data source. Names that are taken get a number, in the order of the ids. */
export function propertyFields(properties: Json, taken: Iterable<string>): Fields {
  const used = new Set(Array.from(taken, (name) => name.toLowerCase()));
  const all = json
    .objects(Object.values(properties), 'the properties')
    .filter(({ type }) => !LEFT_OUT.has(type))
    .sort((one, other) => (String(one.id) < String(other.id) ? -1 : 1));
  const fields = all.flatMap((property) => {
    const name = freeName(nameFrom(property.name, `property_${property.id}`), used);
    const spec = toFieldSpec(property);
    if (property.type !== 'date') return [[name, spec] as const];
    const start = freeName(`${name}_start`, used);
    return [[name, spec] as const, [start, startOf(spec)] as const];
  });
  return Object.fromEntries(fields);
}

/** Returns a name that a filter can have: letters without accents, digits and `_`. */
export function nameFrom(text: unknown, otherwise: string): string {
  const word = (each: string) =>
    each
      .normalize('NFKD')
      .replaceAll(/\p{M}/gu, '')
      .replaceAll(/\W+/g, '_')
      .replaceAll(/^_+|_+$/g, '');
  return (word(String(text)) || word(otherwise)).replace(/^(?=\d)/, '_').slice(0, 100);
}

function freeName(name: string, used: Set<string>): string {
  let free = name;
  for (let number = 2; used.has(free.toLowerCase()); number++) free = `${name}_${number}`;
  used.add(free.toLowerCase());
  return free;
}

function toFieldSpec(property: Json): FieldSpec {
  const type = json.text(property.type, 'the type of a property');
  const write = WRITTEN[type];
  const isWritten = write !== undefined || undefined;
  return defined({
    ...kindOf(type, property),
    native: PREFIX + keyOf(json.text(property.id, 'the id of a property')),
    nativeType: type,
    label: json.findText(property.name),
    custom: true,
    createable: isWritten,
    updateable: isWritten,
    ...(write !== undefined && { write: (value: unknown) => ({ [type]: write(value) }) }),
  });
}

/** The beginning of a date. Without a time it stands for its first instant in UTC. A filter asks for whole days around it. */
function startOf({ native, label }: FieldSpec): FieldSpec {
  return {
    type: 'datetime',
    native: `${native}.start`,
    nativeType: 'date',
    label: `${label}: start`,
    custom: true,
    domain: { step: 'millisecond' },
    filter: { ...can.null, ...can.order('superset') },
    read: (value) => {
      const isDay = typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value);
      return isDay ? `${value}T00:00:00Z` : codec.instant().read(value);
    },
  };
}
