/** The first and the last code of a range. */
type CodeRange = readonly [from: number, to: number];

const LONGEST = 500;
const CODE = /^\s*(\d{3})(?:\s*-\s*(\d{3}))?\s*$/;
const LEAST = 100;
const MAX = 599;

/** Returns the ranges of a text such as `401-405,500`. Undefined: the text is not of this form. */
export function parseStatusCodes(text: string): readonly CodeRange[] | undefined {
  if (text.length > LONGEST) return undefined;
  const ranges = text.split(',').map(readRange);
  return ranges.every((range) => range !== undefined) ? ranges : undefined;
}

/** Returns whether a code is one of those of a text such as `401-405,500`. A text of another form matches none. */
export function matchesCodes(text: string, code: number): boolean {
  return parseStatusCodes(text)?.some(([from, to]) => code >= from && code <= to) ?? false;
}

function readRange(text: string): CodeRange | undefined {
  const [, first, last = first] = CODE.exec(text) ?? [];
  const [from, to] = [Number(first), Number(last)];
  return from >= LEAST && to <= MAX && from <= to ? [from, to] : undefined;
}
