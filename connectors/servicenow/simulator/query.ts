import { compileFilter, escapePattern, type FilterTree, type RowOrder, type TableRow } from '#connector/simulator';
import { displayed, type Field, type FieldContext, resolve } from './fields.ts';
import { kindOf, READERS } from './schema.ts';

/** The rules for comparing texts. */
export interface TextRules {
  /**
   * Whether case counts. Queries of GlideRecord ignore it, but the page of the Table API says that values are case-sensitive. Default
   * `ignoring case`.
   */
  readonly text?: 'ignoring case' | 'as written';
  /** Whether `%` and `_` are wildcards in `LIKE`, `STARTSWITH` and `ENDSWITH`, which ServiceNow does not document. Default `literal`. */
  readonly wildcards?: 'literal' | 'active';
}

interface CompiledQuery {
  readonly test: (row: TableRow) => boolean;
  readonly order: readonly RowOrder[];
  /** Whether no two rows are equal in the order. */
  readonly isTotal: boolean;
}

export interface QueryContext extends FieldContext {
  readonly rules: TextRules;
}

type Test = CompiledQuery['test'];

/**
 * Compiles an encoded query. `^` joins conditions, `^OR` adds an alternative to the condition before it, `^NQ` begins another query, and
 * `^^` is a caret. Conditions that cannot be understood are left out, so the result has more rows.
 */
export function compileQuery(text: string, context: QueryContext): CompiledQuery {
  const queries: Test[][][] = [[]];
  const order: RowOrder[] = [];
  let isTotal = false;
  // The alternatives of the previous condition. Undefined if that condition was left out.
  let group: Test[] | undefined;
  for (const term of splitTerms(text)) {
    const [, prefix = '', rest = ''] = /^(ORDERBYDESC|ORDERBY|OR|NQ|EQ$)?(.*)$/s.exec(term) ?? [];
    if (prefix.startsWith('ORDERBY')) {
      order.push(...readOrder(rest, prefix === 'ORDERBYDESC', context));
      isTotal ||= rest === 'sys_id';
      continue;
    }
    if (prefix === 'NQ') queries.push([]);
    if (prefix !== 'OR' || group === undefined) {
      group = [];
      queries.at(-1)?.push(group);
    }
    const test = compileCondition(rest, context);
    if (test !== undefined) group.push(test);
  }
  const valid = queries
    .map((groups) => groups.filter((tests) => tests.length > 0))
    .filter((groups) => groups.length > 0);
  const matches = (row: TableRow) => valid.some((groups) => groups.every((tests) => tests.some((test) => test(row))));
  return { test: valid.length === 0 ? () => true : matches, order, isTotal };
}

function splitTerms(text: string): readonly string[] {
  const terms = [''];
  for (const [piece] of text.matchAll(/\^\^|\^|[^^]+/g)) {
    if (piece === '^') terms.push('');
    else terms.push((terms.pop() ?? '') + (piece === '^^' ? '^' : piece));
  }
  return terms.filter((term) => term !== '');
}

const OPERATORS = 'NOT LIKE|NOT IN|STARTSWITH|ENDSWITH|ISNOTEMPTY|ISEMPTY|LIKE|IN|!=|>=|<=|=|<|>';
const CONDITION = new RegExp(`^([a-z][a-z0-9_]*(?:\\.[a-z][a-z0-9_]*)*)(${OPERATORS})(.*)$`, 's');

function compileCondition(condition: string, context: QueryContext): Test | undefined {
  const [, path = '', operator = '', value = ''] = CONDITION.exec(condition) ?? [];
  const field = resolve(path, context);
  if (field === undefined) return undefined;
  assertPlain(value);
  const kind = kindOf(field.column);
  const isPattern = /LIKE|WITH/.test(operator);
  // An equality compares the id of a reference, but a pattern compares the displayed value.
  const target = isPattern && kind === 'reference' ? { ...field, read: displayed(field, context.instance) } : field;
  const tree = TREES[operator]?.({ kind: isPattern && kind === 'reference' ? 'string' : kind, value, context });
  return tree && compileFilter(tree, { field: () => filterField(target, context.rules) });
}

