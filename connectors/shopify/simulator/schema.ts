import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, type GraphQLField, type GraphQLObjectType, isEnumType, isLeafType, isObjectType } from 'graphql';

/** The part of Shopify's schema that the connector uses. */
export const SCHEMA = buildSchema(readFileSync(join(import.meta.dirname, '..', 'official.graphql'), 'utf8'));

/**
 * Returns an object type of the schema.
 * @throws Error for a type that the schema lacks
 */
export function typeOf(name: string): GraphQLObjectType {
  const type = SCHEMA.getType(name);
  if (!isObjectType(type)) throw new Error(`The schema has no type '${name}'.`);
  return type;
}

type Type = GraphQLField<unknown, unknown>['type'];

/**
 * Returns the value of a field that a record lacks: null where the schema allows it, otherwise an empty value. Members of an empty object
 * are empty in turn.
 */
export function emptyOf(type: Type): unknown {
  const text = String(type);
  if (!text.endsWith('!')) return null;
  if (text.startsWith('[')) return [];
  const named = SCHEMA.getType(text.slice(0, -1));
  if (isEnumType(named)) return named.getValues()[0]?.value;
  if (!isLeafType(named)) return {};
  return EMPTY[named.name] ?? '';
}

const EMPTY: Readonly<Record<string, unknown>> = {
  Boolean: false,
  Int: 0,
  Float: 0,
  Decimal: '0.00',
  Money: '0.00',
  UnsignedInt64: '0',
  DateTime: '2023-12-30T00:00:00Z',
};

/** Returns the search fields of a list with their types, from the description of its argument. */
export function searchFields(list: string): ReadonlyMap<string, string> {
  const query = typeOf('QueryRoot')
    .getFields()
    [list]?.args.find(({ name }) => name === 'query');
  return new Map((query?.description ?? '').split(', ').map((pair) => pair.trim().split(' ') as [string, string]));
}
