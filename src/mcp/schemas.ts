import document from '../../generated/openapi.json' with { type: 'json' };

/** A JSON schema of a tool. */
export interface ToolSchema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly default?: unknown;
  readonly items?: ToolSchema;
  readonly properties?: Readonly<Record<string, ToolSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
}

/** A schema whose properties are known: the input or the output of a tool. */
export interface ObjectSchema extends ToolSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, ToolSchema>>;
}

type Components = (typeof document)['components'];

const PARAMETERS: Readonly<Record<string, unknown>> = document.components.parameters;
const SCHEMAS: Readonly<Record<string, unknown>> = document.components.schemas;
/** Keywords that a model uses. All others, and the texts, would only cost tokens: the API checks every value again. */
const KEPT = ['type', 'enum', 'minimum', 'maximum'] as const;

/** Returns the schema of a parameter of the API with a description for models. */
export function parameterSchema(name: keyof Components['parameters'], description?: string): ToolSchema {
  const found = PARAMETERS[name];
  return { ...shortSchema(memberOf(found, 'schema'), 0), ...(description !== undefined && { description }) };
}

/** Returns the short schema of one property of a schema of the API. */
export function propertySchema(name: keyof Components['schemas'], property: string, description?: string): ToolSchema {
  const found = memberOf(memberOf(SCHEMAS[name], 'properties'), property);
  if (found === undefined) throw new Error(`The schema ${name} has no property ${property}.`);
  return { ...shortSchema(found, 1), ...(description !== undefined && { description }) };
}

/** Returns the short schemas of several properties of a schema of the API. */
export function propertySchemas(
  name: keyof Components['schemas'],
  properties: readonly string[],
): Readonly<Record<string, ToolSchema>> {
  return Object.fromEntries(properties.map((property) => [property, propertySchema(name, property)]));
}

/** Returns the schema of the input of a tool, which has no other members. */
export function inputSchema(properties: ObjectSchema['properties'], required: readonly string[] = []): ObjectSchema {
  return { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false };
}

/** Returns the schema of the output of a tool. Later versions can add members. */
export function outputSchema(properties: ObjectSchema['properties'], required: readonly string[]): ObjectSchema {
  return { type: 'object', properties, required };
}

export const TEXT: ToolSchema = { type: 'string' };
export const WHOLE: ToolSchema = { type: 'integer' };
export const BOOLEAN: ToolSchema = { type: 'boolean' };
export const TEXTS: ToolSchema = { type: 'array', items: TEXT };
/** Any JSON object. */
export const OBJECT: ToolSchema = { type: 'object' };
export const OBJECTS: ToolSchema = { type: 'array', items: OBJECT };

/** Resolves references, and keeps the shape down to the given depth. */
function shortSchema(schema: unknown, depth: number): ToolSchema {
  const reference = memberOf(schema, '$ref');
  if (typeof reference === 'string') return shortSchema(SCHEMAS[reference.split('/').at(-1) ?? ''], depth);
  const kept = KEPT.flatMap((name) => {
    const value = memberOf(schema, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const items = memberOf(schema, 'items');
  return {
    ...Object.fromEntries(kept),
    ...(items !== undefined && { items: depth > 0 ? shortSchema(items, depth - 1) : {} }),
  };
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}
