import { compileFilter, escapePattern, type FilterTree, type RowOrder, type TableRow } from '#connector/simulator';
import { displayed, type Field, type FieldContext, resolve } from './fields.ts';
import { kindOf, READERS } from './schema.ts';

/** How texts are compared. */
export interface TextRules {
  /** GlideRecord's queries ignore it; the page of the Table API says that values are case-sensitive. Default `ignoring case`. */
  readonly text?: 'ignoring case' | 'as written';
  /** What `%` and `_` are in `LIKE`, `STARTSWITH` and `ENDSWITH`: ServiceNow does not say. Default `literal`. */
  readonly wildcards?: 'literal' | 'active';
}

export interface CompiledQuery {
  readonly test: (row: TableRow) => boolean;
  readonly order: readonly RowOrder[];
  /** Whether the order tells any two rows apart. */
  readonly isTotal: boolean;
}

export interface QueryContext extends FieldContext {
  readonly rules: TextRules;
}

type Test = CompiledQuery['test'];

/**
 * `^` joins conditions, `^OR` adds an alternative to the condition before it, `^NQ` begins another query, `^^` is a caret.
 * What cannot be understood is left out, so that more is found.
 */
export function compileQuery(text: string, context: QueryContext): CompiledQuery {
  const queries: Test[][][] = [[]];
  const order: RowOrder[] = [];
  let isTotal = false;
  // Whether an alternative joins the condition before it, which may itself have been left out.
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
  // A reference is compared by its id, but searched by what people see of it.
  const target = isPattern && kind === 'reference' ? { ...field, read: displayed(field, context.instance) } : field;
  const tree = TREES[operator]?.({ kind: isPattern && kind === 'reference' ? 'string' : kind, value, place: context });
  return tree && compileFilter(tree, { field: () => filterField(target, context.rules) });
}

/** ServiceNow runs such a value as a script: nobody's value may come to that, so this is a fault of the simulation, for all to see. */
function assertPlain(value: string): void {
  if (/(?:^|[,@])\s*javascript:/i.test(value)) throw new Error(`ServiceNow would run this: ${value}`);
}

interface Literal {
  readonly kind: ReturnType<typeof kindOf>;
  readonly value: string;
  readonly place: QueryContext;
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
  return ({ kind, value, place: context }) => {
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
    // Only of flags it is documented that those without a value are found, too.
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

/** Undefined where no value is one of the column's kind. */
function test(operator: Comparison, { kind }: Literal, texts: readonly string[]): FilterTree | undefined {
  const values = texts.map((text) => READERS[kind](text)).filter((value) => value !== undefined);
  return values.length === 0 ? undefined : { kind: 'test', field: '', operator, values };
}

/** Texts of numbers are compared by their value, and all others as they are. */
function filterField({ column, read }: Field, { text }: TextRules): RowOrder {
  const type = /^(?:integer|number)$/.test(kindOf(column)) ? 'number' : 'string';
  return { type, read, fold: text === 'as written' ? undefined : (each) => each.toLowerCase() };
}

/** References stand in the order of what people see of them. */
function readOrder(path: string, descending: boolean, context: QueryContext): readonly RowOrder[] {
  const field = resolve(path, context);
  if (field === undefined) return [];
  const read = kindOf(field.column) === 'reference' ? displayed(field, context.instance) : field.read;
  return [{ ...filterField({ column: field.column, read }, context.rules), descending }];
}
