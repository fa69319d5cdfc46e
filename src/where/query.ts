import type { ErrorDetail } from '../errors.ts';
import type { FieldRef, Filter } from './ast.ts';
import { checkFilter, pushedField, resolveFields } from './check.ts';
import type { Condition } from './condition.ts';
import { faultyText } from './faults.ts';
import type { FieldSpec, FieldType, PushedField, Queryable } from './model.ts';
import { normalise } from './normalise.ts';
import { parseFieldList, parseOrderBy, parseWhere } from './parse.ts';
import { type OrderBy, type Plan, planQuery } from './plan.ts';
import { print } from './print.ts';
import { type Sql, type SqlColumns, toSql } from './sql.ts';

/** A query as it arrives: texts. */
export interface QueryText {
  readonly where?: string | undefined;
  /** A filter that counts beside `where`. Its faults have their positions in it. */
  readonly also?: string | undefined;
  readonly orderBy?: string | undefined;
  readonly fields?: string | undefined;
}

/** A query that is understood: checked, planned, translated. Depends on nothing but the texts and the object. */
export interface PreparedQuery {
  /** The whole filter but its parameters, normalised; absent when there is none. */
  readonly condition?: Condition;
  readonly plan: Plan;
  /** The fields asked for; all of them when none were named. */
  readonly fields: readonly PushedField[];
  /** The query in canonical spelling: two texts that mean the same have the same one. */
  readonly canonical: string;
}

/**
 * Parses, checks, normalises and plans.
 * @throws AppError WHERE_SYNTAX, WHERE_INVALID, WHERE_UNSUPPORTED
 */
export function prepareQuery(text: QueryText, queryable: Queryable): PreparedQuery {
  const filter = parseFilters(text);
  const checked = filter === undefined ? { parameters: {} } : checkFilter(filter, queryable);
  const condition = checked.condition && normalise(checked.condition);
  const orderBy = text.orderBy === undefined ? [] : resolveOrder(text.orderBy, queryable);
  const fields =
    text.fields === undefined
      ? topLevelFields(queryable, isListed)
      : resolveFields(parseFieldList(text.fields), queryable);
  const plan = planQuery(queryable, { condition, parameters: checked.parameters, orderBy });
  const canonical = canonicalText(condition, plan, text.fields === undefined ? undefined : fields);
  return { ...(condition !== undefined && { condition }), plan, fields, canonical };
}

function parseFilters({ where, also }: QueryText): Filter | undefined {
  const [first, second] = [where, also].flatMap((text) => (text === undefined ? [] : parseWhere(text)));
  return first !== undefined && second !== undefined
    ? { kind: 'and', operands: [first, second], loc: first.loc }
    : first;
}

/** A table of the platform's own that callers may filter. */
export interface SqlQueryable extends Queryable {
  readonly columns: SqlColumns;
}

/**
 * The same language over a table of ours: the whole filter becomes SQL. Undefined for a filter of parameters only.
 * @throws AppError WHERE_SYNTAX, WHERE_INVALID
 */
export function prepareSql(where: string, queryable: SqlQueryable): Sql | undefined {
  const condition = prepareCondition(where, queryable);
  return condition && toSql(condition, queryable.columns);
}

/**
 * The filter as a checked, normalised tree, for `toSql` over more than one table. Undefined for a filter of parameters only.
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

/** Rows in the order of lists or objects would come in any. */
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

/** What a single record is answered with. */
export function recordFields(queryable: Queryable): readonly PushedField[] {
  return topLevelFields(queryable, () => true);
}

/** Nested fields come with the object that holds them, and some only when they are named. */
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
