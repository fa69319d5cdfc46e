import { Fault, FOLDS, type TableRow, type TextRule } from '#connector/simulator';

/** The facts that a query needs beside the members of a file. */
export interface QueryOptions {
  /** The comparison of texts, which Google does not document. */
  readonly text: TextRule;
  /** Whether `!=` and `not` find files without a value, which Google does not document. */
  readonly matchesMissing: boolean;
  /** Returns the text of a file's content. */
  readonly contentOf: (row: TableRow) => string;
  readonly rootId: string;
  /** The e-mail address that `me` stands for. */
  readonly me: string;
}

/** Undefined: the file has no value to compare. */
type Test = (row: TableRow) => boolean | undefined;

const ORDERED = ['<=', '<', '=', '!=', '>', '>='];
/** The operators of each term. Source: "Search query terms and operators". */
const TERMS: Readonly<
  Record<string, readonly [kind: 'text' | 'time' | 'flag' | 'full', operators: readonly string[]]>
> = {
  name: ['text', ['contains', '=', '!=']],
  mimeType: ['text', ['contains', '=', '!=']],
  fullText: ['full', ['contains']],
  ...{ modifiedTime: ['time', ORDERED], viewedByMeTime: ['time', ORDERED], createdTime: ['time', ORDERED] },
  ...{ trashed: ['flag', ['=', '!=']], starred: ['flag', ['=', '!=']], sharedWithMe: ['flag', ['=', '!=']] },
};

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
 * @throws Fault 400 for a query that is not valid
 */
export function compileQuery(query: string, options: QueryOptions): (row: TableRow) => boolean {
  const tokens = tokensOf(query);
  let at = 0;
  const next = (kind?: Token['kind'], text?: string): string => {
    const token = tokens[at++];
    if (token === undefined || (kind ?? token.kind) !== token.kind || (text ?? token.text) !== token.text)
      throw invalidQuery();
    return token.text;
  };
  const isNext = (text: string, kind: Token['kind'] = 'word') => tokens[at]?.kind === kind && tokens[at]?.text === text;

  function readAll(): Test {
    let test = readOne();
    while (isNext('and') || isNext('or')) {
      const [isAnd, left] = [next() === 'and', test];
      const right = readOne();
      // An unknown test does not match, and `not` keeps it unknown.
      test = (row) => join(isAnd, left(row), right(row));
    }
    return test;
  }

  function readOne(): Test {
    if (isNext('not')) {
      next();
      const test = readOne();
      return (row) => {
        const truth = test(row);
        return truth === undefined ? options.matchesMissing || undefined : !truth;
      };
    }
    if (isNext('(', 'sign')) {
      next();
      const test = readAll();
      next('sign', ')');
      return test;
    }
    return tokens[at]?.kind === 'text' ? readMembership() : readTerm();
  }

  function readMembership(): Test {
    const value = next('text');
    next('word', 'in');
    const collection = next('word');
    if (collection === 'parents') {
      const id = value === 'root' ? options.rootId : value;
      return ({ parents }) => Array.isArray(parents) && parents.includes(id);
    }
    if (collection !== 'owners') throw invalidQuery();
    const email = (value === 'me' ? options.me : value).toLowerCase();
    return ({ owners }) => [owners].flat().some((owner) => Object(owner).emailAddress === email);
  }

  function readTerm(): Test {
    const name = next('word');
    const [kind, operators] = (Object.hasOwn(TERMS, name) ? TERMS[name] : undefined) ?? [];
    const operator = next();
    if (kind === undefined || operators?.includes(operator) !== true) throw invalidQuery();
    return testOf(name, kind, operator, kind === 'flag' ? next('word') : next('text'));
  }

  function testOf(name: string, kind: 'text' | 'time' | 'flag' | 'full', operator: string, literal: string): Test {
    const fold = FOLDS[options.text];
    if (kind === 'full') return (row) => hasWords(literal, textsOf(row, options), (word, wanted) => word === wanted);
    if (kind === 'flag') {
      if (literal !== 'true' && literal !== 'false') throw invalidQuery();
      const isMet = (row: TableRow) => (name === 'sharedWithMe' ? row.sharedWithMeTime != null : row[name] === true);
      return (row) => (isMet(row) === (literal === 'true')) === (operator === '=');
    }
    if (operator === 'contains') {
      // Names are found by the beginnings of their words, and types by any part.
      return (row) =>
        name === 'name'
          ? hasWords(literal, String(row.name), (word, wanted) => word.startsWith(wanted))
          : String(row[name] ?? '').includes(literal);
    }
    const wanted = kind === 'time' ? timeOf(literal) : fold(literal);
    return (row) => {
      const value = row[name] ?? undefined;
      if (value === undefined) return operator === '!=' && options.matchesMissing ? true : undefined;
      return compare(kind === 'time' ? Date.parse(String(value)) : fold(String(value)), operator, wanted);
    };
  }

  const test = readAll();
  if (at < tokens.length) throw invalidQuery();
  return (row) => test(row) === true;
}

function join(isAnd: boolean, left: boolean | undefined, right: boolean | undefined): boolean | undefined {
  if (left === !isAnd || right === !isAnd) return !isAnd;
  return left === undefined || right === undefined ? undefined : isAnd;
}

function compare<Value extends string | number>(value: Value, operator: string, wanted: Value): boolean {
  const isEqual = value === wanted;
  if (operator === '=' || operator === '!=') return isEqual === (operator === '=');
  return (operator.endsWith('=') && isEqual) || (operator.startsWith('<') ? value < wanted : value > wanted);
}

/** Reads RFC 3339, whose time zone is UTC where none is given. */
function timeOf(text: string): number {
  const [, zone] = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/.exec(text) ?? [];
  const ms = Date.parse(zone === undefined && text.includes('T') ? `${text}Z` : text);
  if (Number.isNaN(ms)) throw invalidQuery();
  return ms;
}

function textsOf({ name, description, ...row }: TableRow, { contentOf }: QueryOptions): string {
  return [name, description, contentOf(row)].filter((text) => text != null).join(' ');
}

const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Returns whether a text has all words of a query, or the phrase that it quotes. Texts without words are not found. */
function hasWords(query: string, text: string, isFound: (word: string, wanted: string) => boolean): boolean {
  const [words, wanted] = [wordsOf(text), wordsOf(query)];
  if (/^".*"$/s.test(query)) return ` ${words.join(' ')} `.includes(` ${wanted.join(' ')} `);
  return wanted.length > 0 && wanted.every((each) => words.some((word) => isFound(word, each)));
}