/**
 * Asserts that a value is no script. ServiceNow would execute such a value. No value of a user may have this effect, so this is an
 * unexpected error of the simulator.
 */
function assertPlain(value: string): void {
  if (/(?:^|[,@])\s*javascript:/i.test(value)) throw new Error(`ServiceNow would run this: ${value}`);
}

interface Literal {
  readonly kind: ReturnType<typeof kindOf>;
  readonly value: string;
  readonly context: QueryContext;
}

type MakeTree = (literal: Literal) => FilterTree | undefined;

const NULL: FilterTree = { kind: 'test', field: '', operator: 'IS NULL', values: [] };
const NOT_NULL: FilterTree = { ...NULL, operator: 'IS NOT NULL' };
const isNothing = (value: string) => value === '' || value === 'NULL';

const compare =
  (operator: '<' | '<=' | '>' | '>='): MakeTree =>
  (literal) =>
    test(operator, literal, [literal.value]);
const pattern = (operator: 'LIKE' | 'NOT LIKE', before: string, after: string): MakeTree => {
  return ({ kind, value, context }) => {
    if (kind !== 'string') return undefined;
    const text = context.rules.wildcards === 'active' ? value.replaceAll('\\', '\\\\') : escapePattern(value);
    return { kind: 'test', field: '', operator, values: [before + text + after] };
  };
};

const TREES: Readonly<Record<string, MakeTree>> = {
  '=': (literal) => (isNothing(literal.value) ? NULL : test('=', literal, [literal.value])),
  '!=': (literal) => {
    if (isNothing(literal.value)) return NOT_NULL;
    const tree = test('!=', literal, [literal.value]);
    // ServiceNow documents only for flags that rows without a value match, too.
    return tree && literal.kind === 'boolean' ? { kind: 'or', operands: [tree, NULL] } : tree;
  },
  '<': compare('<'),
  '<=': compare('<='),
  '>': compare('>'),
  '>=': compare('>='),
  IN: (literal) => test('IN', literal, literal.value.split(',')),
  'NOT IN': (literal) => test('NOT IN', literal, literal.value.split(',')),
  LIKE: pattern('LIKE', '%', '%'),
  'NOT LIKE': pattern('NOT LIKE', '%', '%'),
  STARTSWITH: pattern('LIKE', '', '%'),
  ENDSWITH: pattern('LIKE', '%', ''),
  ISEMPTY: () => NULL,
  ISNOTEMPTY: () => NOT_NULL,
};

type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>=' | 'IN' | 'NOT IN';

/** Returns a test, or undefined if no value has the column's kind. */
function test(operator: Comparison, { kind }: Literal, texts: readonly string[]): FilterTree | undefined {
  const values = texts.map((text) => READERS[kind](text)).filter((value) => value !== undefined);
  return values.length === 0 ? undefined : { kind: 'test', field: '', operator, values };
}

/** Returns the field for comparisons. Texts of numbers compare by their numeric value, and all others as texts. */
function filterField({ column, read }: Field, { text }: TextRules): RowOrder {
  const type = /^(?:integer|number)$/.test(kindOf(column)) ? 'number' : 'string';
  return { type, read, fold: text === 'as written' ? undefined : (each) => each.toLowerCase() };
}

/** Reads an order. References sort by their displayed value. */
function readOrder(path: string, descending: boolean, context: QueryContext): readonly RowOrder[] {
  const field = resolve(path, context);
  if (field === undefined) return [];
  const read = kindOf(field.column) === 'reference' ? displayed(field, context.instance) : field.read;
  return [{ ...filterField({ column: field.column, read }, context.rules), descending }];
}
