import type { JsonSchema, OfficialDescription } from './description.ts';

const REFERENCE = '#/schemas/';

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
    const name = $ref.replace(REFERENCE, '');
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

  /** A simulator brings thousands of rows into few forms, so each form is read once. */
  const forms = new WeakMap<JsonSchema, Map<string, Form>>();

  function formOf(given: JsonSchema, value: unknown): Form {
    const type = typeOf(value);
    const known = forms.get(given) ?? new Map<string, Form>();
    const form = known.get(type) ?? readForm(resolve(given, value));
    forms.set(given, known.set(type, form));
    return form;
  }

  function conform(value: unknown, given: JsonSchema, name: string): unknown {
    const form = formOf(given, value);
    const { schema, types } = form;
    if (value == null && types.includes('null')) return null;
    if (types.includes('array'))
      return (Array.isArray(value) ? value : []).map((each) => conform(each, form.items, name));
    if (types.includes('object') || schema.properties !== undefined) return conformObject(Object(value ?? {}), form);
    if (value != null && !(replacesWrong && isWrong(value, form))) return value;
    if (Array.isArray(schema.enum)) return schema.enum[0];
    if (types.includes('boolean')) return false;
    return types.includes('integer') || types.includes('number') ? 0 : textOf(name, schema);
  }

  function conformObject(value: Readonly<Record<string, unknown>>, { properties, required, isOpen }: Form) {
    if (properties.size === 0) return value;
    const conformed: Record<string, unknown> = {};
    for (const [name, inner] of properties) {
      const held = value[name];
      const isShown = held === null ? formOf(inner, held).types.includes('null') : held !== undefined;
      if (isShown || required.has(name)) conformed[name] = conform(held, inner, name);
    }
    if (!isOpen) return conformed;
    const others = Object.entries(value).filter(([name]) => !properties.has(name));
    return { ...conformed, ...Object.fromEntries(others) };
  }

  const references = new Map(Object.keys(schemas).map((name) => [name, { $ref: REFERENCE + name }]));
  return (value, schema) => Object(conform(value, references.get(schema) ?? { $ref: REFERENCE + schema }, schema));
}

/** The parts of a schema that a value is brought into. Its references are resolved. */
interface Form {
  readonly schema: JsonSchema;
  readonly types: readonly unknown[];
  readonly items: JsonSchema;
  readonly properties: ReadonlyMap<string, JsonSchema>;
  readonly required: ReadonlySet<unknown>;
  /** Whether objects keep members that the schema does not name. */
  readonly isOpen: boolean;
}

function readForm(schema: JsonSchema): Form {
  const { items, properties, required, additionalProperties } = schema;
  return {
    schema,
    types: typesOf(schema),
    items: Object(items),
    properties: new Map(Object.entries(Object(properties))),
    required: new Set(Array.isArray(required) ? required : []),
    isOpen: additionalProperties !== undefined && additionalProperties !== false,
  };
}

function isWrong(value: unknown, { schema, types }: Form): boolean {
  if (Array.isArray(schema.enum)) return !schema.enum.includes(value);
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
