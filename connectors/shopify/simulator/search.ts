import { type Fault, type FilterTree, fault, groupOf, readSeparated } from '#connector/simulator';

/**
 * The search syntax. Source: "Shopify API search syntax": terms are joined by AND, OR or a blank; `-` and NOT negate; parentheses group;
 * `\` escapes; values with blanks or colons have quotes.
 */
const TOKEN =
  /\s+|([()])|(-)(?=\S)|(?:([A-Za-z_][\w.]*):)?(<=|>=|<|>)?("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|(?:[^\s()"':\\]|\\.)+)/gsy;

type Token =
  | { readonly kind: 'mark'; readonly text: string }
  | { readonly kind: 'term'; readonly field: string; readonly comparator: string; readonly value: string };

/** Makes the test of one term: `value` is unescaped, and `isPrefix` says whether an asterisk followed it. */
type MakeTest = (term: {
  readonly field: string;
  readonly comparator: string;
  readonly value: string;
  readonly isPrefix: boolean;
}) => FilterTree;

function refuse(at: string): Fault {
  return fault(400, `The search is not valid at '${at}'.`);
}

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (match === null) throw refuse(text.slice(at));
    const [, parenthesis, minus, field = '', comparator = '', value] = match;
    const mark = parenthesis ?? minus;
    const isWord = field === '' && comparator === '' && (value === 'AND' || value === 'OR' || value === 'NOT');
    if (mark !== undefined) tokens.push({ kind: 'mark', text: mark });
    else if (isWord) tokens.push({ kind: 'mark', text: value });
    else if (value !== undefined) tokens.push({ kind: 'term', field, comparator, value });
  }
  return tokens;
}

/**
 * Parses a search.
 * @throws Fault for anything else
 */
export function parseSearch(text: string, makeTest: MakeTest): FilterTree {
  const tokens = tokensOf(text);
  let at = 0;
  const isNext = (mark: string) => {
    const token = tokens[at];
    return token?.kind === 'mark' && token.text === mark;
  };
  const skip = (mark: string) => {
    if (!isNext(mark)) return false;
    at += 1;
    return true;
  };
  const either = (): FilterTree =>
    groupOf(
      'or',
      readSeparated(all, () => skip('OR')),
    );
  const all = (): FilterTree =>
    groupOf(
      'and',
      readSeparated(one, () => skip('AND') || (at < tokens.length && !isNext('OR') && !isNext(')'))),
    );
  const one = (): FilterTree => {
    if (skip('-') || skip('NOT')) return { kind: 'not', operand: one() };
    if (skip('(')) {
      const inner = either();
      return skip(')') ? inner : refused();
    }
    const token = tokens[at++];
    if (token?.kind !== 'term') return refused();
    const { value } = token;
    const isQuoted = /^["']/.test(value);
    const isPrefix = !isQuoted && /(?:^|[^\\])\*$/.test(value);
    const bare = isQuoted ? value.slice(1, -1) : isPrefix ? value.slice(0, -1) : value;
    return makeTest({ ...token, isPrefix, value: bare.replace(/\\(.)/gs, '$1') });
  };
  const refused = (): never => {
    throw refuse(text);
  };
  const tree = either();
  return at < tokens.length ? refused() : tree;
}
