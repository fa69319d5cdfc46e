import type { JsonSchema } from '../../src/connector/simulator/index.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the members of an object. Any other value has none. */
export function membersOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Members of a schema that hold one schema, a list of schemas, or schemas by name. */
const INNER = {
  one: ['items', 'additionalProperties', 'not', 'contains', 'propertyNames', 'if', 'then', 'else'],
  list: ['allOf', 'anyOf', 'oneOf', 'prefixItems'],
  named: ['properties', 'patternProperties'],
} as const;

/** Members that say which values are valid. All others, such as descriptions and examples, are left out. */
const KEPT = [
  ...['type', 'format', 'enum', 'const', 'default', 'required', 'readOnly', 'writeOnly', 'pattern'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength'],
  ...['minItems', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties'],
] as const;

/**
 * Returns a schema of OpenAPI 3.0, 3.1 or Swagger 2.0 in JSON Schema, without descriptions and examples.
 * @param nameOf returns the name of the schema that a reference leads to
 */
export function toJsonSchema(schema: unknown, nameOf: (reference: string) => string): JsonSchema {
  if (schema === false) return { not: {} };
  if (!isObject(schema)) return {};
  const convert = (inner: unknown) => (typeof inner === 'boolean' ? inner : toJsonSchema(inner, nameOf));
  const { $ref } = schema;
  const converted = {
    ...(typeof $ref === 'string' && { $ref: `#/schemas/${nameOf($ref)}` }),
    ...keptOf(schema),
    ...mapInner(schema, convert),
  };
  return schema.nullable === true ? orNull(converted) : converted;
}

function keptOf(schema: JsonObject): JsonObject {
  const kept = Object.fromEntries(
    KEPT.flatMap((name) => (schema[name] == null || isEmptyList(schema[name]) ? [] : [[name, schema[name]]])),
  );
  const { exclusiveMinimum, exclusiveMaximum, minimum, maximum, required, ...others } = kept;
  const isNumber = others.type === 'integer' || others.type === 'number';
  return {
    ...others,
    // Some documents write the numbers of an enumeration as texts.
    ...(isNumber &&
      Array.isArray(others.enum) && { enum: others.enum.map((value) => (value === null ? null : Number(value))) }),
    // Swagger 2.0 has a type of its own for the part of a form that is a file.
    ...(others.type === 'file' && { type: 'string', format: 'binary' }),
    ...boundOf('inimum', minimum, exclusiveMinimum),
    ...boundOf('aximum', maximum, exclusiveMaximum),
    // Swagger 2.0 has a `required` flag beside the schema of a parameter, which is no list.
    ...(Array.isArray(required) && { required }),
  };
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** In OpenAPI 3.0, `exclusiveMinimum: true` makes `minimum` exclusive; in JSON Schema it is the bound itself. */
function boundOf(name: 'inimum' | 'aximum', bound: unknown, exclusive: unknown): JsonObject {
  const isExclusive = exclusive === true;
  return {
    ...(bound !== undefined && { [isExclusive ? `exclusiveM${name}` : `m${name}`]: bound }),
    ...(typeof exclusive === 'number' && { [`exclusiveM${name}`]: exclusive }),
  };
}

/** Returns a schema for which null is valid, too: with a list of types or, without a type, with a choice. */
export function orNull(schema: JsonObject): JsonObject {
  const { type, enum: values, ...others } = schema;
  if (typeof type !== 'string' || '$ref' in schema) return { anyOf: [schema, { type: 'null' }] };
  const isListed = Array.isArray(values);
  return {
    type: [type, 'null'],
    ...(isListed && { enum: values.includes(null) ? values : [...values, null] }),
    ...others,
  };
}

function mapInner(schema: JsonObject, map: (inner: unknown) => boolean | JsonSchema): JsonObject {
  const mapAll = (members: JsonObject) =>
    Object.fromEntries(Object.entries(members).map(([name, inner]) => [name, map(inner)]));
  return Object.fromEntries([
    ...INNER.one.flatMap((name) => (schema[name] === undefined ? [] : [[name, map(schema[name])]])),
    ...INNER.list.flatMap((name) => {
      const inner = schema[name];
      return Array.isArray(inner) ? [[name, inner.map(map)]] : [];
    }),
    ...INNER.named.flatMap((name) => {
      const inner = schema[name];
      return isObject(inner) && Object.keys(inner).length > 0 ? [[name, mapAll(inner)]] : [];
    }),
  ]);
}

/** Returns the schema with the names of its references replaced. `rename` is called once for each reference. */
export function schemasIn(schema: JsonSchema, rename: (name: string) => string): JsonSchema {
  const { $ref } = schema;
  return {
    ...schema,
    ...(typeof $ref === 'string' && { $ref: `#/schemas/${rename($ref.slice('#/schemas/'.length))}` }),
    ...mapInner(schema, (inner) => {
      if (typeof inner === 'boolean') return inner;
      return isObject(inner) ? schemasIn(inner, rename) : {};
    }),
  };
}
