import { Fault, type TableRow, valueAt } from '#connector/simulator';

/** A parsed search. Its test is true or false for every row. */
type Test = (row: TableRow) => boolean;

/** A qualifier returns the test of a value, or undefined for a value that it does not accept. */
export type Qualifiers = Readonly<Record<string, (value: string) => Test | undefined>>;

/** The texts that words are looked for in, and the parts of a search that GitHub limits. */
export interface SearchForm {
  readonly qualifiers: Qualifiers;
  /** Members with texts by their name in `in:`. */
  readonly texts: Readonly<Record<string, string>>;
}

const MOST_OPERATORS = 5;
const MOST_LEVELS = 5;
const MOST_CHARACTERS = 256;

export function invalidSearch(message: string): Fault {
  return new Fault(422, 'invalid', message, { fields: ['Search', 'q'] });
}

const TOKEN =
  /\s*(?:([()])|(-?)([A-Za-z-]+):((?:"(?:\\.|[^"\\])*"|[^\s()",]+)(?:,(?:"(?:\\.|[^"\\])*"|[^\s()",]+))*)|"((?:\\.|[^"\\])*)"|([^\s()"]+))/y;

type Token =
  | { readonly kind: '(' | ')' | 'AND' | 'OR' | 'NOT' }
  | { readonly kind: 'word'; readonly text: string }
  | { readonly kind: 'qualifier'; readonly name: string; readonly value: string; readonly isNegated: boolean };

function readTokens(text: string): readonly Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (match === null) throw invalidSearch(`The search cannot be read from '${text.slice(at)}' on.`);
    const [, bracket, minus, name, value = '', phrase, word = ''] = match;
    if (bracket === '(' || bracket === ')') tokens.push({ kind: bracket });
    else if (name !== undefined)
      tokens.push({ kind: 'qualifier', name: name.toLowerCase(), value, isNegated: minus === '-' });
    else if (phrase !== undefined) tokens.push({ kind: 'word', text: phrase.replace(/\\(.)/g, '$1') });
    else if (word === 'AND' || word === 'OR' || word === 'NOT') tokens.push({ kind: word });
    else tokens.push({ kind: 'word', text: word });
  }
  return tokens;
}

/**
 * Compiles a search. Qualifiers are joined by AND, OR, NOT and parentheses; a blank stands for AND. Sources: "Searching issues and pull
 * requests", "Filtering and searching issues and pull requests" (advanced filters), "REST API endpoints for search" (limits).
 * @throws Fault 422
 */
export function compileSearch(text: string, { qualifiers, texts }: SearchForm): Test {
  const tokens = readTokens(text);
  const words = tokens.flatMap((token) => (token.kind === 'word' ? [token.text] : [])).join(' ');
  if (words.length > MOST_CHARACTERS) throw invalidSearch('The search is longer than 256 characters.');
  if (tokens.filter(({ kind }) => kind === 'AND' || kind === 'OR' || kind === 'NOT').length > MOST_OPERATORS)
    throw invalidSearch('More than five AND / OR / NOT operators were used.');
  const within = tokens.flatMap((token) =>
    token.kind === 'qualifier' && token.name === 'in' ? token.value.split(',') : [],
  );
  const members = within.length === 0 ? Object.values(texts) : within.flatMap((name) => texts[name] ?? []);
  let at = 0;

  function disjunction(level: number): Test {
    const tests = [conjunction(level)];
    while (tokens[at]?.kind === 'OR') {
      at++;
      tests.push(conjunction(level));
    }
    return (row) => tests.some((test) => test(row));
  }

  function conjunction(level: number): Test {
    const tests = [negation(level)];
    for (let kind = tokens[at]?.kind; kind !== undefined && kind !== 'OR' && kind !== ')'; kind = tokens[at]?.kind) {
      if (kind === 'AND') at++;
      tests.push(negation(level));
    }
    return (row) => tests.every((test) => test(row));
  }

  function negation(level: number): Test {
    const token = tokens[at++];
    if (token === undefined) throw invalidSearch('The search ends where a term is expected.');
    if (token.kind === 'NOT') return not(negation(level));
    if (token.kind === '(') {
      if (level >= MOST_LEVELS) throw invalidSearch('Parentheses are nested more than five levels deep.');
      const inner = disjunction(level + 1);
      if (tokens[at++]?.kind !== ')') throw invalidSearch('A parenthesis is not closed.');
      return inner;
    }
    if (token.kind === 'word') return hasWords(token.text, members);
    if (token.kind !== 'qualifier') throw invalidSearch('The search ends where a term is expected.');
    if (token.name === 'in') return () => true;
    const test = (Object.hasOwn(qualifiers, token.name) ? qualifiers[token.name] : undefined)?.(token.value);
    if (test === undefined) throw invalidSearch(`The search has no qualifier '${token.name}:${token.value}'.`);
    return token.isNegated ? not(test) : test;
  }

  if (tokens.length === 0) throw new Fault(422, 'missing', 'The search is empty.', { fields: ['Search', 'q'] });
  const test = disjunction(0);
  if (at < tokens.length) throw invalidSearch('A parenthesis is not opened.');
  return test;
}

