import { type JsonLimits, PIECE_BYTES, parsePieces } from '../numbers/parse-pieces.ts';
import { isLarge, PIECE_CHARACTERS, printPieces } from '../numbers/print-pieces.ts';
import type { Pacer } from '../pace.ts';

/** The JSON of a value of a script may have megabytes. Here, it is printed and parsed so that other requests are not blocked. */

/** Returns the JSON of a value, or undefined when it has more bytes of UTF-8 than the maximum. */
export async function printValue(value: unknown, mostBytes: number, pacer: Pacer): Promise<string | undefined> {
  if (pacer.isDue()) await pacer.pause();
  const large = new Set<unknown>();
  if (!isLarge(value, PIECE_CHARACTERS, large)) return JSON.stringify(value);
  if (pacer.isDue()) await pacer.pause();
  let text = '';
  for (const piece of printPieces(value, PIECE_CHARACTERS, large)) {
    text += piece;
    if (text.length > mostBytes) return undefined;
    if (pacer.isDue()) await pacer.pause();
  }
  return Buffer.byteLength(text) > mostBytes ? undefined : text;
}

/** The thread has counted values and depth already. */
const LIMITS: JsonLimits = {
  depth: Number.POSITIVE_INFINITY,
  members: Number.POSITIVE_INFINITY,
  objectMembers: Number.POSITIVE_INFINITY,
  tooDeep: () => new Error('The result of a script is nested too deeply'),
  tooMany: () => new Error('The result of a script has too many values'),
};

/** Parses JSON that the engine of scripts has printed. */
export async function parseValue(json: string, pacer: Pacer): Promise<unknown> {
  if (json.length <= PIECE_BYTES) return JSON.parse(json);
  const parsing = parsePieces(Buffer.from(json), LIMITS);
  for (;;) {
    const step = parsing.next();
    if (step.done) return step.value;
    if (pacer.isDue()) await pacer.pause();
  }
}
