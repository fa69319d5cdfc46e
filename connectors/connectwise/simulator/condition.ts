import {
  compileFilter,
  type FilterLiteral,
  type FilterTest,
  type FilterTree,
  FOLDS,
  type TableRow,
} from '#connector/simulator';
import { badCondition } from './fault.ts';

type LiteralKind = 'string' | 'datetime' | 'numeric' | 'boolean' | 'null';

/** The member that a name in a condition refers to. */
export interface Target {
  readonly type: keyof typeof KINDS;
  /** The possible values of the member. */
  readonly values?: readonly string[];
  readonly read: (row: TableRow) => unknown;
}

type Resolve = (name: string) => Target | undefined;

/**
 * Compiles a condition in the syntax of the developer guide. An empty condition matches every row. Texts are compared without case, which
 * ConnectWise does not document.
 * @throws Fault 400
 */
export function compileConditions(conditions: string, resolve: Resolve): (row: TableRow) => boolean {
  if (conditions.trim() === '') return () => true;
  return compileFilter(parse(readTokens(conditions), resolve), { refuse: (message) => badCondition(message) });
}

type Token = { readonly kind: LiteralKind | 'sign' | 'word' | 'end'; readonly text: string };

const TOKEN =
  /\s*(?:(?<string>"[^"]*"|'[^']*')|(?<datetime>\[[^\]]*\])|(?<numeric>-?\d+(?:\.\d+)?)|(?<sign><=|>=|!=|[=<>(),])|(?<word>[A-Za-z_]\w*(?:\/\w+)*))/y;
const LITERAL_WORDS: Readonly<Record<string, LiteralKind>> = { true: 'boolean', false: 'boolean', null: 'null' };

function readTokens(conditions: string): readonly Token[] {
  const tokens: Token[] = [];
  const end = conditions.trimEnd().length;
  for (let at = 0; at < end; ) {
    TOKEN.lastIndex = at;
    const { string, datetime, numeric, sign, word } = TOKEN.exec(conditions)?.groups ?? {};
    if (string !== undefined) tokens.push({ kind: 'string', text: string.slice(1, -1) });
    else if (datetime !== undefined) tokens.push({ kind: 'datetime', text: datetime.slice(1, -1) });
    else if (numeric !== undefined) tokens.push({ kind: 'numeric', text: numeric });
    else if (sign !== undefined) tokens.push({ kind: 'sign', text: sign });
    else if (word !== undefined) tokens.push({ kind: LITERAL_WORDS[word.toLowerCase()] ?? 'word', text: word });
    else throw badCondition(`Unexpected character '${conditions.charAt(at)}' at ${at}.`);
    at = TOKEN.lastIndex;
  }
  return tokens;
}

const DEEPEST = 50;
const END: Token = { kind: 'end', text: '' };

/** Parses a condition: `or` of `and` of tests and parentheses. */
function parse(tokens: readonly Token[], resolve: Resolve): FilterTree {
  let at = 0;
  const peek = () => tokens[at] ?? END;
  const take = () => tokens[at++] ?? END;
  const isNext = (text: string) => peek().kind !== 'string' && peek().text.toLowerCase() === text;
  const skip = (text: string) => isNext(text) && take() !== END;
  const expect = (text: string) => {
    if (!skip(text)) throw badCondition(`Expected '${text}', not '${peek().text}'.`);
  };

  function chain(kind: 'and' | 'or', operand: () => FilterTree): FilterTree {
    const operands = [operand()];
    while (skip(kind)) operands.push(operand());
    const [only] = operands;
    return operands.length === 1 && only !== undefined ? only : { kind, operands };
  }

  const expression = (depth: number): FilterTree => chain('or', () => chain('and', () => factor(depth)));

  function factor(depth: number): FilterTree {
    if (!skip('(')) return test();
    if (depth > DEEPEST) throw badCondition('The parentheses are too deep.');
    const inner = expression(depth + 1);
    expect(')');
    return inner;
  }

  function test(): FilterTree {
    const name = take();
    if (name.kind !== 'word') throw badCondition(`Expected a name, not '${name.text}'.`);
    const negated = skip('not');
    const operator = take().text.toLowerCase();
    const isWord = ['like', 'contains', 'in'].includes(operator);
    if (negated ? !isWord : !isWord && !COMPARISONS.some((each) => each === operator)) {
      throw badCondition(`'${operator}' is not a recognized operator.`);
    }
    const literals = operator === 'in' ? list() : [literal()];
    return makeTest({ name: name.text, operator, negated, literals }, resolve);
  }

  function list(): readonly Token[] {
    expect('(');
    const literals = [literal()];
    while (skip(',')) literals.push(literal());
    expect(')');
    return literals;
  }

  function literal(): Token {
    const token = take();
    if (['sign', 'word', 'end'].includes(token.kind)) throw badCondition(`Expected a value, not '${token.text}'.`);
    return token;
  }

  const tree = expression(0);
  if (peek() !== END) throw badCondition(`Expected the end, not '${peek().text}'.`);
  return tree;
}

interface Written {
  readonly name: string;
  readonly operator: string;
  readonly negated: boolean;
  readonly literals: readonly Token[];
}

const KINDS = {
  string: 'string',
  integer: 'numeric',
  number: 'numeric',
  boolean: 'boolean',
  date: 'datetime',
  datetime: 'datetime',
} as const satisfies Record<string, LiteralKind>;

function makeTest({ name, operator, negated, literals }: Written, resolve: Resolve): FilterTree {
  const kind = literals[0]?.kind;
  const target = resolve(name);
  if (target === undefined) throw badCondition(`${name} is not a recognized name.`);
  const { type, values: words, read } = target;
  const isPattern = operator === 'like' || operator === 'contains' || isWildcard(operator, target, literals[0]);
  const test = (tested: FilterTest['operator'], ...wanted: readonly FilterLiteral[]): FilterTree => ({
    ...{ kind: 'test', field: name, of: { type, read, fold: isPattern ? inLowerCase : FOLDS['ignoring case'] } },
    ...{ operator: tested, values: wanted },
  });
  if (kind === 'null') {
    if (operator !== '=' && operator !== '!=') throw badCondition(`null is not compared by '${operator}'.`);
    return test(operator === '=' ? 'IS NULL' : 'IS NOT NULL');
  }
  const values = literals.map((token) => readValue(token, target));
  if (!isPattern) return test(operatorOf(operator, negated), ...values);
  if (type !== 'string') throw badCondition(`'${operator}' is for strings, which ${name} is not.`);
  if (words !== undefined) throw badCondition('Enum value supplied was invalid');
  const pattern = patternOf(String(values[0]));
  const isNot = negated || operator === '!=';
  return test(isNot ? 'NOT LIKE' : 'LIKE', operator === 'contains' ? `%${pattern}%` : pattern);
}

/** Returns whether a literal has wildcards. The guide says that strings accept `*` as a wildcard, and shows it in an equality. */
function isWildcard(operator: string, { type, values }: Target, literal: Token | undefined): boolean {
  const isText = type === 'string' && values === undefined && literal?.kind === 'string';
  return isText && (operator === '=' || operator === '!=') && literal.text.includes('*');
}

const COMPARISONS = ['=', '!=', '<', '<=', '>', '>='] as const;

function operatorOf(operator: string, negated: boolean): FilterTest['operator'] {
  if (operator === 'in') return negated ? 'NOT IN' : 'IN';
  return COMPARISONS.find((each) => each === operator) ?? '=';
}

/** Equalities of the underlying database ignore blanks at the end, patterns don't. */
const inLowerCase = (text: string) => text.toLowerCase();

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

function readValue({ kind, text }: Token, { type, values }: Target): FilterLiteral {
  if (kind !== KINDS[type]) throw badCondition(`Expected a ${KINDS[type]} value, not a ${kind}.`);
  if (kind === 'datetime' && !(MOMENT.test(text) && !Number.isNaN(Date.parse(text)))) {
    throw badCondition(`'${text}' is not a datetime.`);
  }
  // The documents do not say how a string contains a quote. Some clients write a backslash in front of it, with an unknown result.
  if (kind === 'string' && text.includes('\\')) throw badCondition('A string with a backslash is not simulated.');
  if (kind === 'boolean') return text.toLowerCase() === 'true';
  if (values === undefined) return text;
  const known = values.find((word) => word.toLowerCase() === text.toLowerCase());
  if (known === undefined) throw badCondition('Enum value supplied was invalid');
  return known;
}

/**
 * Translates a pattern: `%` and `*` match any run of characters, `_` matches one character, and `[[]` matches a bracket, as the guide
 * describes. The guide does not mention other brackets.
 */
function patternOf(text: string): string {
  return text.replaceAll(/\[\[\]|[[*]/g, (found) => {
    if (found === '[') throw badCondition("A '[' in a pattern other than as '[[]' is not simulated.");
    return found === '*' ? '%' : '[';
  });
}
