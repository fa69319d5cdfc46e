import type { LikePattern } from './model.ts';
import { pointsPiece, readPoints, type Search } from './search.ts';

type LikePart = LikePattern['parts'][number];

/** Splits a LIKE pattern into parts: `%` matches any text, `_` one character, and `\` makes the next character literal. */
export function readLikePattern(pattern: string): LikePattern {
  const parts = readParts(pattern);
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  return { form: formOf(parts), text: texts.join(''), parts };
}

function readParts(pattern: string): LikePart[] {
  const parts: LikePart[] = [];
  let text = '';
  const flush = () => {
    if (text !== '') parts.push({ kind: 'text', text });
    text = '';
  };
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern.charAt(index);
    if (character === '%' || character === '_') {
      flush();
      if (character === '_') parts.push({ kind: 'one' });
      else if (parts.at(-1)?.kind !== 'any') parts.push({ kind: 'any' });
    } else if (character === '\\' && index + 1 < pattern.length) {
      index++;
      text += pattern.charAt(index);
    } else {
      text += character;
    }
  }
  flush();
  return parts;
}

const FORMS: Readonly<Record<string, LikePattern['form']>> = {
  '': 'literal',
  text: 'literal',
  'text any': 'prefix',
  'any text': 'suffix',
  'any text any': 'contains',
};

function formOf(parts: readonly LikePart[]): LikePattern['form'] {
  return FORMS[parts.map((part) => part.kind).join(' ')] ?? 'pattern';
}

/** Returns the pattern as text again, with wildcards in its literal parts escaped. */
export function printLikePattern(pattern: LikePattern): string {
  return pattern.parts.map(printPart).join('');
}

function printPart(part: LikePart): string {
  if (part.kind === 'any') return '%';
  if (part.kind === 'one') return '_';
  return part.text.replace(/[%_\\]/g, '\\$&');
}

/**
 * Returns a test for texts. Its time grows with the length of the text plus the pattern. A piece with text around a `_` costs up to text ×
 * piece / 32 more, because no search can skip through it.
 */
export function compileLike(pattern: LikePattern): (text: string) => boolean {
  const { form, text: needle } = pattern;
  if (form === 'literal') return (text) => text === needle;
  if (form === 'prefix') return (text) => text.startsWith(needle);
  if (form === 'suffix') return (text) => text.endsWith(needle);
  const pieces = piecesOf(pattern.parts);
  if (pieces.every(isShortText)) return matcherOf(pieces.map((piece) => textPiece(textOf(piece))));
  const matches = matcherOf(pieces.map((piece) => pointsPiece(wantedOf(piece))));
  return (text) => matches(readPoints(text));
}

/**
 * Returns how many times a test reads a text at most. It is 0 for forms that read only one end, because the pattern bounds their work. All
 * pieces share one pass through the text, so the most expensive one counts.
 */
export function searchPasses({ form, parts }: LikePattern): number {
  if (form === 'literal' || form === 'prefix' || form === 'suffix') return 0;
  const pieces = piecesOf(parts);
  if (pieces.every(isShortText)) return 1;
  const gapped = pieces.slice(1, -1).filter((piece) => piece.some(isOne));
  return 2 + Math.max(0, ...gapped.map((piece) => Math.ceil(textOf(piece).length / 64)));
}

/** The parts between two `%`. */
type Piece = readonly Exclude<LikePart, { kind: 'any' }>[];

function piecesOf(parts: LikePattern['parts']): readonly Piece[] {
  const pieces: Exclude<LikePart, { kind: 'any' }>[][] = [[]];
  for (const part of parts) {
    if (part.kind === 'any') pieces.push([]);
    else pieces.at(-1)?.push(part);
  }
  return pieces;
}

function isOne(part: LikePart): boolean {
  return part.kind === 'one';
}

function textOf(piece: Piece): string {
  return piece.map((part) => (part.kind === 'text' ? part.text : '')).join('');
}

function wantedOf(piece: Piece): readonly (number | undefined)[] {
  return piece.flatMap((part) => (part.kind === 'text' ? [...readPoints(part.text)] : [undefined]));
}

/** The engine's own search is the fastest, but for some long texts it takes text × pattern comparisons. */
const LONGEST_PLAIN = 16;

function isShortText(piece: Piece): boolean {
  return textOf(piece).length <= LONGEST_PLAIN && !piece.some(isOne);
}

function textPiece(wanted: string): Search<string> {
  return {
    length: wanted.length,
    isAt: (text, at) => text.startsWith(wanted, at),
    find: (text, from) => text.indexOf(wanted, from),
  };
}

/** The first and the last piece must match at the ends. For each piece between them, the first match is the best one. */
function matcherOf<Text extends { readonly length: number }>(pieces: readonly Search<Text>[]): (text: Text) => boolean {
  const [first, ...rest] = pieces;
  const last = rest.pop();
  if (first === undefined) return () => true;
  if (last === undefined) return (text) => text.length === first.length && first.isAt(text, 0);
  return (text) => {
    const end = text.length - last.length;
    if (first.length > end || !first.isAt(text, 0) || !last.isAt(text, end)) return false;
    let at = first.length;
    for (const piece of rest) {
      const found = piece.find(text, at);
      if (found < 0) return false;
      at = found + piece.length;
    }
    return at <= end;
  };
}
