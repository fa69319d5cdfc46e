import type { Exactness, FieldSpec, ListInput, ObjectSpec, Operator } from '#connector';
import { isAppError } from '../src/errors.ts';
import type { Filter } from '../src/where/ast.ts';
import { type Plan, prepareQuery } from '../src/where/index.ts';
import { predicatesFor, printFilter } from './filters.ts';
import { literalsFor } from './literals.ts';
import { evaluate } from './reference.ts';
import { choose, spread } from './soundness.ts';
import { type Connection, fieldOf, normalise, type Row } from './testing.ts';

/** The provider's evaluation of an operator on a field, as far as some rows and literals show it. */
export interface Measured {
  readonly object: string;
  readonly field: string;
  readonly operator: Operator;
  readonly declared: Exactness | undefined;
  readonly found: Finding;
}

/**
 * The measured exactness. `wrong`: rows are missing. `refused`: the provider rejects the filter. `none`: the connector cannot translate it.
 */
export type Finding = Exactness | 'wrong' | 'refused' | 'none';

/** An object with some or all of its rows. */
export interface Measurable {
  readonly name: string;
  readonly object: ObjectSpec;
  readonly rows: readonly Row[];
}

/** Limits of a measurement. */
export interface MeasureOptions {
  readonly literals: number;
  /** Maximum number of rows that are read for one literal. */
  readonly rows: number;
  /** Whether to skip operators that are declared exact, because nothing is better. Default false. */
  readonly skipsExact?: boolean;
  /** Maximum number of operators on fields, spread over all of them. Default: all. */
  readonly claims?: number;
}

const EQUALITY: readonly Operator[] = ['=', '!=', 'IN', 'NOT IN'];
const NULLS: readonly Operator[] = ['IS NULL', 'IS NOT NULL'];
const ORDER: readonly Operator[] = ['<', '<=', '>', '>='];

/** The operators of the language for each type. */
const OPERATORS: Readonly<Record<FieldSpec['type'], readonly Operator[]>> = {
  string: [...EQUALITY, ...ORDER, 'LIKE', 'NOT LIKE', ...NULLS],
  number: [...EQUALITY, ...ORDER, ...NULLS],
  integer: [...EQUALITY, ...ORDER, ...NULLS],
  date: [...EQUALITY, ...ORDER, ...NULLS],
  datetime: [...EQUALITY, ...ORDER, ...NULLS],
  boolean: [...EQUALITY, ...NULLS],
  array: NULLS,
  object: NULLS,
};

/** Sends every operator of the language as if it were declared exact, and compares the rows with those that match. It only reads. */
export async function measureObject(
  connection: Connection,
  measurable: Measurable,
  options: MeasureOptions,
): Promise<readonly Measured[]> {
  const { object, name } = measurable;
  if (object.translator === undefined) return [];
  const claims = Object.entries(object.fields).flatMap(([field, { type, filter }]) =>
    OPERATORS[type]
      .map((operator) => ({ field, operator, declared: filter?.[operator] }))
      .filter(({ declared }) => options.skipsExact !== true || declared !== 'exact'),
  );
  const measured: Measured[] = [];
  for (const { declared, ...claim } of spread(claims, options.claims ?? claims.length)) {
    const found = await measureOperator(connection, measurable, claim, options);
    measured.push({ object: name, ...claim, declared, found });
  }
  return measured;
}

interface Claim {
  readonly field: string;
  readonly operator: Operator;
}

/** The findings from the worst to the best. The worst one of all literals counts. */
const FINDINGS: readonly Finding[] = ['refused', 'wrong', 'superset', 'exact'];

async function measureOperator(
  connection: Connection,
  measurable: Measurable,
  claim: Claim,
  options: MeasureOptions,
): Promise<Finding> {
  const { object, rows } = measurable;
  const spec = object.fields[claim.field];
  if (spec === undefined) throw new Error(`There is no field '${claim.field}'.`);
  const claiming: ObjectSpec = {
    ...object,
    fields: { ...object.fields, [claim.field]: { ...spec, filter: { ...spec.filter, [claim.operator]: 'exact' } } },
  };
  const literals = literalsFor(claim.field, spec, rows);
  const filters = choose(predicatesFor(claim.operator, claim.field, literals), options.literals);
  const found = new Set<Finding>();
  for (const filter of filters) {
    const finding = await measureFilter(connection, { ...measurable, object: claiming }, { filter, claim }, options);
    if (finding !== undefined) found.add(finding);
    // There is no worse finding.
    if (finding === FINDINGS[0]) break;
  }
  return FINDINGS.find((finding) => found.has(finding)) ?? 'none';
}

