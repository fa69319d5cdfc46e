import {
  compileFilter,
  escapePattern,
  Fault,
  type FilterField,
  type FilterTree,
  FOLDS,
  type Members,
  type TableRow,
  type TextRule,
} from '#connector/simulator';

const TYPES = {
  ...{ text: 'string', whole: 'integer', number: 'number', flag: 'boolean', time: 'datetime' },
} as const satisfies Record<string, FilterField['type']>;

export type Test = (row: TableRow) => boolean;

/** A name that an endpoint accepts in its `filter`. */
interface FilterSpec {
  readonly type: keyof typeof TYPES;
  /** The operators of the name. Default: only `==`. */
  readonly operators?: readonly Operator[];
  /** Minimum number of characters before a star at the end, which means "begins with". Without it a star is not special. */
  readonly least?: number;
  /** Whether the value is a list, separated by commas. */
  readonly isList?: boolean;
  /** The bound that `==` means. */
  readonly bound?: '>=' | '<=';
}

export type Operator = '==' | '!=' | '>' | '<' | '>=' | '<=';

const COMPARED: readonly Operator[] = ['==', '>', '<', '>=', '<='];
const ALL: readonly Operator[] = [...COMPARED, '!='];

/** The kinds of filters by the first word of a filter in `described.json`. The second word is the path of the compared member. */
const KINDS: Readonly<Record<string, FilterSpec>> = {
  text: { type: 'text' },
  prefix: { type: 'text', least: 1 },
  prefix3: { type: 'text', least: 3 },
  list: { type: 'text', isList: true },
  either: { type: 'text' },
  id: { type: 'whole' },
  whole: { type: 'whole' },
  number: { type: 'number' },
  ids: { type: 'whole', isList: true },
  compared: { type: 'whole', operators: COMPARED },
  comparedNumber: { type: 'number', operators: COMPARED },
  comparedTime: { type: 'time', operators: COMPARED },
  all: { type: 'whole', operators: ALL },
  allNumber: { type: 'number', operators: ALL },
  flag: { type: 'flag' },
  time: { type: 'time' },
  since: { type: 'time', bound: '>=' },
  until: { type: 'time', bound: '<=' },
};

/** Compared values that no member contains. */
const READS: Readonly<Record<string, (row: TableRow) => unknown>> = {
  has_due_date: ({ due_time }) => due_time !== null,
  paid: ({ status }) => status === 'PAID',
  // The filter selects the fields to search, and the simulator has only one.
  phone_fields: () => 'PHONE1',
  permission: ({ permission }) => [permission, 'BOTH'],
  viewable: ({ is_public }) => [is_public === true ? 'PUBLIC' : 'PRIVATE', 'BOTH'],
};

/**
 * Returns a function that reads the values at a path. A path through a list yields several values. A path of addresses yields only those of
 * one kind.
 */
function readerOf(path: string): (row: TableRow) => unknown {
  const [, kind, member = ''] = /^(billing|shipping|other)_address\.(\w+)$/.exec(path) ?? [];
  if (kind === undefined) return READS[path] ?? ((row) => valuesAt(row, path));
  const isKind = (address: unknown) => Object(address).field === kind.toUpperCase();
  return ({ addresses }) =>
    [addresses ?? []]
      .flat()
      .filter(isKind)
      .map((address) => Object(address)[member]);
}

function valuesAt(row: TableRow, path: string): unknown {
  const step = (values: readonly unknown[], name: string) => values.flatMap((value) => Object(value ?? {})[name] ?? []);
  const values = path.split('.').reduce<readonly unknown[]>(step, [row]);
  return values.length === 0 ? null : values;
}

/** A condition: a name, an operator and a value. */
export interface Criterion {
  readonly name: string;
  readonly operator: Operator;
  readonly text: string;
}

/** Filters or orders in the format of `described.json`, such as `id category.id none=NONE`, by name. */
export type Written = Readonly<Record<string, string>>;

interface FilterContext {
  readonly filters: Written;
  readonly members: Members;
  readonly rule: TextRule;
}

export function badRequest(message: string, field?: string): Fault {
  return new Fault(400, 'INVALID_ARGUMENT', message, field === undefined ? {} : { fields: [field] });
}

