import {
  can,
  codec,
  defined,
  each,
  type FieldSpec,
  type Fields,
  type Input,
  type Inputs,
  inputs,
  type Json,
  json,
  kinds,
  type Translator,
} from '#connector';

export const ID: FieldSpec = {
  type: 'integer',
  nullable: false,
  sortable: true,
  filter: can.only('exact', '=', 'IN'),
};
/** A link to another record, by its id. */
export const LINK: FieldSpec = { type: 'integer', filter: can.only('exact', '=') };
/** A lead. Its id is a UUID. */
export const LEAD: FieldSpec = {
  type: 'string',
  filter: can.only('exact', '='),
  domain: { text: { possible: (text) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text) } },
};
export const FLAG: FieldSpec = { type: 'boolean', filter: can.only('exact', '=') };
export const DAY: FieldSpec = { type: 'date', ...codec.day };
/** Pipedrive shows whole seconds. */
export const TIME: FieldSpec = { type: 'datetime', domain: { step: 'second' }, ...codec.instant() };
export const FIXED = { createable: false, updateable: false, required: false } as const;

/** The time of the last change. `updated_until` is before the given time. Source: the parameters of the lists. */
export function changed(...bounds: readonly ('>=' | '<')[]): FieldSpec {
  return { ...TIME, ...FIXED, sortable: true, filter: can.only('exact', ...bounds) };
}

/** The search ignores letter case. It needs a text without blanks at its ends. Source: "Search persons", `term`, `exact_match`. */
export const SEARCHED: FieldSpec = {
  type: 'string',
  filter: can.only('superset', '='),
  domain: { text: { askable: (text) => /^\S(?:.*\S)?$/.test(text) && text.length <= 255 } },
};

/** The primary one of the e-mails or the phone numbers of a person. */
export function primary(native: string): FieldSpec {
  return {
    ...SEARCHED,
    native,
    createable: true,
    read: (value) => {
      const all = Array.isArray(value) ? value : [];
      return json.findText(json.at(all.find((one) => json.at(one, 'primary') === true) ?? all[0], 'value')) ?? null;
    },
    write: (value) => (value === null ? null : [{ value, primary: true, label: 'work' }]),
  };
}

const NUMBER: FieldSpec = { type: 'integer' };

/** The types of custom fields. Source: "Custom fields", and the field types of the official description. */
const kindOf = kinds({
  table: {
    ...each(NUMBER, 'int enum deal lead org people project stage user activity visible_to'),
    double: { type: 'number' },
    boolean: { type: 'boolean' },
    ...each({ type: 'string' }, 'varchar text phone varchar_auto varchar_options'),
    date: DAY,
    set: { type: 'array' },
  },
  unknown: { type: 'object' },
});

/** Returns a custom field. Its name is its key, of 40 characters. */
export function customField(field: Json): readonly [name: string, spec: FieldSpec] {
  const code = json.text(field.field_code, 'the key of a field');
  const word = json.text(field.field_type, 'the type of a field');
  const isComputed = word === 'json' || word === 'picture';
  const spec = {
    ...kindOf(word),
    ...{ native: `custom_fields.${code}`, nativeType: word, label: json.findText(field.field_name), custom: true },
    ...(!isComputed && { createable: true, updateable: true }),
  };
  return [code, defined(spec)];
}

/** Begins the name of an input that is the text of a search, and no parameter of a list. */
export const SEARCH = 'search:';

/**
 * Returns a translator to the parameters of lists. Ids and searches are alone, because Pipedrive does not say how they combine with other
 * parameters.
 */
export function createTranslator(fields: Fields, searched: Readonly<Record<string, string>>): Translator<Inputs> {
  const plain = Object.entries(fields).flatMap(([name, { filter = {}, native = name }]): [string, Input][] => {
    if (filter.IN !== undefined) return [[name, native === 'id' ? 'ids' : native]];
    return filter['='] === undefined ? [] : [[name, { by: { '=': native } }]];
  });
  const since = fields.update_time?.filter?.['>='] === undefined ? {} : { '>=': 'updated_since', '<': 'updated_until' };
  const table = {
    ...Object.fromEntries(plain),
    ...Object.fromEntries(Object.entries(searched).map(([name, word]) => [name, { by: { '=': SEARCH + word } }])),
    update_time: { by: since },
  };
  const translator = inputs(table);
  return {
    ...translator,
    fault: (native) => {
      const names = Object.keys(native);
      const isAlone = names.length === 1 || names.every((name) => name !== 'ids' && !name.startsWith(SEARCH));
      return isAlone ? translator.fault?.(native) : 'ids and searches are combined with nothing else';
    },
  };
}