/** Measures a filter. Undefined if the provider need not be queried, or cannot be. */
async function measureFilter(
  connection: Connection,
  { object, rows }: Measurable,
  { filter, claim }: { readonly filter: Filter; readonly claim: Claim },
  { rows: most }: MeasureOptions,
): Promise<Finding | undefined> {
  const plan = planOf(object, filter);
  if (plan === undefined || plan.holds !== undefined || plan.pushdown === 'none') return undefined;
  const idField = object.idField ?? 'id';
  const names = [...new Set([...(Object.hasOwn(object.fields, idField) ? [idField] : []), claim.field])];
  try {
    const taken = await Promise.all(
      plan.queries.map(({ native }) => takeRows(connection, object, { filter: native, fields: names, most })),
    );
    const found = taken.flatMap(({ rows: each }) => each);
    const isEnded = taken.every(({ isWhole }) => isWhole);
    const means = (row: Row) => evaluate(filter, row, object.fields) === true;
    const ids = new Set(found.map((row) => String(row[idField])));
    // A value on demand may be missing in the known rows.
    const isKnown = object.fields[claim.field]?.onDemand !== true;
    const isMissing = isEnded && isKnown && rows.some((row) => means(row) && !ids.has(String(row[idField])));
    if (isMissing) return 'wrong';
    return plan.residual === undefined && found.every(means) ? 'exact' : 'superset';
  } catch (error) {
    if (isAppError(error, 'PROVIDER_REJECTED', 'PROVIDER_PROTOCOL', 'NOT_FOUND', 'PROVIDER_UNAVAILABLE'))
      return 'refused';
    throw error;
  }
}

/** Returns the plan of a filter, or undefined if the translator cannot translate it. */
function planOf(object: ObjectSpec, filter: Filter): Plan | undefined {
  try {
    return prepareQuery({ where: printFilter(filter) }, object).plan;
  } catch {
    // The translator was not made for this operator.
    return undefined;
  }
}

interface Taking {
  readonly filter?: unknown;
  readonly fields: readonly string[];
  readonly most: number;
}

/** Reads the first rows of a query. `isWhole` is true if there are no others. */
export async function takeRows(
  connection: Connection,
  object: ObjectSpec,
  { filter, fields: names, most }: Taking,
): Promise<{ readonly rows: readonly Row[]; readonly isWhole: boolean }> {
  const fields = names.map((name) => fieldOf(object, name));
  const { readRecord = (record: unknown) => record, maxPageSize = 1 } = object.list ?? {};
  const rows: Row[] = [];
  let cursor: string | undefined;
  do {
    const limit = Math.min(maxPageSize, most);
    const input: Partial<ListInput<unknown>> = { fields, limit, ...(filter !== undefined && { filter }) };
    const page = await connection.list(object, { ...input, ...(cursor !== undefined && { cursor }) });
    rows.push(...page.records.map((record) => normalise(object, readRecord(record), fields)));
    cursor = page.next;
  } while (cursor !== undefined && rows.length < most);
  return { rows, isWhole: cursor === undefined };
}

/** Returns the operators that the provider evaluated better than declared, for all rows and literals that were tried. */
export function findUndeclared(measured: readonly Measured[]): readonly string[] {
  return measured
    .filter(({ declared, found }) => (found === 'exact' || found === 'superset') && rank(found) > rank(declared))
    .map(
      ({ object, field, operator, declared = 'nothing', found }) =>
        `${object}.${field} ${operator}: declared ${declared}, measured ${found}`,
    );
}

function rank(exactness: Exactness | undefined): number {
  return exactness === undefined ? 0 : exactness === 'superset' ? 1 : 2;
}
