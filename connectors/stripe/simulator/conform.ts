import type { JsonSchema } from '#connector/simulator';
import official from '../official.json' with { type: 'json' };

const SCHEMAS: Readonly<Record<string, JsonSchema>> = official.schemas;

/**
 * Returns a value in the form of a schema: members that the schema requires are null or empty where the value lacks them, optional members
 * that cannot be null are left out, and a value of another type is replaced.
 */
export function conform(value: unknown, schema: JsonSchema): unknown {
  const { schema: inner, isNullable } = resolve(schema);
  if (value == null && isNullable) return null;
  const types = [inner.type].flat();
  if (types.includes('array'))
    return (Array.isArray(value) ? value : []).map((each) => conform(each, Object(inner.items)));
  if (types.includes('object')) return conformObject(Object(value ?? {}), inner);
  if (Array.isArray(inner.enum)) return inner.enum.includes(value) ? value : inner.enum[0];
  if (types.includes('string')) return typeof value === 'string' ? value : '';
  if (types.includes('boolean')) return value === true;
  return types.includes('integer') || types.includes('number') ? Number(value ?? 0) : value;
}

function conformObject(
  value: Readonly<Record<string, unknown>>,
  schema: JsonSchema,
): Readonly<Record<string, unknown>> {
  const properties: Readonly<Record<string, JsonSchema>> = Object(schema.properties ?? {});
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const others = Object.entries(value).filter(([name]) => !Object.hasOwn(properties, name));
  const isOpen = schema.additionalProperties !== undefined || Object.keys(properties).length === 0;
  const own = Object.entries(properties).flatMap(([name, inner]) => {
    const has = value[name] !== undefined && (value[name] !== null || resolve(inner).isNullable);
    return has || required.includes(name) ? [[name, conform(value[name], inner)] as const] : [];
  });
  return Object.fromEntries([...own, ...(isOpen ? others : [])]);
}

/** Follows references, and the one schema of a choice between it and null. */
function resolve(schema: JsonSchema): { readonly schema: JsonSchema; readonly isNullable: boolean } {
  const { $ref, anyOf, type } = schema;
  if (typeof $ref === 'string') return resolve(schemaOf($ref.replace('#/schemas/', '')));
  const isNullable = [type].flat().includes('null');
  if (!Array.isArray(anyOf)) return { schema, isNullable };
  const choices: readonly JsonSchema[] = anyOf;
  const [first = {}] = choices.filter((choice) => choice.type !== 'null');
  return {
    schema: resolve(first).schema,
    isNullable: choices.length > 1 && choices.some((choice) => choice.type === 'null'),
  };
}

/**
 * Returns a schema of the official description.
 * @throws Error for an unknown name
 */
export function schemaOf(name: string): JsonSchema {
  const schema = Object.hasOwn(SCHEMAS, name) ? SCHEMAS[name] : undefined;
  if (schema === undefined) throw new Error(`The official description has no schema '${name}'.`);
  return schema;
}

/** Returns the values of a form as the members of a record hold them: numbers, flags, and null for what is emptied. */
export function readForm(values: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, unknown>> {
  const properties: Readonly<Record<string, JsonSchema>> = Object(schemaOf(name).properties ?? {});
  const known = Object.entries(values).filter(([member]) => Object.hasOwn(properties, member));
  return Object.fromEntries(known.map(([member, value]) => [member, readValue(value, Object(properties[member]))]));
}

function readValue(value: unknown, schema: JsonSchema): unknown {
  const { schema: inner } = resolve(schema);
  const types = [inner.type].flat();
  if (value === '') return null;
  if (types.includes('object') && typeof value === 'object') {
    const properties: Readonly<Record<string, JsonSchema>> = Object(inner.properties ?? {});
    return Object.fromEntries(
      Object.entries(Object(value)).map(([member, each]) => [member, readValue(each, Object(properties[member]))]),
    );
  }
  if (typeof value !== 'string') return value;
  if (types.includes('integer') || types.includes('number')) return Number(value);
  return types.includes('boolean') ? value === 'true' : value;
}
