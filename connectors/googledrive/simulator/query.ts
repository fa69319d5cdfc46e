import { compileFilter, Fault, type FilterTest, type FilterTree, FOLDS, type TableRow } from '#connector/simulator';
import { ME, ROOT_ID } from './records.ts';

type Test = (row: TableRow) => boolean;

const EQUAL = ['=', '!='] as const;
const ORDERED = ['<=', '<', '=', '!=', '>', '>='] as const;
/** The operators of each term. Source: "Search query terms and operators". */
const TERMS: Readonly<
  Record<string, readonly [kind: 'text' | 'time' | 'flag' | 'full', operators: readonly FilterTest['operator'][]]>
> = {
  // Names and types have `contains`, too, and the content has nothing else.
  ...{ name: ['text', EQUAL], mimeType: ['text', EQUAL], fullText: ['full', []] },
  ...{ modifiedTime: ['time', ORDERED], viewedByMeTime: ['time', ORDERED], createdTime: ['time', ORDERED] },
  ...{ trashed: ['flag', EQUAL], starred: ['flag', EQUAL], sharedWithMe: ['flag', EQUAL] },
};
/** The comparisons of a file without a value, which `!=` and `not` find. Google does not document it. */
const OF_MISSING = { '=': false, '!=': true, '<': false, '<=': false, '>': false, '>=': false } as const;

interface Token {
  readonly kind: 'text' | 'sign' | 'word';
  readonly text: string;
}

/** Divides a query into quoted texts, signs and words. In texts, a backslash escapes a quote or a backslash. */
function tokensOf(query: string): readonly Token[] {
  const pattern = /\s*(?:'((?:[^'\\]|\\['\\])*)'|(<=|>=|!=|[=<>()])|([\w.]+))/y;
  const tokens: Token[] = [];
  const end = query.trimEnd().length;
  while (pattern.lastIndex < end) {
    const [found, text, sign, word = ''] = pattern.exec(query) ?? [];
    if (found === undefined) throw invalidQuery();
    if (text !== undefined) tokens.push({ kind: 'text', text: text.replace(/\\(.)/gs, '$1') });
    else tokens.push(sign === undefined ? { kind: 'word', text: word } : { kind: 'sign', text: sign });
  }
  return tokens;
}

function invalidQuery(): Fault {
  return new Fault(400, 'invalid', 'Invalid Value', { fields: ['q'] });
}

/**
 * Compiles a query of `files.list`. `and` and `or` are evaluated from left to right. Source: "Search for files and folders".
 * @param contentOf returns the text of a file's content
 * @throws Fault 400 for a query that is not valid
 */
export function compileQuery(query: string, contentOf: (row: TableRow) => string): (row: TableRow) => boolean {
  const tokens = tokensOf(query);
  let at = 0;
  const next = (kind?: Token['kind'], text?: string): string => {
    const token = tokens[at++];
    if (token === undefined || (kind ?? token.kind) !== token.kind || (text ?? token.text) !== token.text)
      throw invalidQuery();
    return token.text;
  };
  const isNext = (text: string, kind: Token['kind'] = 'word') => tokens[at]?.kind === kind && tokens[at]?.text === text;

  function readAll(): FilterTree {
    let tree = readOne();
    while (isNext('and') || isNext('or')) {
      const kind = next() === 'and' ? 'and' : 'or';
      tree = { kind, operands: [tree, readOne()] };
    }
    return tree;
  }

  function readOne(): FilterTree {
    if (isNext('not')) {
      next();
      return { kind: 'not', operand: readOne() };
    }
    if (isNext('(', 'sign')) {
      next();
      const tree = readAll();
      next('sign', ')');
      return tree;
    }
    return tokens[at]?.kind === 'text' ? { kind: 'own', holds: readMembership() } : readTerm();
  }

  function readMembership(): Test {
    const value = next('text');
    next('word', 'in');
    const collection = next('word');
    if (collection === 'parents') {
      const id = value === 'root' ? ROOT_ID : value;
      return ({ parents }) => Array.isArray(parents) && parents.includes(id);
    }
    if (collection !== 'owners') throw invalidQuery();
    const email = (value === 'me' ? ME.emailAddress : value).toLowerCase();
    return ({ owners }) => [owners].flat().some((owner) => Object(owner).emailAddress === email);
  }

  function readTerm(): FilterTree {
    const name = next('word');
    const [kind, operators] = (Object.hasOwn(TERMS, name) ? TERMS[name] : undefined) ?? [];
    const word = next();
    if (word === 'contains' && (kind === 'text' || kind === 'full')) {
      return { kind: 'own', holds: containing(name, next('text')) };
    }
    const operator = operators?.find((each) => each === word);
    if (operator === undefined) throw invalidQuery();
    if (kind === 'flag') {
      const flag = next('word');
      if (flag !== 'true' && flag !== 'false') throw invalidQuery();
      return { kind: 'own', holds: flagged(name, (flag === 'true') === (operator === '=')) };
    }
    const literal = next('text');
    const test = { kind: 'test', field: name, operator } as const;
    if (kind === 'text') return { ...test, of: { type: 'string', fold: FOLDS['ignoring case'] }, values: [literal] };
    return { ...test, of: { type: 'datetime' }, values: [new Date(timeOf(literal)).toISOString()] };
  }

  /** Names are found by the beginnings of their words, types by any part, and contents by whole words. */
  function containing(name: string, literal: string): Test {
    if (name === 'mimeType') return ({ mimeType }) => String(mimeType ?? '').includes(literal);
    if (name === 'name') return (row) => hasWords(literal, String(row.name), (word, wanted) => word.startsWith(wanted));
    return (row) => hasWords(literal, textsOf(row, contentOf), (word, wanted) => word === wanted);
  }

  const tree = readAll();
  if (at < tokens.length) throw invalidQuery();
  return compileFilter(tree, { ofNull: OF_MISSING, refuse: invalidQuery });
}

const flagged =
  (name: string, isWanted: boolean): Test =>
  (row) =>
    (name === 'sharedWithMe' ? row.sharedWithMeTime != null : row[name] === true) === isWanted;

/** Reads RFC 3339, whose time zone is UTC where none is given. */
function timeOf(text: string): number {
  const [, zone] = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/.exec(text) ?? [];
  const ms = Date.parse(zone === undefined && text.includes('T') ? `${text}Z` : text);
  if (Number.isNaN(ms)) throw invalidQuery();
  return ms;
}

function textsOf(row: TableRow, contentOf: (row: TableRow) => string): string {
  return [row.name, row.description, contentOf(row)].filter((text) => text != null).join(' ');
}

const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Returns whether a text has all words of a query, or the phrase that it quotes. Texts without words are not found. */
function hasWords(query: string, text: string, isFound: (word: string, wanted: string) => boolean): boolean {
  const [words, wanted] = [wordsOf(text), wordsOf(query)];
  if (/^".*"$/s.test(query)) return ` ${words.join(' ')} `.includes(` ${wanted.join(' ')} `);
  return wanted.length > 0 && wanted.every((each) => words.some((word) => isFound(word, each)));
}
