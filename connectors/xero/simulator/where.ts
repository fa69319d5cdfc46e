import {
  escapePattern,
  Fault,
  type FilterField,
  type FilterLiteral,
  type FilterTree,
  groupOf,
  readSeparated,
  readTokens,
  type TextToken,
} from '#connector/simulator';

/** The types of values in a filter. Xero compares an id with `Guid("…")` only. */
export type Kind = 'string' | 'guid' | 'number' | 'boolean' | 'date' | 'datetime';

/** Marks the field of a method such as `Contains`, which fails for a record without a value. */
const CALLED = '()';

type Part = 'text' | 'number' | 'name' | 'sign';

const TOKENS =
  /"(?<text>(?:[^"\\]|"")*)"|(?<number>-?\d+(?:\.\d+)?)(?![\w.])|(?<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)|(?<sign>==|!=|<>|<=|>=|&&|\|\||[=<>(),])/;

export function queryFault(message: string): Fault {
  return new Fault(400, 'QueryParseException', message);
}

function refuse({ kind, text, at }: TextToken<Part>): Fault {
  return queryFault(kind === 'unknown' ? `Syntax error (at index ${at})` : `Syntax error at '${text}'`);
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
  const { isNext, take, need, fail, needEnd } = readTokens<Part>(where, TOKENS, refuse);
  const textOf = (text: string) => text.replaceAll('""', '"');

  const parseOr = (): FilterTree =>
    groupOf(
      'or',
      readSeparated(parseAnd, () => take('name', 'or') ?? take('sign', '||')),
    );
  const parseAnd = (): FilterTree =>
    groupOf(
      'and',
      readSeparated(parseOne, () => take('name', 'and') ?? take('sign', '&&')),
    );

  function parseOne(): FilterTree {
    if (take('sign', '(') === undefined) return parseTest();
    const inside = parseOr();
    need('sign', ')');
    return inside;
  }

  function parseTest(): FilterTree {
    const path = need('name').text.split('.');
    const method = isNext('sign', '(') ? path.pop() : undefined;
    const field = path.join('.');
    const kind = kindOf(field);
    if (kind === undefined) throw queryFault(`No property or field '${field}' exists`);
    if (method !== undefined) return parseMethod(field, kind, method);
    const [sign, operator] = Object.entries(OPERATORS).find(([each]) => take('sign', each) !== undefined) ?? [];
    if (operator === undefined) throw fail('an operator');
    const [value, valueKind] = parseValue();
    if (value === null) {
      if (operator !== '=' && operator !== '!=') throw fail('a value');
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
    need('sign', '(');
    const text = textOf(need('text').text);
    need('sign', ')');
    return { kind: 'test', field: field + CALLED, operator: 'LIKE', values: [pattern(escapePattern(text))] };
  }

  function parseValue(): readonly [FilterLiteral, Kind] {
    const quoted = take('text');
    if (quoted !== undefined) return [textOf(quoted.text), 'string'];
    const number = take('number');
    if (number !== undefined) return [number.text, 'number'];
    const { text } = need('name');
    if (text === 'null') return [null, 'string'];
    if (text === 'true' || text === 'false') return [text === 'true', 'boolean'];
    if (/^guid$/i.test(text)) return [parseArguments('text')[0]?.toLowerCase() ?? '', 'guid'];
    if (text === 'DateTime') return [timeOf(parseArguments('number').map(Number)), 'datetime'];
    throw fail('a value');
  }

  function parseArguments(kind: 'text' | 'number'): readonly string[] {
    need('sign', '(');
    const values = readSeparated(
      () => need(kind).text,
      () => take('sign', ','),
    );
    need('sign', ')');
    return values;
  }

  const tree = parseOr();
  needEnd();
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
