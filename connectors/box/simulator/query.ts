/** The words of an item that a search matches. Only names match by the beginning of a word. */
export interface Indexed {
  readonly names: readonly (readonly string[])[];
  readonly others: readonly (readonly string[])[];
}

/** Returns how well an item matches. 0 means no match. */
type Score = (item: Indexed) => number;

/**
 * Parses words, `"phrases"`, `AND`, `OR` and `NOT`. Adjacent terms are alternatives. NOT binds closest, then AND.
 * @returns undefined for a query without words
 */
export function parseQuery(text: string): Score | undefined {
  const tokens = [...text.matchAll(/"[^"]*"?|[^\s"]+/g)].map(([token]) => token);
  let at = 0;

  function readOr(): Score | undefined {
    let left = readAnd();
    while (at < tokens.length) {
      if (tokens[at] === 'OR') at++;
      left = either(left, readAnd());
    }
    return left;
  }

  function readAnd(): Score | undefined {
    let left = readNot();
    while (tokens[at] === 'AND') {
      at++;
      left = both(left, readNot());
    }
    return left;
  }

  function readNot(): Score | undefined {
    const token = tokens[at++];
    if (token !== 'NOT') return token === undefined ? undefined : readTerm(token);
    const operand = readNot();
    return operand && ((item) => (operand(item) === 0 ? 1 : 0));
  }

  return readOr();
}

/** Returns a score for either side. A side without words, such as a lone hyphen, has no effect. */
function either(a: Score | undefined, b: Score | undefined): Score | undefined {
  return a && b ? (item) => a(item) + b(item) : (a ?? b);
}

function both(a: Score | undefined, b: Score | undefined): Score | undefined {
  return a && b ? (item) => Math.min(a(item), b(item)) && a(item) + b(item) : (a ?? b);
}

function readTerm(token: string): Score | undefined {
  const words = wordsOf(token);
  if (token.startsWith('"')) return words.length === 0 ? undefined : phrase(words);
  return words.map(oneWord).reduce<Score | undefined>(either, undefined);
}

/** Matches words that follow each other, whatever characters stand between them. Prefixes and stems don't match. */
function phrase(words: readonly string[]): Score {
  const isIn = (text: readonly string[]) =>
    text.some((_, start) => words.every((word, index) => text[start + index] === word));
  return ({ names, others }) => (names.some(isIn) ? 4 : others.some(isIn) ? 2 : 0);
}

function oneWord(word: string): Score {
  const stem = stemOf(word);
  const isLike = (other: string) => stemOf(other) === stem;
  return ({ names, others }) => {
    if (names.some((text) => text.some((other) => other.startsWith(word) || isLike(other)))) return 2;
    return others.some((text) => text.some(isLike)) ? 1 : 0;
  };
}

/** Returns the runs of letters and digits, in lower case. */
export function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

/**
 * Returns the stem of a word, so that `run` finds `running` and `runs`. A little English is enough to show that a search finds more than
 * the exact words.
 */
function stemOf(word: string): string {
  return word.replace(/(?<=\w{3})(?:ing|ed|s)$/, '').replace(/([a-z])\1$/, '$1');
}
