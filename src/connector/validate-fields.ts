import { canonicalDecimal, compareDecimals } from '../numbers/decimal.ts';
import { DECIMAL_TEXT } from '../numbers/number-value.ts';
import type { Operator } from '../where/ast.ts';
import type { FieldSpec, FieldType, Translator } from '../where/model.ts';
import { when } from './problems.ts';

const CONSTRUCT_OF: Readonly<Record<Operator, keyof Translator<unknown>>> = {
  '=': 'compare',
  '!=': 'compare',
  '<': 'compare',
  '<=': 'compare',
  '>': 'compare',
  '>=': 'compare',
  IN: 'in',
  'NOT IN': 'in',
  LIKE: 'like',
  'NOT LIKE': 'like',
  'IS NULL': 'isNull',
  'IS NOT NULL': 'isNull',
};

const NULLS: readonly Operator[] = ['IS NULL', 'IS NOT NULL'];
const EQUALITIES: readonly Operator[] = [...NULLS, '=', '!=', 'IN', 'NOT IN'];
const COMPARISONS: readonly Operator[] = [...EQUALITIES, '<', '<=', '>', '>='];
const ALL_OPERATORS: readonly Operator[] = [...COMPARISONS, 'LIKE', 'NOT LIKE'];

/** The operators that the language has for each type of field. */
const OPERATORS_OF: Readonly<Record<FieldType, ReadonlySet<Operator>>> = {
  string: new Set(ALL_OPERATORS),
  number: new Set(COMPARISONS),
  integer: new Set(COMPARISONS),
  boolean: new Set(EQUALITIES),
  date: new Set(COMPARISONS),
  datetime: new Set(COMPARISONS),
  object: new Set(NULLS),
  array: new Set(NULLS),
};

/** Returns the problems of a field's declaration. */
export function fieldProblems(field: FieldSpec, translator: Translator<unknown> | undefined): readonly string[] {
  if (!isType(field.type)) return [`the type '${field.type}' is not one of ${Object.keys(OPERATORS_OF).join(', ')}`];
  const declared = Object.keys(field.filter ?? {});
  const operators = declared.filter(isOperator);
  const untranslated = operators.filter(
    (operator) => translator?.[CONSTRUCT_OF[operator]] === undefined && !isSpelledOut(operator, field, translator),
  );
  const meaningless = operators.filter((operator) => !OPERATORS_OF[field.type].has(operator));
  return [
    ...declared
      .filter((operator) => !isOperator(operator))
      .map((operator) => `the operator '${operator}' is not one of ${ALL_OPERATORS.join(', ')}`),
    ...meaningless.map((operator) => `${operator} is declared, but no filter can use it on the type ${field.type}`),
    ...untranslated.map((operator) => `${operator} is declared, but the translator has no '${CONSTRUCT_OF[operator]}'`),
    ...when(field.collation !== undefined && field.type !== 'string', 'only text has a collation'),
    ...when(
      field.format === DECIMAL_TEXT && !NUMBERS.has(field.type) && field.type !== 'array',
      `only numbers and lists of them have the format ${DECIMAL_TEXT}`,
    ),
    ...when(
      field.range !== undefined && !isRange(field),
      'its range is not two canonical decimals of a number, the lower one first',
    ),
    ...domainProblems(field),
    ...when(field.likeForms !== undefined && field.filter?.LIKE === undefined, 'it has likeForms without LIKE'),
    ...when(field.likeExcept !== undefined && field.filter?.LIKE === undefined, 'it has likeExcept without LIKE'),
    ...when(field.required === true && field.createable !== true, 'it is required, but cannot be set on create'),
  ];
}

/** Returns whether the language has the operator for the type. True for an unknown type, which is a problem of its own. */
export function canFilter(type: string, operator: Operator): boolean {
  return !isType(type) || OPERATORS_OF[type].has(operator);
}

/** Connectors in JavaScript were not checked by a compiler. */
function isType(type: string): type is FieldType {
  return Object.hasOwn(OPERATORS_OF, type);
}

function isOperator(operator: string): operator is Operator {
  return Object.hasOwn(CONSTRUCT_OF, operator);
}

/** A list becomes equalities where the translator has no lists. */
function isSpelledOut(operator: Operator, { filter }: FieldSpec, translator: Translator<unknown> | undefined): boolean {
  if (translator?.compare === undefined) return false;
  const equality = operator === 'IN' ? filter?.['='] : operator === 'NOT IN' ? filter?.['!='] : undefined;
  return equality !== undefined && equality === filter?.[operator];
}

const NUMBERS: ReadonlySet<FieldType> = new Set(['integer', 'number']);
const DAYS: ReadonlySet<FieldType> = new Set(['date', 'datetime']);

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z)?$/;

/** `Date.parse` reads 30 February as 2 March. */
function isOnCalendar(text: string): boolean {
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, 10) === text.slice(0, 10);
}

/** Returns the parts of a domain that do not fit the type of its field. */
function domainProblems({ type, values, filter = {}, domain = {} }: FieldSpec): readonly string[] {
  const { digits, rounded, first, last, step, text, closed } = domain;
  const counts = [...(digits === undefined ? [] : Object.values(digits)), ...(rounded === undefined ? [] : [rounded])];
  const ends = [first, last].filter((end) => end !== undefined);
  const form = type === 'date' ? DAY : INSTANT;
  return [
    ...when(counts.length > 0 && !NUMBERS.has(type), 'only numbers have a domain of digits'),
    ...when(
      counts.some((count) => !Number.isSafeInteger(count) || count < 0),
      'digits are counted in whole numbers',
    ),
    ...when(
      rounded !== undefined &&
        COMPARISONS.some((operator) => !NULLS.includes(operator) && filter[operator] === 'exact'),
      'what is rounded cannot be compared exactly',
    ),
    ...when(
      (ends.length > 0 || step !== undefined) && !DAYS.has(type),
      'only dates and instants have a first, a last and a step',
    ),
    ...when(
      ends.some((end) => !form.test(end) || !isOnCalendar(end)),
      `its first and last are written as ${type === 'date' ? 'yyyy-MM-dd' : 'yyyy-MM-ddTHH:mm:ssZ, or a date'}`,
    ),
    ...when(ends.length === 2 && Date.parse(ends[0] ?? '') > Date.parse(ends[1] ?? ''), 'its last is before its first'),
    ...when((text !== undefined || closed !== undefined) && type !== 'string', 'only text has a domain of texts'),
    ...when(closed === true && (values ?? []).length === 0, 'its domain is closed, and it has no values'),
  ];
}

function isRange({ type, range = ['', ''] }: FieldSpec): boolean {
  const [least, most] = range;
  const isCanonical = range.every((bound) => bound !== '' && canonicalDecimal(bound) === bound);
  return NUMBERS.has(type) && isCanonical && compareDecimals(least, most) <= 0;
}