function not(test: Test): Test {
  return (row) => !test(row);
}

const wordsIn = (text: unknown) =>
  ` ${(
    String(text ?? '')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}_]+/gu) ?? []
  ).join(' ')} `;

/** Texts are found by whole words, without regard to case. */
function hasWords(text: string, members: readonly string[]): Test {
  const wanted = wordsIn(text);
  return (row) => members.some((member) => wordsIn(valueAt(row, member)).includes(wanted));
}

/** Returns the values of a qualifier without quotes: `label:bug,"help wanted"`. */
export function valuesOf(value: string): readonly string[] {
  const parts = value.match(/"(?:\\.|[^"\\])*"|[^,]+/g) ?? [];
  return parts.map((part) => (part.startsWith('"') ? part.slice(1, -1).replace(/\\(.)/g, '$1') : part));
}

/** Compares a text without regard to case. */
export const named = (read: (row: TableRow) => readonly unknown[]) => (value: string) => {
  const wanted = valuesOf(value).map((each) => each.toLowerCase());
  return (row: TableRow) => read(row).some((each) => each != null && wanted.includes(String(each).toLowerCase()));
};

/** Returns the first and the last moment of `2016-04-29` or `2016-04-29T10:00:00Z`, or a number twice. */
function spanOf(text: string, isDate: boolean): readonly [from: number, to: number] | undefined {
  if (!isDate) return /^\d{1,15}$/.test(text) ? [Number(text), Number(text)] : undefined;
  if (!/^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d))?$/.test(text)) return undefined;
  const from = Date.parse(text);
  return Number.isNaN(from) ? undefined : [from, from + (text.includes('T') ? 999 : 86_399_999)];
}

/** Compares a date or a number: `>=2016-04-29`, `10..20`, `*..10`. Source: "Understanding the search syntax". */
export const ranged = (member: string, isDate: boolean) => (value: string) => {
  const [, word, bare = ''] = /^(>=|>|<=|<)?(.*)$/.exec(valuesOf(value).join()) ?? [];
  const range = word === undefined ? /^(.+?)\.\.(.+)$/.exec(bare) : null;
  const [low, high] = range === null ? [bare, bare] : [range[1] ?? '', range[2] ?? ''];
  const [first, last] = [low, high].map((text) =>
    text === '*' && range !== null ? ([-Infinity, Infinity] as const) : spanOf(text, isDate),
  );
  if (first === undefined || last === undefined) return undefined;
  const [from, to] = {
    '>=': [first[0], Infinity],
    '>': [first[1] + 1, Infinity],
    '<=': [-Infinity, last[1]],
    '<': [-Infinity, first[0] - 1],
  }[word ?? ''] ?? [first[0], last[1]];
  return (row: TableRow) => {
    const held = valueAt(row, member);
    const number = isDate ? Date.parse(String(held)) : Number(held);
    return held != null && number >= (from ?? 0) && number <= (to ?? 0);
  };
};

/** A qualifier with few values. */
export const oneOf = (tests: Readonly<Record<string, Test>>) => (value: string) => {
  const [only = ''] = valuesOf(value);
  return Object.hasOwn(tests, only) ? tests[only] : undefined;
};
