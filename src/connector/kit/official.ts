import type { FieldSpec, FieldType } from '../../where/model.ts';
import type { Fields } from '../contract.ts';
import { codec } from './codec.ts';
import { type Json, json } from './json.ts';
import { defined } from './kinds.ts';

/** The part of `official.json` from which fields are made. */
export interface OfficialSchemas {
  /** JSON Schemas by name. A reference is `#/schemas/<Name>`. */
  readonly schemas: Readonly<Record<string, unknown>>;
}

/** Which members of a schema become fields, and what the schema does not say about them. */
export interface FieldsOfOptions {
  /** The members that become fields, separated by blanks. Default: all of them. */
  readonly pick?: string;
  /** The names of fields whose names differ from those of the members: `{ given_name: 'firstName' }`. */
  readonly rename?: Readonly<Record<string, string>>;
  /** What the schema does not say, by the name of the field: filters, sorting, aliases, or another type. */
  readonly but?: Readonly<Record<string, Partial<FieldSpec>>>;
  /** The schema of the body that creates a record. Its members can be created, and its required ones must be. */
  readonly create?: string;
  /** The schema of the body that changes a record. Its members can be updated. */
  readonly update?: string;
}

/**
 * Returns fields made from a schema of the provider's official description: types, formats, values to choose from, and whether a value can
 * be missing.
 * @throws Error that names a schema or a member that the description lacks, so that a newer description cannot lose a field silently
 */
export function fieldsOf(official: OfficialSchemas, name: string, options: FieldsOfOptions = {}): Fields {
  const { pick, rename = {}, but = {} } = options;
  const shown = membersOf(official, name);
  const created = options.create === undefined ? undefined : membersOf(official, options.create);
  const updated = options.update === undefined ? undefined : membersOf(official, options.update);
  const picked = pick?.trim().split(/\s+/) ?? [...shown.members.keys()];
  const entries = picked.map((native) => {
    const schema = shown.members.get(native) ?? lacks(`'${native}' in the schema '${name}'`);
    const own = rename[native] ?? native;
    const createable = isWritten(created?.members.get(native));
    const spec: FieldSpec = defined({
      ...fieldOf(schema, official),
      native: own === native ? undefined : native,
      nullable:
        shown.required.has(native) && !isNullable(schema) && !isNullable(resolve(schema, official)) ? false : undefined,
      createable: createable || undefined,
      required: (createable && created?.required.has(native)) || undefined,
      updateable: isWritten(updated?.members.get(native)) || undefined,
      ...but[own],
    });
    return [own, spec] as const;
  });
  const fields = Object.fromEntries(entries);
  const stranger = [...Object.keys(but), ...Object.values(rename)].find((own) => !Object.hasOwn(fields, own));
  if (stranger !== undefined) lacks(`'${stranger}', which the fields of '${name}' mention`);
  return fields;
}

/** Returns fields that are all alike, by names separated by blanks: `each(TEXT, 'city street')`. */
export function each(spec: FieldSpec, names: string): Fields {
  return Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, spec]),
  );
}

function lacks(what: string): never {
  throw new Error(`official.json lacks ${what}.`);
}

interface Members {
  readonly members: ReadonlyMap<string, Json>;
  readonly required: ReadonlySet<unknown>;
}

function membersOf(official: OfficialSchemas, name: string): Members {
  if (!Object.hasOwn(official.schemas, name)) lacks(`the schema '${name}'`);
  return collect(resolve({ $ref: `#/schemas/${name}` }, official), official);
}

/** Collects the members of a schema and of the schemas that it is composed of. */
function collect(schema: Json, official: OfficialSchemas): Members {
  const parts = [...listOf(schema.allOf), ...listOf(schema.oneOf), ...listOf(schema.anyOf)];
  const inner = parts.map((part) => collect(resolve(part, official), official));
  const own = Object.entries(json.isObject(schema.properties) ? schema.properties : {});
  return {
    members: new Map([
      ...inner.flatMap(({ members }) => [...members]),
      ...own.map(([member, value]) => [member, json.isObject(value) ? value : {}] as const),
    ]),
    required: new Set([...listOf(schema.required), ...inner.flatMap(({ required }) => [...required])]),
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

const REFERENCE = '#/schemas/';

/** Follows references, and the one schema of a choice between it and null. */
function resolve(value: unknown, official: OfficialSchemas): Json {
  if (!json.isObject(value)) return {};
  const choices = listOf(value.anyOf).filter((choice) => json.at(choice, 'type') !== 'null');
  if (choices.length === 1 && value.type === undefined) return resolve(choices[0], official);
  if (typeof value.$ref !== 'string') return value;
  const name = value.$ref.slice(REFERENCE.length);
  return resolve(official.schemas[name] ?? lacks(`the schema '${name}'`), official);
}

function isNullable(schema: Json): boolean {
  return (
    listOf(schema.type).includes('null') || listOf(schema.anyOf).some((choice) => json.at(choice, 'type') === 'null')
  );
}

function isWritten(schema: Json | undefined): boolean {
  return schema !== undefined && schema.readOnly !== true;
}

const TYPES: ReadonlyMap<unknown, FieldType> = new Map(
  (['string', 'number', 'integer', 'boolean', 'object', 'array'] as const).map((type) => [type, type]),
);

/** Returns the type of a field. A schema without a type, such as a choice between several, is shown as it is. */
function fieldOf(value: Json, official: OfficialSchemas): FieldSpec {
  const schema = resolve(value, official);
  const word = [schema.type].flat().find((type) => type !== 'null');
  if (word === 'string' && schema.format === 'date') return { type: 'date' };
  if (word === 'string' && schema.format === 'date-time') return { type: 'datetime', ...codec.instant() };
  const values = listOf(schema.enum).filter((each) => typeof each === 'string');
  return defined({
    type: TYPES.get(word) ?? 'object',
    format: word === 'string' ? json.findText(schema.format) : undefined,
    values: word === 'string' && values.length > 0 ? values : undefined,
  });
}