/** Returns a name of a list as filters and orders compare it. Orders compare the first of several values. */
export function fieldOf(written: string, rule: TextRule) {
  const [kind = '', path = '', ...more] = written.split(' ');
  const { type = 'text', ...spec } = KINDS[kind] ?? {};
  const fold = type === 'text' && kind !== 'either' ? FOLDS[rule] : undefined;
  const [, none] = /none=(\w+)/.exec(written) ?? [];
  const [, needs] = /needs=(\w+)/.exec(written) ?? [];
  const [, excludes] = /excludes=(\w+)/.exec(written) ?? [];
  const read = readerOf(path);
  const field: FilterField = { type: TYPES[type], fold };
  const term = { ...field, read: (row: TableRow) => [read(row)].flat()[0] };
  return {
    ...spec,
    kind: type,
    path,
    field,
    term,
    read,
    none,
    needs,
    excludes,
    isExact: more.includes('exact'),
  };
}

/**
 * Compiles conditions `name==value`. Semicolons between them mean AND.
 * @throws Fault 400 for another grammar, and for unknown names and values
 */
export function compileAll(filter: string | null, context: FilterContext): Test {
  const criteria = (filter ?? '')
    .split(';')
    .filter((part) => part !== '')
    .map(readCriterion);
  return compileCriteria(criteria, context);
}

/**
 * Compiles conditions that are joined with AND.
 * @throws Fault 400 for names and values that the endpoint does not accept
 */
export function compileCriteria(criteria: readonly Criterion[], context: FilterContext): Test {
  const tests = criteria.map((criterion) => compileOne(criterion, criteria, context));
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

function compileOne(criterion: Criterion, all: readonly Criterion[], { filters, members, rule }: FilterContext): Test {
  const { name, operator, text } = criterion;
  const written = Object.hasOwn(filters, name) ? filters[name] : undefined;
  if (written === undefined) throw badRequest(`Invalid filter field: ${name}`, 'filter');
  const spec = fieldOf(written, rule);
  const { operators = ['=='], needs, excludes, isList, none, read, path } = spec;
  if (!operators.includes(operator)) throw badRequest(`Operator ${operator} is not supported for ${name}`, 'filter');
  if (needs !== undefined && !all.some((each) => each.name === needs)) {
    throw badRequest(`${needs} is required when ${name} is specified`, 'filter');
  }
  if (all.some((each) => each.name === excludes)) throw badRequest(`${name} and ${excludes} cannot be combined`);
  if (text === '') throw badRequest(`${name} has no value`, 'filter');
  if (text === none) return (row) => [read(row) ?? ''].flat().some((value) => value === '');
  const given = isList === true ? text.split(',') : [text];
  const values = Object.hasOwn(READS, path) ? undefined : members[path]?.values;
  if (values !== undefined && !given.every((value) => values.includes(value))) throw badValue(name, text);
  const test = compileFilter(treeOf(criterion, spec, given), {
    field: () => spec.field,
    refuse: () => badValue(name, text),
  });
  return (row) => [read(row)].flat().some((value) => test({ value }));
}

function badValue(name: string, text: string): Fault {
  return badRequest(`Invalid value for ${name}: ${text}`, 'filter');
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)$/;

function treeOf(
  { name, operator, text }: Criterion,
  spec: ReturnType<typeof fieldOf>,
  given: readonly string[],
): FilterTree {
  const test = { kind: 'test', field: 'value' } as const;
  if (spec.isList === true) return { ...test, operator: 'IN', values: given };
  if (spec.least !== undefined && text.includes('*')) return prefixOf(name, text, spec.least);
  if (spec.kind === 'time') {
    return { ...test, operator: spec.bound ?? wordOf(operator), values: [readTime(name, text, spec.isExact)] };
  }
  return { ...test, operator: wordOf(operator), values: [text] };
}

/**
 * Reads a time.
 * @param isExact whether milliseconds are required
 * @throws Fault 400 for another format, and for a day that does not exist
 */
function readTime(name: string, text: string, isExact = false): string {
  const [whole, milliseconds] = TIME.exec(text) ?? [];
  if (whole === undefined || (isExact && milliseconds === undefined) || Number.isNaN(Date.parse(text))) {
    throw badValue(name, text);
  }
  return new Date(text).toISOString();
}

function wordOf(operator: Operator) {
  return operator === '==' ? '=' : operator;
}

/**
 * Compiles a prefix.
 * @param least minimum number of characters
 * @throws Fault 400 for a star before the end, and for a prefix that is too short
 */
function prefixOf(name: string, text: string, least: number): FilterTree {
  const start = text.slice(0, -1);
  if (!text.endsWith('*') || start.includes('*') || start.length < least) throw badValue(name, text);
  return { kind: 'test', field: 'value', operator: 'LIKE', values: [`${escapePattern(start)}%`] };
}
