import type { JsonSchema, OfficialDescription } from './description.ts';

/** Values of a record that is brought into the form of a schema. */
export interface ConformOptions {
  /** Returns the text of a required member that the record lacks. Default: empty. */
  readonly textOf?: (name: string, schema: JsonSchema) => string;
  /** Whether values of another type than the schema's are replaced like missing ones. Default: they stay, and the judge finds them. */
  readonly replacesWrong?: boolean;
}

/**
 * Returns a function that brings a value into the form of a named schema: it leaves out members that the schema does not name, and
 * optional members without a value that cannot be null. Required members are null or empty where the value lacks them. Objects with
 * `additionalProperties` keep what their schema does not name.
 * @throws Error (the function) for a schema that does not exist
 */
export function createConform(
  { schemas }: Pick<OfficialDescription, 'schemas'>,
  { textOf = () => '', replacesWrong = false }: ConformOptions = {},
): (value: unknown, schema: string) => Readonly<Record<string, unknown>> {
  function follow({ $ref, ...own }: JsonSchema): JsonSchema {
    if (typeof $ref !== 'string') return own;
    const name = $ref.replace('#/schemas/', '');
    const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
    if (schema === undefined) throw new Error(`The official description has no schema '${name}'.`);
    return follow(schema);
  }

  /** Follows references, and chooses the part of a choice that fits the value. */
  function resolve(given: JsonSchema, value: unknown): JsonSchema {
    const schema = follow(given);
    const choices = [schema.anyOf, schema.oneOf].filter(Array.isArray).flat();
    if (choices.length === 0 || schema.properties !== undefined) return schema;
    const resolved = choices.map((choice) => resolve(Object(choice), value));
    const fitting = resolved.find((choice) => typesOf(choice).includes(typeOf(value)));
    const isNullable = resolved.some((choice) => typesOf(choice).includes('null'));
    const { type, ...rest } = fitting ?? resolved.find((choice) => !typesOf(choice).includes('null')) ?? {};
    return { ...rest, type: isNullable ? [...typesOf({ type }), 'null'] : type };
  }

  function conform(value: unknown, given: JsonSchema, name: string): unknown {
    const schema = resolve(given, value);
    const types = typesOf(schema);
    if (value == null && types.includes('null')) return null;
    if (types.includes('array')) {
      return (Array.isArray(value) ? value : []).map((each) => conform(each, Object(schema.items), name));
    }
    if (types.includes('object') || schema.properties !== undefined) return conformObject(Object(value ?? {}), schema);
    if (value != null && !(replacesWrong && isWrong(value, schema))) return value;
    if (Array.isArray(schema.enum)) return schema.enum[0];
    if (types.includes('boolean')) return false;
    return types.includes('integer') || types.includes('number') ? 0 : textOf(name, schema);
  }

  function conformObject(value: Readonly<Record<string, unknown>>, schema: JsonSchema) {
    const properties: Readonly<Record<string, JsonSchema>> = Object(schema.properties);
    const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
    if (Object.keys(properties).length === 0) return value;
    const entries = Object.entries(properties).flatMap(([name, inner]) => {
      const held = value[name];
      const isShown = held === null ? typesOf(resolve(inner, held)).includes('null') : held !== undefined;
      return isShown || required.includes(name) ? [[name, conform(held, inner, name)] as const] : [];
    });
    const isOpen = schema.additionalProperties !== undefined && schema.additionalProperties !== false;
    const others = isOpen ? Object.entries(value).filter(([name]) => !Object.hasOwn(properties, name)) : [];
    return Object.fromEntries([...entries, ...others]);
  }

  return (value, schema) => Object(conform(value, { $ref: `#/schemas/${schema}` }, schema));
}

function isWrong(value: unknown, { enum: values, ...schema }: JsonSchema): boolean {
  if (Array.isArray(values)) return !values.includes(value);
  const types = typesOf(schema);
  const type = typeOf(value);
  return !types.includes(undefined) && !types.includes(type) && !(type === 'integer' && types.includes('number'));
}

function typesOf({ type }: JsonSchema): readonly unknown[] {
  return [type].flat();
}

function typeOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
}
