import { Fault, type FilterTree } from '#connector/simulator';

/**
 * The grammar of "Query Builder", with its messages: comparisons that AND and OR join, and parentheses. Neither word binds closer: the last
 * one between two parentheses determines all of them. There is no NOT and no IN. Texts have single or double quotes, and a backslash
 * escapes the next character. Characters that begin no token are ignored.
 */

type Kind = 'AGGREGATOR' | 'OPERATOR' | 'OPEN_PAREN' | 'CLOSE_PAREN' | 'WORD';

interface Token {
  readonly kind: Kind;
  readonly text: string;
  readonly at: number;
}

/** A comparison `field operator value` as it was written, with quotes and escapes resolved. */
export interface Comparison {
  readonly field: string;
  readonly operator: string;
  readonly value: string;
}

const TOKEN = new RegExp(
  [
    /(?<OPERATOR>!=|>=|<=|=|<|>|\bIS NOT\b|\bIS\b|\bNOT (?:LIKE|STARTSWITH|ENDSWITH)\b|\b(?:LIKE|STARTSWITH|ENDSWITH)\b)/,
    /(?<OPEN_PAREN>\()/,
    /(?<CLOSE_PAREN>\))/,
    /(?<WORD>'(?:[^\\']|\\.)*'|"(?:[^\\"]|\\.)*"|CF\.\{.+?\}|[{}\w.]+|[+-]?\d+)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gis',
);

/**
 * Parses a query.
 * @throws Fault 400 with the position of the error
 */
export function parseTicketSql(query: string, compile: (comparison: Comparison) => FilterTree): FilterTree {
  const tokens = [...query.matchAll(TOKEN)].map(readToken);
  let next = 0;

  function take(...wanted: readonly Kind[]): Token {
    const token = tokens[next++];
    if (token === undefined) throw badQuery(`Incomplete query in '${query}'`);
    if (wanted.includes(token.kind)) return token;
    const marked = `${query.slice(0, token.at)}>${token.text}<--here${query.slice(token.at + token.text.length)}`;
    throw badQuery(`Wrong query, expecting a ${wanted.join(' or ').replaceAll('WORD', 'KEYWORD')} in '${marked}'`);
  }

  function readOperand(): FilterTree {
    const token = take('WORD', 'OPEN_PAREN');
    if (token.kind === 'WORD') {
      return compile({
        field: unquote(token.text),
        operator: take('OPERATOR').text.toUpperCase(),
        value: unquote(take('WORD').text),
      });
    }
    const inner = readOperands();
    take('CLOSE_PAREN');
    return inner;
  }

  function readOperands(): FilterTree {
    const first = readOperand();
    const operands = [first];
    let word: string | undefined;
    while (tokens[next]?.kind === 'AGGREGATOR') {
      word = take('AGGREGATOR').text.toUpperCase();
      operands.push(readOperand());
    }
    return word === undefined ? first : { kind: word === 'OR' ? 'or' : 'and', operands };
  }

  const tree = readOperands();
  if (next < tokens.length) take('AGGREGATOR');
  return tree;
}

function readToken({ 0: text, index: at, groups = {} }: RegExpMatchArray): Token {
  const kind = (['OPERATOR', 'OPEN_PAREN', 'CLOSE_PAREN'] as const).find((each) => groups[each] !== undefined);
  return { kind: kind ?? (/^(?:AND|OR)$/i.test(text) ? 'AGGREGATOR' : 'WORD'), text, at: at ?? 0 };
}

function unquote(text: string): string {
  return (/^['"]/.test(text) ? text.slice(1, -1) : text).replace(/\\(.)/gs, '$1');
}

export function badQuery(message: string): Fault {
  return new Fault(400, 'BAD_QUERY', `${message} at /usr/share/request-tracker5/lib/RT/Tickets.pm line 3187.\n`);
}
