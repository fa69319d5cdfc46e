/** Hostile values for filters, and a reader of filters that shares no code with the builder. */

const HOSTILE: readonly string[] = [
  '',
  ' ',
  '  both ends  ',
  "'",
  "''",
  "'''",
  '\\',
  "\\'",
  '?',
  '%',
  '_',
  '100%',
  '--',
  '/* */',
  ';',
  '(',
  ')',
  ',',
  '`',
  '"',
  '${x}',
  "' OR ''='",
  "x' OR 1=1 --",
  "'; DROP TABLE incident; --",
  "') OR ('a'='a",
  '\n',
  '\r\n',
  '\t',
  '\u0001',
  '\u001f',
  '\u007f',
  '12',
  '-0.5',
  '1e3',
  '2026-01-31',
  '2026-01-31T08:30:00Z',
  'NULL',
  'TRUE',
  'false',
  'e\u0301',
  '\u00e9',
  'ﬀ',
  'ß',
  'İ',
  '\u202e',
  '\u200b',
  '\ufeff',
  '😀',
  '👩‍👩‍👧',
  '𝒳',
  '日本語',
  '\u2028',
  '\u2029',
  '‘’“”',
  '&',
  '#',
  '+',
  '=',
  '/',
  '%27',
  '%2527',
  'a=b&where=c',
];
const PIECES: readonly string[] = [...HOSTILE, 'a', 'Z', '7', 'word', 'O\u2019Neil', "d'Arc"];
const LONGEST = 80;

/** Returns a generator of numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns texts for tests. The first ones are the hostile values themselves, followed by texts that are made of them. */
export function hostileTexts(count: number, random: () => number): string[] {
  return Array.from({ length: count }, (_, index) => HOSTILE[index] ?? randomText(random));
}

function randomText(random: () => number): string {
  const pieces = Array.from({ length: Math.floor(random() * 12) }, () => PIECES[Math.floor(random() * PIECES.length)]);
  return [...pieces.join('')].slice(0, LONGEST).join('');
}

/** Returns the texts between quotes in a filter, in their order. */
export function textsIn(filter: string): string[] {
  const texts: string[] = [];
  let at = filter.indexOf("'");
  while (at >= 0) {
    let text = '';
    for (at++; filter[at] !== "'" || filter[at + 1] === "'"; at++) {
      if (at >= filter.length) throw new Error(`A text does not end: ${filter}`);
      text += filter[at];
      if (filter[at] === "'") at++;
    }
    texts.push(text);
    at = filter.indexOf("'", at + 1);
  }
  return texts;
}
