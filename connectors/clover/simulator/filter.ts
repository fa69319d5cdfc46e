import {
  compileFilter,
  DAY_MS,
  escapePattern,
  type FilterTree,
  filterFieldOf,
  type TableRow,
  type TextRule,
} from '#connector/simulator';
import { badRequest, type Resource } from './merchant.ts';

export type Test = (row: TableRow) => boolean;

export interface Criterion {
  readonly field: string;
  readonly operator: '=' | '!=' | '<' | '<=' | '>' | '>=' | 'IN' | 'IS NULL' | 'IS NOT NULL';
  readonly text: string;
}

/**
 * A comparison such as `total>=100`, where everything after the operator is the value. An example of Clover's page on paging has the null
 * tests.
 */
const COMPARISON = /^([\w.]+?) *(>=|<=|!=|=|<|>)(.*)$/s;
const NULL_TEST = /^([\w.]+?) ?(IS NULL|IS NOT NULL)$/;
/** A list such as `id in ('A','B')`, from Clover's page on retrieving several results. */
const LIST = /^([\w.]+) (in) \(('[^']*'(?:, *'[^']*')*)\)$/i;

/**
 * Parses the value of a parameter `filter`.
 * @throws Fault 400 for another grammar
 */
export function readCriterion(filter: string): Criterion {
  const [, field = '', operator = '', text = ''] =
    NULL_TEST.exec(filter) ?? LIST.exec(filter) ?? COMPARISON.exec(filter) ?? [];
  const known = operator.toUpperCase();
  if (isOperator(known)) return { field, operator: known, text };
  throw badRequest(`Invalid filter: ${filter}`);
}

function isOperator(text: string): text is Criterion['operator'] {
  return ['=', '!=', '<', '<=', '>', '>=', 'IN', 'IS NULL', 'IS NOT NULL'].includes(text);
}

/**
 * Returns a field as filters and orders compare it. Ids compare exactly. A field that no record of the simulator has is null.
 * @throws Fault 400
 */
export function fieldOf({ filters, members }: Resource, name: string, rule: TextRule) {
  if (!filters.includes(name)) throw badRequest(`Invalid filter field: ${name}`);
  const field = filterFieldOf(members, name, /\bid$/.test(name) ? 'as written' : rule);
  if (field === undefined) return { type: 'string', read: () => null } as const;
  return field.type === 'datetime' ? ({ ...field, type: 'integer' } as const) : field;
}

/**
 * Compiles a criterion into a test. In an equality on names of items, `*` matches any text: users observed this at the sandbox, but Clover
 * does not document it.
 * @throws Fault 400
 */
export function compileCriterion({ field, operator, text }: Criterion, resource: Resource, rule: TextRule): Test {
  const isWild = rule === 'ignoring case' && resource.noun === 'Item' && field === 'name' && /\*/.test(text);
  const test = { kind: 'test', field, of: fieldOf(resource, field, rule) } as const;
  const filter: FilterTree =
    isWild && operator === '='
      ? { ...test, operator: 'LIKE', values: [text.split('*').map(escapePattern).join('%')] }
      : { ...test, operator, values: valuesOf(operator, text) };
  return compileFilter(filter, { refuse: () => badRequest(`Invalid value for filter field ${field}: ${text}`) });
}

function valuesOf(operator: Criterion['operator'], text: string): readonly string[] {
  if (operator === 'IN') return [...text.matchAll(/'([^']*)'/g)].map(([, value = '']) => value);
  return operator.startsWith('IS') ? [] : [text];
}

const WINDOW_MS = 90 * DAY_MS;

/**
 * The fields of Clover's rule "The search results for orders list is restricted to the last 90 days if the search filter fields include".
 * The simulator applies it as strictly as possible, also beside another window. Clover's list contains `createdTime`, too, which names the
 * windows on its other pages. Source: "Clover API updates - May 2023".
 */
const RESTRICTING = [
  ...['deletedTime', 'externalReferenceId', 'total', 'payType', 'title', 'note', 'state', 'manualTransaction'],
  ...['cardTransaction.last4', 'testMode', 'touched'],
];

/** Returns a test for the orders of the last 90 days if a criterion restricts the list to them. */
export function restrictionOf(criteria: readonly Criterion[], nowMs: number): Test {
  const isRestricted = criteria.some(({ field }) => RESTRICTING.includes(field));
  return (row) => !isRestricted || Number(row.createdTime) >= nowMs - WINDOW_MS;
}

const TIMES = ['createdTime', 'modifiedTime', 'clientCreatedTime'];

/**
 * Returns a test for the most recent 90 days of the requested time, or of all records. If no field is limited to a span of that length, the
 * first field with any bound is cut to it, or else `createdTime`.
 */
export function windowOf(criteria: readonly Criterion[], nowMs: number): Test {
  const spans = TIMES.map((field) => ({ field, ...spanOf(criteria.filter((each) => each.field === field)) }));
  if (spans.some(({ from, to }) => Math.min(to, nowMs) - from <= WINDOW_MS)) return () => true;
  const isBound = ({ from, to }: Span) => Number.isFinite(from) || Number.isFinite(to);
  const { field, to } = spans.find(isBound) ?? { field: 'createdTime', to: nowMs };
  const start = Math.min(to, nowMs) - WINDOW_MS;
  return (row) => Number(row[field]) >= start;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

function spanOf(criteria: readonly Criterion[]): Span {
  const boundsOf = (operators: readonly string[]) =>
    criteria.filter(({ operator }) => operators.includes(operator)).map(({ text }) => Number(text));
  return {
    from: Math.max(Number.NEGATIVE_INFINITY, ...boundsOf(['=', '>', '>='])),
    to: Math.min(Number.POSITIVE_INFINITY, ...boundsOf(['=', '<', '<='])),
  };
}
