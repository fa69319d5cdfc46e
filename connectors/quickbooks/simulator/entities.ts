import type { Member } from '#connector/simulator';
import official from '../official.json' with { type: 'json' };

/** The kinds of properties, and their types in JSON. */
const KINDS = {
  ...{ id: 'string', text: 'string', time: 'string', boolean: 'boolean', decimal: 'number', date: 'date' },
  ...{ ref: 'object', email: 'object', phone: 'object', url: 'object', address: 'object', memo: 'object' },
  ...{ object: 'object', list: 'array' },
} as const satisfies Record<string, Member['type']>;
export type Kind = keyof typeof KINDS;

/** The kinds that queries support. Other properties are objects, and queries do not know them. */
const QUERIED: readonly Kind[] = ['id', 'text', 'ref', 'boolean', 'decimal', 'date', 'time', 'email'];

/** The description of a property in the provider's reference. */
export interface Property {
  readonly kind: Kind;
  readonly member: Member;
  readonly isFilterable: boolean;
  readonly isSortable: boolean;
}

export type EntityName = keyof typeof official.entities;

export interface Entity {
  readonly name: EntityName;
  readonly properties: Readonly<Record<string, Property>>;
  /** The required members. Each item lists names, of which a record must have at least one. */
  readonly required: readonly string[];
  /** Whether the entity is a list. Records of lists become inactive, but transactions are deleted. */
  readonly isList: boolean;
  readonly hasPdf: boolean;
  readonly isReadOnly: boolean;
}

/** Reads a property such as `text100 fsw`: the kind, the maximum length, and whether it is filterable, sortable and writable. */
function readProperty(text: string): Property {
  const [, kind = '', longest = '', flags = ''] = /^([a-z]+)(\d*)(?: (f?s?w?))?$/.exec(text) ?? [];
  if (!isKind(kind)) throw new Error(`There is no kind '${text}'.`);
  return {
    kind,
    member: {
      type: KINDS[kind],
      longest: longest === '' ? undefined : Number(longest),
      isReadOnly: !flags.includes('w'),
      // Texts are never empty.
      isPossible: (value) => value.trim() === value && value !== '',
    },
    isFilterable: flags.includes('f'),
    isSortable: flags.includes('s'),
  };
}

function isKind(word: string): word is Kind {
  return Object.hasOwn(KINDS, word);
}

export function entityOf(name: EntityName): Entity {
  const { properties, required, ...more } = official.entities[name];
  return {
    ...{ name, required, isList: 'isList' in more, hasPdf: 'hasPdf' in more, isReadOnly: 'isReadOnly' in more },
    properties: Object.fromEntries(Object.entries(properties).map(([key, text]) => [key, readProperty(text)])),
  };
}

/** Returns a property that queries can use, by its name regardless of case. The name may be a path with one point. */
export function findProperty({ properties }: Entity, name: string) {
  const [found] = Object.entries(properties).filter(([known]) => known.toLowerCase() === name.toLowerCase());
  return found !== undefined && QUERIED.includes(found[1].kind) ? { name: found[0], property: found[1] } : undefined;
}
