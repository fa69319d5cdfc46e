import type { Member, Members } from '../members.ts';

/** A JSON Schema, draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The facts of the provider's official description that a connector uses, as `official.json` has them. */
export interface OfficialDescription {
  /** The document and its address, in words. */
  readonly source: string;
  readonly version: string;
  /** Operations by method and path template. */
  readonly operations: Readonly<Record<string, OfficialOperation>>;
  /** Schemas by name. References to them are `#/schemas/<name>`. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}

/** An operation of the official description. */
export interface OfficialOperation {
  /** Parameters of the query. `required: true` stands in the schema. */
  readonly query?: Readonly<Record<string, JsonSchema>>;
  readonly body?: JsonSchema;
  /** The type of the body. Default: JSON. */
  readonly content?: string;
  /** Bodies by status, and `default` for errors. An empty schema stands for no body, or for any. */
  readonly responses: Readonly<Record<string, JsonSchema>>;
}

const COMPOSED = ['allOf', 'anyOf', 'oneOf'] as const;

/** Returns the words whose schemas are parts of objects. A choice is no part where it is all that describes the object. */
function partWords(schema: JsonSchema): readonly (typeof COMPOSED)[number][] {
  return schema.properties === undefined && schema.allOf === undefined ? ['allOf'] : COMPOSED;
}

/**
 * Returns the schemas with objects closed to members that no schema names, so that a misspelled member is found. Objects with
 * `additionalProperties` stay as they are, and so do parts of a composition, whose other parts name more members.
 */
export function closeSchemas(schemas: Readonly<Record<string, JsonSchema>>): Readonly<Record<string, JsonSchema>> {
  const parts = new Set<string>();
  visit(Object.values(schemas), (schema) => {
    for (const part of partWords(schema).flatMap((word) => listOf(schema[word]))) parts.add(String(part.$ref));
  });
  const closed = Object.entries(schemas).map(([name, schema]) => [name, close(schema, parts.has(`#/schemas/${name}`))]);
  return Object.fromEntries(closed);
}

function close(value: unknown, isPart: boolean): unknown {
  if (Array.isArray(value)) return value.map((each) => close(each, isPart));
  if (typeof value !== 'object' || value === null) return value;
  const schema: JsonSchema = { ...value };
  const parts: readonly string[] = partWords(schema);
  const inner = Object.entries(schema).map(([word, each]) => [
    word,
    closeWord(word, each, parts.includes(word) || isPart),
  ]);
  const names = typeof schema.properties === 'object' && Object.keys(schema.properties ?? {}).length > 0;
  const isOpen = isPart || 'additionalProperties' in schema || !names;
  return { ...Object.fromEntries(inner), ...(!isOpen && { unevaluatedProperties: false }) };
}

function closeWord(word: string, value: unknown, isPart: boolean): unknown {
  if (word !== 'properties') return close(value, isPart && COMPOSED.some((composed) => composed === word));
  // The names of members are no words of a schema.
  return Object.fromEntries(Object.entries(Object(value)).map(([name, schema]) => [name, close(schema, false)]));
}

function visit(value: unknown, see: (schema: JsonSchema) => void): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) see({ ...value });
  for (const each of Object.values(value)) visit(each, see);
}

function listOf(value: unknown): readonly JsonSchema[] {
  return Array.isArray(value) ? value.map(Object) : [];
}

/** Returns the schema with members that can be null, for providers whose description does not say so of members without a value. */
export function withNullMembers(schema: JsonSchema): JsonSchema {
  if (schema.properties === undefined) return schema;
  const members = Object.entries<JsonSchema>(Object(schema.properties));
  const properties = members.map(([name, member]) => [name, { anyOf: [member, { type: 'null' }] }]);
  return { ...schema, properties: Object.fromEntries(properties) };
}

/**
 * Returns the members of records that follow a schema of the official description. Members of inner objects have a path. Required members
 * have a value in every row.
 * @throws Error for an unknown schema
 */
export function schemaMembers(official: Pick<OfficialDescription, 'schemas'>, name: string): Members {
  return Object.fromEntries(membersIn(official, resolve(official, { $ref: `#/schemas/${name}` }), ''));
}

type Schemas = Pick<OfficialDescription, 'schemas'>;

function resolve({ schemas }: Schemas, schema: JsonSchema): JsonSchema {
  const { $ref, allOf, ...own } = schema;
  if (typeof $ref === 'string') {
    const name = $ref.replace('#/schemas/', '');
    const target = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
    if (target === undefined) throw new Error(`The official description has no schema '${name}'.`);
    return { ...resolve({ schemas }, target), ...own };
  }
  const parts = [...listOf(allOf).map((part) => resolve({ schemas }, part)), own];
  const properties = Object.assign({}, ...parts.map((part) => part.properties));
  return Object.assign({}, ...parts, { properties, required: parts.flatMap((part) => namesIn(part.required)) });
}

function namesIn(required: unknown): readonly unknown[] {
  return Array.isArray(required) ? required : [];
}

function membersIn(official: Schemas, { properties, required }: JsonSchema, prefix: string): [string, Member][] {
  return Object.entries<JsonSchema>(Object(properties)).flatMap(([name, given]): [string, Member][] => {
    const schema = resolve(official, given);
    const path = prefix + name;
    const [type, isNullable] = typeOf(schema);
    const isInner = type === 'object' && Object.keys(Object(schema.properties)).length > 0;
    if (isInner && prefix.split('.').length <= MOST_LEVELS) return membersIn(official, schema, `${path}.`);
    const isRequired = namesIn(required).includes(name);
    const isReadOnly = schema.readOnly === true;
    const access = { isReadOnly, isRequired: isRequired && !isReadOnly, isNeverNull: isRequired && !isNullable };
    return [[path, { type, ...limitsOf(schema), ...access }]];
  });
}

/** Schemas can contain themselves. */
const MOST_LEVELS = 3;

function limitsOf({ enum: values, maxLength, minimum, maximum }: JsonSchema): Partial<Member> {
  const hasRange = minimum !== undefined || maximum !== undefined;
  const range = [String(minimum ?? '-Infinity'), String(maximum ?? 'Infinity')] as const;
  return {
    ...(Array.isArray(values) && { values: values.filter((value) => typeof value === 'string') }),
    ...(typeof maxLength === 'number' && { longest: maxLength }),
    ...(hasRange && { range }),
  };
}

const FORMATS: Readonly<Record<string, Member['type']>> = { date: 'date', 'date-time': 'datetime' };
const TYPES: Readonly<Record<string, Member['type']>> = {
  ...{ integer: 'integer', number: 'number', boolean: 'boolean', array: 'array', object: 'object' },
};

function typeOf({ type, format, properties }: JsonSchema): readonly [type: Member['type'], isNullable: boolean] {
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  const word = types.find((each) => each !== 'null');
  if (word === undefined && properties !== undefined) return ['object', false];
  const known = word === 'string' ? FORMATS[String(format)] : TYPES[String(word)];
  return [known ?? 'string', types.includes('null')];
}
