import { escapePattern, Fault, type FilterField, type FilterLiteral, type FilterTree } from '#connector/simulator';

/** The types of values in a filter. Xero compares an id with `Guid("…")` only. */
export type Kind = 'string' | 'guid' | 'number' | 'boolean' | 'date' | 'datetime';

/** Marks the field of a method such as `Contains`, which fails for a record without a value. */
const CALLED = '()';

type Token = readonly [kind: 'text' | 'number' | 'name' | 'sign', text: string];

const TOKENS =
  /\s*(?:"((?:[^"\\]|"")*)"|(-?\d+(?:\.\d+)?)(?![\w.])|([A-Za-z_][\w]*(?:\.[A-Za-z_]\w*)*)|(==|!=|<>|<=|>=|&&|\|\||[=<>(),]))/y;

export function queryFault(message: string): Fault {
  return new Fault(400, 'QueryParseException', message);
}

function tokensOf(text: string): readonly Token[] {
  const pattern = new RegExp(TOKENS);
  const tokens: Token[] = [];
  while (pattern.lastIndex < text.trimEnd().length) {
    const at = pattern.lastIndex;
    const [whole, string, number, name, sign] = pattern.exec(text) ?? [];
    if (whole === undefined) throw queryFault(`Syntax error (at index ${at})`);
    if (string !== undefined) tokens.push(['text', string.replaceAll('""', '"')]);
    else if (number !== undefined) tokens.push(['number', number]);
    else tokens.push(name === undefined ? ['sign', sign ?? ''] : ['name', name]);
  }
  return tokens;
}

const OPERATORS = {
  '==': '=',
  '=': '=',
  '!=': '!=',
  '<>': '!=',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
} as const;

const isOperator = (text: string): text is keyof typeof OPERATORS => Object.hasOwn(OPERATORS, text);

const PATTERNS: Readonly<Record<string, (text: string) => string>> = {
  Contains: (text) => `%${text}%`,
  StartsWith: (text) => `${text}%`,
  EndsWith: (text) => `%${text}`,
};

/**
 * Parses a filter. Source: "Requests and responses", "Retrieving a filtered collection", whose language is that of .NET's dynamic queries.
 * @throws Fault 400 for a text that is no filter
 */
export function parseWhere(where: string, kindOf: (field: string) => Kind | undefined): FilterTree {
  const tokens = tokensOf(where);
  let at = 0;
  const peek = (): Token => tokens[at] ?? ['sign', ''];
  const isWord = (...words: readonly string[]) => peek()[0] !== 'text' && words.includes(peek()[1].toLowerCase());
  const fail = () => queryFault(`Syntax error at '${peek()[1]}'`);

  function take(kind: Token[0], text?: string): string {
    const [found, value] = peek();
    if (found !== kind || (text !== undefined && value !== text)) throw fail();
    at++;
    return value;
  }

  function joined(kind: 'and' | 'or', words: readonly string[], parseOperand: () => FilterTree): FilterTree {
    const operands = [parseOperand()];
    while (isWord(...words)) {
      at++;
      operands.push(parseOperand());
    }
    const [only] = operands;
    return operands.length === 1 && only !== undefined ? only : { kind, operands };
  }

  const parseOr = (): FilterTree => joined('or', ['or', '||'], parseAnd);
  const parseAnd = (): FilterTree => joined('and', ['and', '&&'], parseOne);

  function parseOne(): FilterTree {
    if (!isWord('(')) return parseTest();
    at++;
    const inside = parseOr();
    take('sign', ')');
    return inside;
  }

  function parseTest(): FilterTree {
    const path = take('name').split('.');
    const method = isWord('(') ? path.pop() : undefined;
    const field = path.join('.');
    const kind = kindOf(field);
    if (kind === undefined) throw queryFault(`No property or field '${field}' exists`);
    if (method !== undefined) return parseMethod(field, kind, method);
    const [, sign] = peek();
    if (!isOperator(sign)) throw fail();
    at++;
    const [value, valueKind] = parseValue();
    const operator = OPERATORS[sign];
    if (value === null) {
      if (operator !== '=' && operator !== '!=') throw fail();
      return { kind: 'test', field, operator: operator === '=' ? 'IS NULL' : 'IS NOT NULL', values: [] };
    }
    const isOrdered = kind === 'number' || kind === 'date' || kind === 'datetime';
    const isFit = valueKind === kind || (valueKind === 'datetime' && kind === 'date');
    if (!isFit || (!isOrdered && operator !== '=' && operator !== '!='))
      throw queryFault(`Operator '${sign}' incompatible with operand types '${kind}' and '${valueKind}'`);
    if (kind !== 'date') return { kind: 'test', field, operator, values: [value] };
    return { kind: 'test', field, operator, values: [String(value).slice(0, 10)] };
  }

  function parseMethod(field: string, kind: Kind, method: string): FilterTree {
    const pattern = Object.hasOwn(PATTERNS, method) ? PATTERNS[method] : undefined;
    if (pattern === undefined || kind !== 'string') throw queryFault(`No applicable method '${method}' exists`);
    take('sign', '(');
    const text = take('text');
    take('sign', ')');
    return { kind: 'test', field: field + CALLED, operator: 'LIKE', values: [pattern(escapePattern(text))] };
  }

  function parseValue(): readonly [FilterLiteral, Kind] {
    const [kind, text] = peek();
    at++;
    if (kind === 'text') return [text, 'string'];
    if (kind === 'number') return [text, 'number'];
    if (kind === 'sign') throw fail();
    if (text === 'null') return [null, 'string'];
    if (text === 'true' || text === 'false') return [text === 'true', 'boolean'];
    if (/^guid$/i.test(text)) return [parseArguments('text')[0]?.toLowerCase() ?? '', 'guid'];
    if (text === 'DateTime') return [timeOf(parseArguments('number').map(Number)), 'datetime'];
    throw fail();
  }

  function parseArguments(kind: 'text' | 'number'): readonly string[] {
    take('sign', '(');
    const values = [take(kind)];
    while (isWord(',')) {
      at++;
      values.push(take(kind));
    }
    take('sign', ')');
    return values;
  }

  const tree = parseOr();
  if (at < tokens.length) throw fail();
  return tree;
}

/** Reads `DateTime(year, month, day)` or with hour, minute, second. */
function timeOf(parts: readonly number[]): string {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts;
  const time = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  const isTime = (parts.length === 3 || parts.length === 6) && time.getUTCMonth() === month - 1 && year >= 1;
  if (!isTime || year > 9999)
    throw queryFault('Year, Month, and Day parameters describe an un-representable DateTime.');
  if (year < 100) time.setUTCFullYear(year);
  return time.toISOString();
}

/** Returns the field of a test. A method on a missing value fails, as the documents warn. */
export function fieldOf(name: string, field: (name: string) => FilterField | undefined): FilterField | undefined {
  if (!name.endsWith(CALLED)) return field(name);
  const known = field(name.slice(0, -CALLED.length));
  if (known === undefined) return undefined;
  return {
    ...known,
    read: (row) => {
      const value = known.read?.(row);
      if (value == null) throw queryFault('Object reference not set to an instance of an object.');
      return value;
    },
  };
}
