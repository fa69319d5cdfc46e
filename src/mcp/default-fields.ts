/** A field of the metadata of an object, as far as tools look at it. */
export interface KnownField {
  readonly name: string;
  readonly type: string;
  readonly label?: string | undefined;
  readonly identifier?: boolean | undefined;
  readonly unlisted?: boolean | undefined;
  readonly mapped?: boolean | undefined;
}

/** Maximum number of fields of a record, unless the agent names more. */
const MOST_FIELDS = 10;
/** Number of fields up to which others are added. */
const ENOUGH_FIELDS = 6;
const SCALARS: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'date', 'datetime']);

/** Kinds of fields in the order in which a person looks at them. A name belongs to the first kind that matches it. */
const KINDS: readonly { readonly most: number; readonly pattern: RegExp }[] = [
  { most: 3, pattern: /^(?:name|title|subject|label|(?:display|full|first|last)_?name|summary)$/i },
  { most: 2, pattern: /^(?:status|state|stage|type|priority|(?:deal|lead|order|ticket|case)_?(?:status|stage))$/i },
  { most: 1, pattern: /^e-?mail$|e_?mail(?:_?address)?$/i },
  { most: 1, pattern: /^(?:amount|total|price|balance|value)|(?:amount|total)$/i },
  { most: 1, pattern: /^(?:code|number|key|reference)$|(?:number|code)$/i },
  { most: 2, pattern: /^(?:updated|modified|last_?modified|last_?updated|changed)/i },
  { most: 1, pattern: /^created/i },
  { most: 2, pattern: /(?:due|close|start|end|hire|order|placed)_?(?:date|at|on)$/i },
];
/** Names of other things, which say more than most fields where there is room. */
const OTHER_NAME = /(?:name|status|stage)$/i;

/**
 * Chooses the fields that a person would look at first: identifier, names, status, and dates; then others up to the limit, in their order.
 * Undefined for an object without known fields.
 */
export function chooseFields(fields: readonly KnownField[]): readonly string[] | undefined {
  const usable = fields.filter(
    ({ type, unlisted, mapped, name }) =>
      SCALARS.has(type) && unlisted !== true && mapped !== false && !name.includes(','),
  );
  if (usable.length === 0) return undefined;
  const chosen = new Set(usable.filter(({ identifier }) => identifier === true).map(({ name }) => name));
  for (const { most, pattern } of KINDS) {
    const found = usable.filter(({ name }) => !chosen.has(name) && pattern.test(name)).slice(0, most);
    for (const { name } of found) if (chosen.size < MOST_FIELDS) chosen.add(name);
  }
  const others = usable.filter(({ type, name }) => type !== 'boolean' && !chosen.has(name));
  const byWeight = others.toSorted((a, b) => Number(OTHER_NAME.test(b.name)) - Number(OTHER_NAME.test(a.name)));
  for (const { name } of byWeight) if (chosen.size < ENOUGH_FIELDS) chosen.add(name);
  return [...chosen];
}

/** Chooses fields of records whose metadata is not known. */
export function chooseMembers(records: readonly unknown[]): readonly string[] | undefined {
  const [first] = records;
  if (typeof first !== 'object' || first === null) return undefined;
  const fields = Object.entries(first).map(([name, value]) => ({
    name,
    type: typeof value === 'object' && value !== null ? 'object' : 'string',
    identifier: /^id$/i.test(name),
  }));
  return chooseFields(fields);
}
