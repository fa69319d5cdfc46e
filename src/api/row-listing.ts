import document from '../../generated/openapi.json' with { type: 'json' };
import { listHeaders } from '../http/response.ts';
import {
  compileCondition,
  type FieldSpec,
  type FieldType,
  prepareCondition,
  type Queryable,
  type Row,
} from '../where/index.ts';
import { createPositionTokens, PAGE_SIZE, type PageRequest, type PageSeal } from './page-tokens.ts';

/** A list whose rows are in memory in the form of the response. */
interface RowListing<Row> {
  /** Fields that `where` may name, see `fieldsOf`. */
  readonly queryable: Queryable;
  /** Returns the position of a row, a unique text. Rows are sorted by these texts. */
  readonly positionOf: (row: Row) => string;
  /** Values that identify the list independently of its pages. A page token is valid only for a list with the same values. */
  readonly context: readonly unknown[];
}

/**
 * Returns the response with one page of the rows that match `where`.
 * @throws AppError WHERE_SYNTAX, WHERE_INVALID; REQUEST_INVALID for a token of another list
 */
export function listRows<Shown extends Row>(
  seal: PageSeal,
  rows: readonly Shown[],
  { query: { where, pageSize = PAGE_SIZE, nextPage }, url }: PageRequest,
  { queryable, positionOf, context }: RowListing<Shown>,
) {
  const condition = where === undefined ? undefined : prepareCondition(where, queryable);
  const matches = condition === undefined ? () => true : compileCondition(condition);
  const tokens = createPositionTokens(seal, JSON.stringify([...context, where]));
  const after = tokens.read(nextPage);
  const found = rows
    .filter((row) => (after === undefined || positionOf(row) > after) && matches(row))
    .toSorted((one, other) => (positionOf(one) < positionOf(other) ? -1 : 1));
  const page = found.slice(0, pageSize);
  const last = page.at(-1);
  const token = found.length > pageSize && last !== undefined ? tokens.write(positionOf(last)) : undefined;
  return { body: page, headers: listHeaders(page.length, { url, token }) };
}

/** The parts of a schema from which fields are made. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

type SchemaName = keyof typeof document.components.schemas;

// JSON that is imported has a type of its own for each schema, with no member in common where a schema allows anything.
const SCHEMAS = document.components.schemas as Readonly<Record<string, unknown>> as Readonly<Record<string, Schema>>;

/** Returns the scalar members of a schema as fields. Members of nested objects have names with a dot, such as `authentication.type`. */
export function fieldsOf(name: SchemaName): Queryable {
  return { fields: Object.fromEntries(fieldEntries(SCHEMAS[name] ?? {})) };
}

function fieldEntries({ properties = {}, required = [] }: Schema): readonly (readonly [string, FieldSpec])[] {
  return Object.entries(properties).flatMap(([name, given]): readonly (readonly [string, FieldSpec])[] => {
    const schema = resolve(given);
    const type = typeOf(schema);
    if (type !== undefined) return [[name, { type, nullable: !required.includes(name) }]];
    return fieldEntries(schema).map(([inner, spec]) => [`${name}.${inner}`, spec]);
  });
}

function resolve(schema: Schema): Schema {
  return schema.$ref === undefined ? schema : (SCHEMAS[schema.$ref.slice('#/components/schemas/'.length)] ?? {});
}

const TYPES: Readonly<Record<string, FieldType>> = {
  string: 'string',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
};

function typeOf({ type = '', format }: Schema): FieldType | undefined {
  return format === 'date-time' ? 'datetime' : TYPES[type];
}
