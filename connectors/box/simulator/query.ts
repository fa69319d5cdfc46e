/** Where a search looks, and as what: only in names the beginning of a word is enough. */
export interface Indexed {
  readonly names: readonly (readonly string[])[];
  readonly others: readonly (readonly string[])[];
}

/** How well an item fits; 0 is not at all. */
type Score = (item: Indexed) => number;

/**
 * Words, `"phrases"`, `AND`, `OR`, `NOT`; what stands side by side is one or the other. NOT binds closest, then AND.
 * @returns undefined where there is nothing to look for
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

/** What says nothing, such as a lone hyphen, leaves the other side as it is. */
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

/** Words that follow each other, whatever stands between them; neither beginnings nor stems. */
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

/** Runs of letters and digits, without cases. */
export function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

/** `running` and `runs` are found by `run`: a little English shows that more is found than was written. */
function stemOf(word: string): string {
  return word.replace(/(?<=\w{3})(?:ing|ed|s)$/, '').replace(/([a-z])\1$/, '$1');
}
