import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { gunzipSync } from 'node:zlib';
import {
  buildClientSchema,
  buildSchema,
  type GraphQLArgument,
  GraphQLEnumType,
  type GraphQLField,
  type GraphQLInputField,
  GraphQLInputObjectType,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  type GraphQLType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isScalarType,
  printSchema,
} from 'graphql';
import type { JsonSchema, OfficialOperation } from '../../src/connector/simulator/index.ts';
import type { Described } from './official.ts';
import { orNull } from './schemas.ts';

/** The part of a GraphQL schema that a connector uses. */
export interface DescribedGraphql {
  readonly described: Described;
  /** The part in the schema definition language. */
  readonly source: string;
}

interface Choice {
  /** The root fields, e.g. `QUERY orders` or `MUTATION orderCreate`. */
  readonly operations: readonly string[];
  /** The object and input types that are kept. Fields of other types are left out; enums and scalars come along. */
  readonly types: readonly string[];
}

/**
 * Reads a GraphQL schema: the result of an introspection as JSON, or the schema definition language, also packed by gzip.
 * @throws Error that names the root fields and types that the schema lacks
 */
export async function readGraphql(file: string, choice: Choice): Promise<DescribedGraphql> {
  const bytes = await readFile(file);
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  const whole = text.trimStart().startsWith('{') ? fromIntrospection(JSON.parse(text)) : buildSchema(text);
  const schema = reduce(whole, choice);
  const operations = rootsOf(schema).flatMap(([word, type]) =>
    Object.values(type.getFields()).map((field) => [`${word} ${field.name}`, operationOf(field)] as const),
  );
  const schemas = Object.values(schema.getTypeMap())
    .filter((type) => !type.name.startsWith('__'))
    .map((type) => [type.name, schemaOf(type)] as const);
  return {
    described: {
      name: basename(file),
      title: basename(file).replace(/\..*$/, ''),
      version: '',
      security: [],
      operations: Object.fromEntries(operations),
      schemas: Object.fromEntries(schemas),
    },
    source: `${printSchema(schema)}\n`,
  };
}

function fromIntrospection(result: { readonly data?: unknown }): GraphQLSchema {
  const data = Object(result.data ?? result);
  return buildClientSchema(data);
}

type Root = readonly [word: string, type: GraphQLObjectType];

function rootsOf(schema: GraphQLSchema): readonly Root[] {
  const [query, mutation] = [schema.getQueryType(), schema.getMutationType()];
  return [...(query ? [['QUERY', query] as const] : []), ...(mutation ? [['MUTATION', mutation] as const] : [])];
}

/** Returns the schema with only the chosen root fields and types. Deprecated fields are left out. */
function reduce(schema: GraphQLSchema, { operations, types }: Choice): GraphQLSchema {
  const missing = [
    ...operations.filter((name) => !rootsOf(schema).some(([word, type]) => hasField(word, type, name))),
    ...types.filter((name) => schema.getType(name) === undefined),
  ];
  if (missing.length > 0) throw new Error(`The schema lacks ${missing.join(', ')}.`);
  const kept = new Set(types);
  const made = new Map<string, GraphQLNamedType>();
  const isKept = (type: GraphQLType) => {
    const { name } = getNamedType(type);
    return kept.has(name) || isScalarType(getNamedType(type)) || isEnumType(getNamedType(type));
  };
  const fieldsOf = (type: GraphQLObjectType, chosen?: (name: string) => boolean) =>
    Object.fromEntries(
      Object.values(type.getFields())
        .filter((field) => (chosen === undefined ? isUsable(field) : chosen(field.name)))
        .map((field) => [field.name, { type: map(field.type), args: argumentsOf(field) }]),
    );
  const isUsable = ({ type, args, deprecationReason }: GraphQLField<unknown, unknown>) =>
    deprecationReason == null &&
    isKept(type) &&
    args.every((argument) => isKept(argument.type) || !isRequiredArgument(argument));
  const argumentsOf = ({ args }: GraphQLField<unknown, unknown>) =>
    Object.fromEntries(
      args
        .filter(({ type, deprecationReason }) => isKept(type) && deprecationReason == null)
        .map((argument) => [argument.name, argumentOf(argument)]),
    );
  const argumentOf = ({ type, default: initial, description }: GraphQLArgument) => ({
    type: map(type),
    default: initial,
    description: searchFieldsIn(description),
  });
  const inputsOf = (type: GraphQLInputObjectType) =>
    Object.fromEntries(
      Object.values(type.getFields())
        .filter((field: GraphQLInputField) => isKept(field.type) && field.deprecationReason == null)
        .map(({ name, type, default: initial }) => [name, { type: map(type), default: initial }]),
    );
  const make = (type: GraphQLNamedType): GraphQLNamedType => {
    const { name } = type;
    if (isObjectType(type)) return new GraphQLObjectType({ name, fields: () => fieldsOf(type) });
    if (isInputObjectType(type)) {
      return new GraphQLInputObjectType({ name, isOneOf: type.isOneOf, fields: () => inputsOf(type) });
    }
    if (!isEnumType(type)) return type;
    return new GraphQLEnumType({ name, values: Object.fromEntries(type.getValues().map((value) => [value.name, {}])) });
  };
  const map = <Type extends GraphQLType>(type: Type): Type => mapNamed(type, named) as Type;
  const named = (type: GraphQLNamedType): GraphQLNamedType => {
    const known = made.get(type.name) ?? make(type);
    made.set(type.name, known);
    return known;
  };
  const [query, mutation] = ['QUERY', 'MUTATION'].map((wanted) => {
    const root = rootsOf(schema).find(([word]) => word === wanted)?.[1];
    const isChosen = (name: string) => operations.includes(`${wanted} ${name}`);
    if (root === undefined || !Object.keys(root.getFields()).some(isChosen)) return undefined;
    return new GraphQLObjectType({ name: root.name, fields: () => fieldsOf(root, isChosen) });
  });
  return new GraphQLSchema({ query, mutation });
}

