import type { ErrorDetail } from '../errors.ts';
import type { FieldRef, Filter } from './ast.ts';
import { checkFilter, pushedField, resolveFields } from './check.ts';
import type { Condition } from './condition.ts';
import { faultyText } from './faults.ts';
import type { FieldSpec, FieldType, PushedField, Queryable } from './model.ts';
import { normalise } from './normalise.ts';
import { parseFieldList, parseOrderBy, parseWhere } from './parse.ts';
import { type OrderBy, type Plan, type PlanInput, planQuery } from './plan.ts';
import { print } from './print.ts';
import { type Sql, type SqlColumns, toSql } from './sql.ts';

/** The texts of a query, as a request contains them. */
export interface QueryText {
  readonly where?: string | undefined;
  /** A second filter, joined to `where` by AND. The positions of its faults refer to this text. */
  readonly also?: string | undefined;
  readonly orderBy?: string | undefined;
  readonly fields?: string | undefined;
}

/** A query that is checked, planned and translated. It depends only on its texts and on the object. */
export interface PreparedQuery {
  /** The normalised filter without its parameters. It is absent when there is none. */
  readonly condition?: Condition;
  readonly plan: Plan;
  /** The requested fields, or all fields when the query names none. */
  readonly fields: readonly PushedField[];
  /** The query in canonical spelling. Two queries with the same meaning have the same text. */
  readonly canonical: string;
}

/** A query that is checked and not planned yet. */
export interface ParsedQuery {
  /** The normalised filter without its parameters. */
  readonly condition: Condition | undefined;
  readonly parameters: PlanInput['parameters'];
  readonly orderBy: readonly OrderBy[];
  readonly fields: readonly PushedField[];
  /** Whether the query names its fields. */
  readonly isNarrowed: boolean;
}

/**
 * Parses, checks, normalises and plans a query.
 * @throws AppError WHERE_SYNTAX, WHERE_INVALID, WHERE_UNSUPPORTED
 */
export function prepareQuery(text: QueryText, queryable: Queryable): PreparedQuery {
  return planParsed(parseQuery(text, queryable), queryable);
}

/**
 * Parses, checks and normalises a query.
 * @throws AppError WHERE_SYNTAX, WHERE_INVALID
 */
export function parseQuery(text: QueryText, queryable: Queryable): ParsedQuery {
  const filter = parseFilters(text);
  const checked = filter === undefined ? { parameters: {} } : checkFilter(filter, queryable);
  const condition = checked.condition && normalise(checked.condition);
  const orderBy = text.orderBy === undefined ? [] : resolveOrder(text.orderBy, queryable);
  const fields =
    text.fields === undefined
      ? topLevelFields(queryable, isListed)
      : resolveFields(parseFieldList(text.fields), queryable);
  return { condition, parameters: checked.parameters, orderBy, fields, isNarrowed: text.fields !== undefined };
}

/**
 * Plans a query. `mark` distinguishes it from queries with the same text that are sent to the provider in another way.
 * @throws AppError WHERE_UNSUPPORTED
 */
export function planParsed(parsed: ParsedQuery, queryable: Queryable, mark?: string): PreparedQuery {
  const { condition, fields, isNarrowed } = parsed;
  const plan = planQuery(queryable, parsed);
  const text = canonicalText(condition, plan, isNarrowed ? fields : undefined);
  const canonical = mark === undefined ? text : JSON.stringify([text, mark]);
  return { ...(condition !== undefined && { condition }), plan, fields, canonical };
}

function parseFilters({ where, also }: QueryText): Filter | undefined {
  const [first, second] = [where, also].flatMap((text) => (text === undefined ? [] : parseWhere(text)));
  return first !== undefined && second !== undefined
    ? { kind: 'and', operands: [first, second], loc: first.loc }
    : first;
}

/** A table of the platform that callers may filter. */
export interface SqlQueryable extends Queryable {
  readonly columns: SqlColumns;
}

/**
 * Translates a whole filter over a table of the platform to SQL. Returns undefined for a filter that consists of parameters only.
 * @throws AppError WHERE_SYNTAX, WHERE_INVALID
 */
export function prepareSql(where: string, queryable: SqlQueryable): Sql | undefined {
  const condition = prepareCondition(where, queryable);
  return condition && toSql(condition, queryable.columns);
}

/**
 * Returns the filter as a checked, normalised tree, for `toSql` over more than one table. Returns undefined for a filter that consists of
 * parameters only.
 * @throws AppError WHERE_SYNTAX, WHERE_INVALID
 */
export function prepareCondition(where: string, queryable: Queryable): Condition | undefined {
  const { condition } = checkFilter(parseWhere(where), queryable);
  return condition && normalise(condition);
}

function resolveOrder(text: string, queryable: Queryable): readonly OrderBy[] {
  const terms = parseOrderBy(text);
  const refs = terms.map(({ field }) => field);
  const fields = resolveFields(refs, queryable);
  assertHaveOrder(refs, fields);
  return fields.map((field, index) => ({ field, direction: terms[index]?.direction ?? 'asc' }));
}

const NO_ORDER: ReadonlySet<FieldType> = new Set(['object', 'array']);

/** Lists and objects have no order, so rows sorted by them would arrive in any order. */
function assertHaveOrder(refs: readonly FieldRef[], fields: readonly PushedField[]): void {
  const faults = fields.flatMap(({ name, type }, index): ErrorDetail[] => {
    const ref = refs[index];
    if (ref === undefined || !NO_ORDER.has(type)) return [];
    return [
      {
        position: ref.loc.offset,
        length: ref.loc.length,
        message: `Records cannot be sorted by '${name}', because it is of type ${type}.`,
      },
    ];
  });
  if (faults.length > 0) throw faultyText('WHERE_INVALID', faults);
}

function isListed({ unlisted }: FieldSpec): boolean {
  return unlisted !== true;
}

/** Returns the fields that the response for a single record has. */
export function recordFields(queryable: Queryable): readonly PushedField[] {
  return topLevelFields(queryable, () => true);
}

/** Nested fields come with the object that contains them, and fields on demand only when they are named. */
function topLevelFields(queryable: Queryable, isThere: (field: FieldSpec) => boolean): readonly PushedField[] {
  const entries: readonly (readonly [string, FieldSpec])[] = Object.entries(queryable.fields);
  const holds = (name: string) => Object.hasOwn(queryable.fields, name.slice(0, name.lastIndexOf('.')));
  return entries
    .filter(([name, spec]) => spec.onDemand !== true && isThere(spec) && !(name.includes('.') && holds(name)))
    .map(([name, spec]) => pushedField(name, spec));
}

function canonicalText(
  condition: Condition | undefined,
  plan: Plan,
  fields: readonly PushedField[] | undefined,
): string {
  return JSON.stringify([
    condition === undefined ? '' : print(condition),
    plan.parameters,
    plan.orderBy.map(({ field, direction }) => [field.name, direction]),
    fields?.map(({ name }) => name),
  ]);
}
