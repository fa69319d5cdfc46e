import {
  compileFilter,
  escapePattern,
  Fault,
  type FilterField,
  type FilterTree,
  type TableRow,
} from '#connector/simulator';

export type Test = (row: TableRow) => boolean;

/** How Keap compares texts: it does not say, but for prefixes, which ignore cases. */
export type TextRule = 'ignoring case' | 'as written';

/** One name that an endpoint takes in its `filter`. */
export interface FilterSpec {
  /** What is compared; of several values one that passes is enough. */
  readonly read: (row: TableRow) => unknown;
  readonly type: 'text' | 'whole' | 'number' | 'flag' | 'time';
  /** Default: `==` alone. */
  readonly operators?: readonly Operator[];
  /** A star at the end means "begins with", after so many characters. */
  readonly prefix?: { readonly least: number };
  /** Values with commas between them. */
  readonly isList?: boolean;
  /** `==` means a bound. */
  readonly bound?: '>=' | '<=';
  /** The word for null or empty. */
  readonly none?: string;
  readonly isCustom?: boolean;
  readonly values?: readonly string[];
  /** Milliseconds must be said. */
  readonly isExact?: boolean;
  /** Another name that must be there, or must not. */
  readonly needs?: string;
  readonly excludes?: string;
}

export type Operator = '==' | '!=' | '>' | '<' | '>=' | '<=';

/** A name, what it is compared by and with. */
export interface Criterion {
  readonly name: string;
  readonly operator: Operator;
  readonly text: string;
}

export interface FilterPlace {
  readonly specs: Readonly<Record<string, FilterSpec>>;
  readonly rule: TextRule;
}

/** @throws Fault 400 */
export function badRequest(message: string, field?: string): Fault {
  return new Fault(400, 'INVALID_ARGUMENT', message, field === undefined ? {} : { fields: [field] });
}

/** `name==value` with semicolons between them, which mean AND. @throws Fault 400 for another grammar, names and values */
export function compileAll(filter: string | null, place: FilterPlace): Test {
  const criteria = (filter ?? '')
    .split(';')
    .filter((part) => part !== '')
    .map(readCriterion);
  return compileCriteria(criteria, place);
}

/** @throws Fault 400 for names and values that are not taken */
export function compileCriteria(criteria: readonly Criterion[], place: FilterPlace): Test {
  const tests = criteria.map((criterion) => compileOne(criterion, criteria, place));
  return (row) => tests.every((test) => test(row));
}

const CRITERION = /^(\w+)(==|!=|>=|<=|>|<)(.*)$/s;

function readCriterion(part: string): Criterion {
  const [, name = '', operator = '', text = ''] = CRITERION.exec(part) ?? [];
  if (!isOperator(operator)) throw badRequest(`Invalid filter: ${part}`, 'filter');
  return { name, operator, text };
}

function isOperator(text: string): text is Operator {
  return ['==', '!=', '>', '<', '>=', '<='].includes(text);
}

/** A standard name goes before a custom field of the same name, whose case does not count. */
function findSpec(specs: FilterPlace['specs'], name: string): FilterSpec | undefined {
  if (Object.hasOwn(specs, name)) return specs[name];
  const custom = Object.keys(specs).find((known) => known.toLowerCase() === name.toLowerCase());
  return custom !== undefined && specs[custom]?.isCustom === true ? specs[custom] : undefined;
}

function compileOne(criterion: Criterion, all: readonly Criterion[], { specs, rule }: FilterPlace): Test {
  const { name, operator, text } = criterion;
  const spec = findSpec(specs, name);
  if (spec === undefined) throw badRequest(`Invalid filter field: ${name}`, 'filter');
  const { operators = ['=='], needs, excludes, values, isList, none, read } = spec;
  if (!operators.includes(operator)) throw badRequest(`Operator ${operator} is not supported for ${name}`, 'filter');
  if (needs !== undefined && !all.some((each) => each.name === needs)) {
    throw badRequest(`${needs} is required when ${name} is specified`, 'filter');
  }
  if (all.some((each) => each.name === excludes)) throw badRequest(`${name} and ${excludes} cannot be combined`);
  if (text === '') throw badRequest(`${name} has no value`, 'filter');
  if (text === none) return (row) => [null, undefined, ''].some((empty) => empty === read(row));
  const given = isList === true ? text.split(',') : [text];
  if (values !== undefined && !given.every((value) => values.includes(value))) throw badValue(name, text);
  const test = compileFilter(treeOf(criterion, spec, given), {
    field: () => typeOf(spec, rule),
    refuse: () => badValue(name, text),
  });
  return (row) => [read(row)].flat().some((value) => test({ value }));
}

function badValue(name: string, text: string): Fault {
  return badRequest(`Invalid value for ${name}: ${text}`, 'filter');
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)$/;

function treeOf({ name, operator, text }: Criterion, spec: FilterSpec, given: readonly string[]): FilterTree {
  const test = { kind: 'test', field: 'value' } as const;
  if (spec.isList === true) return { ...test, operator: 'IN', values: given };
  if (spec.prefix !== undefined && text.includes('*')) return prefixOf(name, text, spec.prefix.least);
  if (spec.type === 'time') {
    return { ...test, operator: spec.bound ?? wordOf(operator), values: [readTime(name, text, spec.isExact)] };
  }
  return { ...test, operator: wordOf(operator), values: [text] };
}

/** @throws Fault 400 for another form, and for days that there are not */
export function readTime(name: string, text: string, isExact = false): string {
  const [whole, milliseconds] = TIME.exec(text) ?? [];
  if (whole === undefined || (isExact && milliseconds === undefined) || Number.isNaN(Date.parse(text))) {
    throw badValue(name, text);
  }
  return new Date(text).toISOString();
}

function wordOf(operator: Operator) {
  return operator === '==' ? '=' : operator;
}

/** @throws Fault 400 for a star elsewhere than at the end, and for fewer characters than are wanted */
function prefixOf(name: string, text: string, least: number): FilterTree {
  const start = text.slice(0, -1);
  if (!text.endsWith('*') || start.includes('*') || start.length < least) throw badValue(name, text);
  return { kind: 'test', field: 'value', operator: 'LIKE', values: [`${escapePattern(start)}%`] };
}

const TYPES = {
  ...{ text: 'string', whole: 'integer', number: 'number', flag: 'boolean', time: 'datetime' },
} as const satisfies Record<FilterSpec['type'], FilterField['type']>;

export function typeOf({ type }: Pick<FilterSpec, 'type'>, rule: TextRule): FilterField {
  return { type: TYPES[type], ...(type === 'text' && rule === 'ignoring case' && { fold }) };
}

function fold(text: string): string {
  return text.toLowerCase().trimEnd();
}
