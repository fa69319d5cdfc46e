import {
  type ConnectorContext,
  can,
  codec,
  defined,
  type FieldSpec,
  type Fields,
  type Json,
  json,
  kinds,
} from '#connector';

/** A time in seconds since 1970. Searches compare it by whole days. */
export const TIME: FieldSpec = {
  type: 'datetime',
  domain: { step: 'second' },
  filter: can.only('superset', '=', '<', '<=', '>', '>='),
  ...codec.epochSeconds,
};
/** Intercom does not document how it compares letter case, accents and blanks, so Causeway checks the rows again. */
export const TEXT: FieldSpec = {
  type: 'string',
  domain: { text: { askable: (text) => text.trim() === text && text !== '' } },
  filter: can.only('superset', '=', 'IN', 'LIKE'),
  likeForms: ['prefix', 'suffix', 'contains'],
  // Whether a pattern may span several words is not documented.
  likeExcept: ' \t\n\r!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~',
};
export const ID: FieldSpec = { type: 'string', filter: can.only('superset', '=', 'IN') };
export const FLAG: FieldSpec = { type: 'boolean', filter: can.only('superset', '=') };
export const INTEGER: FieldSpec = {
  type: 'integer',
  filter: can.only('superset', '=', 'IN', '<', '<=', '>', '>='),
};
const TIME_SHOWN: FieldSpec = { type: 'datetime', ...codec.epochSeconds };

export const KEY = { ...ID, nullable: false } as const;
export const STAMP = { ...TIME, nullable: false } as const;
export const SHOWN_TIME = { type: 'datetime', ...codec.epochSeconds } as const;
/** One of a closed list of values. */
export const CHOICE = {
  nullable: false,
  domain: { closed: true },
  filter: can.only('superset', '=', '!=', 'IN'),
} as const;
export const KEPT = { clearable: false } as const;

/** Fields of contacts can be searched. Source: the descriptions of `data_attribute` and of `single_filter_search_request`. */
const searchedKind = kinds({
  table: { string: TEXT, integer: INTEGER, float: { type: 'number' }, boolean: FLAG, date: TIME },
  unknown: { type: 'object' },
});

/** Fields of other objects are only shown. Source: `data_attribute`, `conversation_attribute`, and `ticket_type_attribute`. */
const shownKind = kinds({
  table: {
    text: { type: 'string' },
    integer: { type: 'integer' },
    number: { type: 'number' },
    boolean: { type: 'boolean' },
    time: TIME_SHOWN,
  },
  words: {
    ...{ string: 'text', list: 'text', integer: 'integer', float: 'number', decimal: 'number' },
    ...{ boolean: 'boolean', date: 'time', datetime: 'time' },
  },
  unknown: { type: 'object' },
});

/** Reads the data attributes that people added to contacts or companies. */
export async function readDataAttributes({ send }: ConnectorContext, model: 'contact' | 'company'): Promise<Fields> {
  const { body } = await send({ path: '/data_attributes', query: { model } });
  const all = json.objects(json.at(body, 'data'), 'the data attributes');
  return customFields(
    all.filter(({ custom }) => custom === true),
    'custom_attributes',
    model === 'contact' ? searchedKind : shownKind,
  );
}

/** Reads the attributes that people added to conversations. */
export async function readConversationAttributes({ send }: ConnectorContext): Promise<Fields> {
  const { body } = await send({ path: '/conversations/attributes' });
  return customFields(
    json.objects(json.at(body, 'data'), 'the conversation attributes'),
    'custom_attributes',
    shownKind,
  );
}

/** Reads the attributes of all types of tickets. Types can have attributes of the same name. */
export async function readTicketAttributes({ send }: ConnectorContext): Promise<Fields> {
  const { body } = await send({ path: '/ticket_types' });
  const attributes = json.objects(json.at(body, 'data'), 'the ticket types').flatMap(({ ticket_type_attributes }) => {
    // The description has one name of the member, and its examples have the other.
    const found = json.at(ticket_type_attributes, 'data') ?? json.at(ticket_type_attributes, 'ticket_type_attributes');
    return json.objects(found ?? [], 'the attributes of a ticket type');
  });
  return customFields(
    attributes.filter(({ name }) => !/^_default_(?:title|description)_$/.test(String(name))),
    'ticket_attributes',
    shownKind,
  );
}

/** Returns a field for each attribute. A name with a dot would be a path, so it has none. */
function customFields(attributes: readonly Json[], place: string, kindOf: ReturnType<typeof kinds<string>>): Fields {
  const entries = attributes
    .filter(({ name, archived }) => archived !== true && typeof name === 'string' && !name.includes('.'))
    .map((attribute): [string, FieldSpec] => {
      const { name, label, data_type, api_writable } = attribute;
      const kind = kindOf(String(data_type));
      const isWritten = api_writable !== false && kind.type !== 'object';
      return [
        `${place}.${String(name)}`,
        defined({
          ...kind,
          nativeType: json.findText(data_type),
          label: json.findText(label),
          custom: true,
          createable: isWritten,
          updateable: isWritten,
          values: optionsOf(attribute),
        }),
      ];
    });
  return Object.fromEntries(entries);
}

/** Options are texts, or have labels. */
function optionsOf({ options }: Json): readonly string[] | undefined {
  if (!Array.isArray(options) || options.length === 0) return undefined;
  return options.flatMap((option) => json.findText(option) ?? json.findText(json.at(option, 'label')) ?? []);
}