function hasField(word: string, type: GraphQLObjectType, name: string): boolean {
  const [kind, field = ''] = name.split(' ');
  return kind === word && Object.hasOwn(type.getFields(), field);
}

function mapNamed(type: GraphQLType, map: (type: GraphQLNamedType) => GraphQLNamedType): GraphQLType {
  if (isListType(type)) return new GraphQLList(mapNamed(type.ofType, map));
  if (!isNonNullType(type)) return map(type);
  const inner = mapNamed(type.ofType, map);
  return isNonNullType(inner) ? inner : new GraphQLNonNull(inner);
}

/**
 * A table of search fields in a description becomes one line, `email string, updated_at time`. Shopify documents the fields of its search
 * language in such tables. Other descriptions are left out.
 */
function searchFieldsIn(description: string | null | undefined): string | undefined {
  const rows = [...(description ?? '').matchAll(/^\| ([\w.{}]+) \| (\w+) \|/gm)].filter(
    ([, , type]) => type !== 'type',
  );
  return rows.length === 0 ? undefined : rows.map(([, name, type]) => `${name} ${type}`).join(', ');
}

function operationOf({ args, type }: GraphQLField<unknown, unknown>): OfficialOperation {
  const query = args.map((argument) => [
    argument.name,
    { ...schemaIn(argument.type), ...(isRequiredArgument(argument) && { required: true }) },
  ]);
  return { ...(query.length > 0 && { query: Object.fromEntries(query) }), responses: { 200: schemaIn(type) } };
}

const SCALARS: Readonly<Record<string, JsonSchema>> = {
  Int: { type: 'integer' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
  DateTime: { type: 'string', format: 'date-time' },
  Date: { type: 'string', format: 'date' },
  JSON: {},
};

function schemaOf(type: GraphQLNamedType): JsonSchema {
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name) };
  if (!isObjectType(type) && !isInputObjectType(type)) return SCALARS[type.name] ?? { type: 'string' };
  const fields = Object.values<GraphQLField<unknown, unknown> | GraphQLInputField>(type.getFields());
  const required = fields.filter(({ type }) => isNonNullType(type)).map(({ name }) => name);
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(fields.map((field) => [field.name, schemaIn(field.type)])),
  };
}

/** A value that is not declared as non-null can be null. */
function schemaIn(type: GraphQLType): JsonSchema {
  const inner = isNonNullType(type) ? type.ofType : type;
  const schema = isListType(inner)
    ? { type: 'array', items: schemaIn(inner.ofType) }
    : isScalarType(inner)
      ? schemaOf(inner)
      : { $ref: `#/schemas/${getNamedType(inner).name}` };
  return isNonNullType(type) ? schema : orNull(schema);
}
