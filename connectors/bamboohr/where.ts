import type { ComparisonOperator, PushedField, Translator, Value } from '#connector';

/**
 * The filter of a dataset query: OData words, `and` or `or` but never both in one filter, no `not in`, no null.
 * Parentheses are not documented and, with one kind of group, not needed.
 */
export const datasetTranslator: Translator<string> = {
  and: (operands) => operands.join(' and '),
  or: (operands) => operands.join(' or '),
  compare: (field, operator, value) =>
    field.values === undefined ? compare(field, operator, value) : compareListed(field, operator, value),
  in: (field, values, negated) =>
    field.values === undefined ? among(field, values.map(literal)) : amongListed(field, values, negated),
};

/** Employee ids are positive. */
const EVERYBODY = 'eeid ge 0';
const NOBODY = 'eeid lt 0';

const WORDS: Readonly<Record<ComparisonOperator, string>> = {
  '=': 'eq',
  '!=': 'ne',
  '<': 'lt',
  '<=': 'le',
  '>': 'gt',
  '>=': 'ge',
};

function compare(field: PushedField, operator: ComparisonOperator, value: Value): string {
  const text = literal(value);
  // What BambooHR finds for an empty literal is not documented, so everybody is asked for and checked again.
  return text === EMPTY ? EVERYBODY : `${field.native} ${WORDS[operator]} ${text}`;
}

function among(field: PushedField, literals: readonly string[]): string {
  const [only] = literals;
  if (only === undefined) return NOBODY;
  if (literals.includes(EMPTY)) return EVERYBODY;
  return literals.length === 1 ? `${field.native} eq ${only}` : `${field.native} in (${literals.join(',')})`;
}

function compareListed(field: PushedField, operator: ComparisonOperator, value: Value): string {
  return amongListed(field, [value], operator === '!=');
}

/**
 * A field with a closed list is asked for by the list's own spelling: then it does not matter whether BambooHR tells cases
 * apart, and a negation needs no `ne`.
 */
function amongListed(field: PushedField, values: readonly Value[], negated: boolean): string {
  const wanted = new Set(values.map((value) => (value.kind === 'string' ? value.value.toLowerCase() : undefined)));
  const listed = field.values ?? [];
  return among(field, listed.filter((text) => wanted.has(text.toLowerCase()) !== negated).map(quote));
}

const EMPTY = "''";

function literal(value: Value): string {
  if (value.kind === 'boolean') return String(value.value);
  if (value.kind === 'number') return value.text;
  return quote(value.kind === 'string' ? value.value : value.text);
}

/** OData doubles a quote inside a text; a backslash means itself. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
