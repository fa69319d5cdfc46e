import { AppError } from '../../errors.ts';
import { parseJson } from '../../numbers/exact-json.ts';

/** Bytes that are looked at, and parsed, at a time: about a millisecond. */
export const PIECE_BYTES = 128 * 1024;

/** Whatever walks over a value calls itself for each level. */
export const MAX_DEPTH = 200;

/**
 * Maximum number of members in an answer, those inside others counted. An answer of ordinary rows reaches its 32 MB first: their
 * members take 16 bytes and more. What has more of them takes connectors, which walk over an answer in one go, hundreds of milliseconds.
 */
export const MOST_MEMBERS = 2_000_000;
/**
 * Maximum number of members of one object in an answer: a record has hundreds, seldom thousands; an index by id as many as there are ids.
 * It is also the maximum for a record with all that is inside (`assertMembers`).
 */
export const MOST_OBJECT_MEMBERS = 100_000;

// What V8 takes for parsed JSON beside the characters, measured over rows of people and over the worst there is
// (a million of `{}`, or of objects with a name each of their own); there it is up to twice as much.
const CONTAINER_BYTES = 48;
const MEMBER_BYTES = 12;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
/** The last of those that stand between tokens. */
const SPACE = 0x20;
const END = -1;

/** An array or object whose end was not seen yet. */
interface Open {
  readonly openedAt: number;
  /** The byte that ends it. */
  readonly end: number;
  lastComma: number;
  commas: number;
}

/** Of the part of a text that was looked at since the last time. */
export interface PieceCost {
  /** An estimate of the memory that its values take. */
  readonly bytes: number;
  /** Members of all objects and items of all arrays. */
  readonly members: number;
}

/** An array or object that is larger than a piece, so that it is put together from the parsed pieces of its members. */
interface Assembly {
  readonly value: unknown[] | Record<string, unknown>;
  /** Its last member was one that is put together itself: what follows is a comma or the end. */
  followsMember: boolean;
  /** A comma was read, so that a member must follow. */
  wantsMember: boolean;
}

/**
 * Parses UTF-8 JSON as `parseJson` does, piece by piece: one that is resumed never works longer than two pieces take. A
 * library that parses by itself takes ten times as long as `JSON.parse`; here the text is only looked through for places
 * to cut it.
 * @throws SyntaxError; AppError PROVIDER_PROTOCOL for nesting beyond 200 levels, and for too many members
 */
export function* parsePieces(bytes: Buffer, pieceBytes = PIECE_BYTES): Generator<PieceCost, unknown> {
  const parsing = new Parsing(bytes);
  for (let end = pieceBytes; ; end += pieceBytes) {
    const isLast = end >= bytes.length;
    parsing.scan(Math.min(end, bytes.length));
    if (!isLast) parsing.cut(pieceBytes);
    yield parsing.takeCost();
    if (isLast) return parsing.finish();
  }
}

/** The text as a list of one value; its first assembly is that list. */
class Parsing {
  readonly #bytes: Buffer;
  readonly #open: Open[] = [{ openedAt: -1, end: END, lastComma: -1, commas: 0 }];
  readonly #root: unknown[] = [];
  readonly #assemblies: Assembly[] = [{ value: this.#root, followsMember: false, wantsMember: false }];
  #position = 0;
  /** Where the part of the innermost assembly begins that was not parsed yet. */
  #from = 0;
  #inString = false;
  /** Nothing stands yet in what was opened last. */
  #isEmpty = false;
  #bytesCost = 0;
  #members = 0;
  #membersBefore = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  scan(end: number): void {
    const bytes = this.#bytes;
    let position = this.#position;
    let inString = this.#inString;
    let isEmpty = this.#isEmpty;
    let containers = 0;
    let marks = 0;
    for (; position < end; position++) {
      const byte = bytes[position];
      if (inString) {
        if (byte === BACKSLASH) position++;
        else if (byte === QUOTE) inString = false;
        continue;
      }
      switch (byte) {
        case QUOTE:
          inString = true;
          isEmpty = false;
          break;
        case COMMA:
          marks++;
          isEmpty = false;
          this.#separate(position);
          break;
        case COLON:
          marks++;
          break;
        case OPEN_ARRAY:
        case OPEN_OBJECT:
          containers++;
          isEmpty = true;
          this.#begin(position, byte === OPEN_ARRAY ? CLOSE_ARRAY : CLOSE_OBJECT);
          break;
        case CLOSE_ARRAY:
        case CLOSE_OBJECT:
          // The last member has no comma behind it.
          if (!isEmpty) this.#members++;
          isEmpty = false;
          this.#end(position, byte);
          break;
        default:
          isEmpty &&= byte === undefined || byte <= SPACE;
      }
    }
    this.#bytesCost += position - this.#position + containers * CONTAINER_BYTES + marks * MEMBER_BYTES;
    this.#position = position;
    this.#inString = inString;
    this.#isEmpty = isEmpty;
    if (this.#members > MOST_MEMBERS) throw tooMany('JSON', MOST_MEMBERS);
  }

  /** Parses what is complete, until less than a piece is left that is not. */
  cut(pieceBytes: number): void {
    while (this.#position - this.#from >= pieceBytes) {
      const open = this.#open[this.#assemblies.length - 1];
      if (open !== undefined && open.lastComma >= this.#from) {
        this.#take(open.lastComma, false);
        this.#from = open.lastComma + 1;
      } else if (!this.#descend()) {
        return;
      }
    }
  }

  finish(): unknown {
    if (this.#inString || this.#open.length > 1) throw new SyntaxError('The JSON ends too early');
    this.#take(this.#bytes.length, true);
    if (this.#root.length !== 1) throw new SyntaxError('The JSON is not one value');
    return this.#root[0];
  }

  takeCost(): PieceCost {
    const cost = { bytes: this.#bytesCost, members: this.#members - this.#membersBefore };
    this.#bytesCost = 0;
    this.#membersBefore = this.#members;
    return cost;
  }

  #top(): Open {
    const top = this.#open.at(-1);
    if (top === undefined) throw new SyntaxError('The JSON ends more than it began');
    return top;
  }

  #begin(openedAt: number, end: number): void {
    if (this.#open.length > MAX_DEPTH) throw tooDeep();
    this.#open.push({ openedAt, end, lastComma: -1, commas: 0 });
  }

  #separate(position: number): void {
    const top = this.#top();
    top.lastComma = position;
    this.#members++;
    // A list has as many as there are rows.
    if (++top.commas >= MOST_OBJECT_MEMBERS && top.end === CLOSE_OBJECT)
      throw tooMany('an object', MOST_OBJECT_MEMBERS);
  }

  #end(position: number, byte: number): void {
    if (this.#top().end !== byte) throw new SyntaxError('The JSON ends what it did not begin');
    if (this.#open.length === this.#assemblies.length) {
      this.#take(position, true);
      this.#assemblies.pop();
      this.#from = position + 1;
    }
    this.#open.pop();
  }

  /** The member that is not complete becomes an assembly of its own. @returns false when it is no array or object. */
  #descend(): boolean {
    const parent = this.#assembly();
    const inner = this.#open[this.#assemblies.length];
    if (inner === undefined) return false;
    if (parent.followsMember) throw new SyntaxError('A comma is missing in the JSON');
    const value = inner.end === CLOSE_ARRAY ? [] : {};
    const begin = this.#skipBlanks(this.#from, inner.openedAt);
    if (Array.isArray(parent.value)) {
      if (begin !== inner.openedAt) throw new SyntaxError('A comma is missing in the JSON');
      parent.value.push(value);
    } else {
      define(parent.value, this.#readName(begin, inner.openedAt), value);
    }
    parent.followsMember = true;
    parent.wantsMember = false;
    this.#assemblies.push({ value, followsMember: false, wantsMember: false });
    this.#from = inner.openedAt + 1;
    return true;
  }

  /** Adds the members between the last cut and `end`, which is a comma or the end of the innermost assembly. */
  #take(end: number, isLast: boolean): void {
    const assembly = this.#assembly();
    const { value, followsMember } = assembly;
    let begin = this.#skipBlanks(this.#from, end);
    assembly.followsMember = false;
    if (followsMember && begin === end) {
      assembly.wantsMember = !isLast;
      return;
    }
    if (followsMember && this.#bytes[begin++] !== COMMA) throw new SyntaxError('A comma is missing in the JSON');
    const text = this.#bytes.toString('utf8', begin, end);
    const count = Array.isArray(value) ? addItems(value, text) : addMembers(value, text);
    const needsMember = followsMember || assembly.wantsMember || !isLast;
    if (count === 0 && needsMember) throw new SyntaxError('A comma too many in the JSON');
    assembly.wantsMember = !isLast;
  }

  /** `"name":` */
  #readName(begin: number, end: number): string {
    const text = this.#bytes.toString('utf8', begin, end);
    const colon = text.lastIndexOf(':');
    const name: unknown = JSON.parse(text.slice(0, Math.max(0, colon)));
    if (typeof name === 'string' && this.#skipBlanks(end - (text.length - colon) + 1, end) === end) return name;
    throw new SyntaxError('A name is missing in the JSON');
  }

  #assembly(): Assembly {
    const assembly = this.#assemblies.at(-1);
    if (assembly === undefined) throw new SyntaxError('The JSON ends more than it began');
    return assembly;
  }

  #skipBlanks(from: number, to: number): number {
    let position = from;
    while (position < to && BLANKS.has(this.#bytes[position])) position++;
    return position;
  }
}

/** Blank, tab, line feed, carriage return: JSON knows no others. */
const BLANKS: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d]);

function addItems(list: unknown[], text: string): number {
  const items = parseJson(`[${text}]`);
  if (!Array.isArray(items)) throw new SyntaxError('A list is missing in the JSON');
  for (const item of items) list.push(item);
  return items.length;
}

function addMembers(object: Record<string, unknown>, text: string): number {
  const members = Object.entries(Object(parseJson(`{${text}}`)));
  for (const [name, value] of members) define(object, name, value);
  return members.length;
}

/** `__proto__` is a name like any other in JSON. */
function define(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

/** @param what has more members than it may */
export function tooMany(what: string, most: number): AppError {
  return new AppError('PROVIDER_PROTOCOL', `The provider returned ${what} with more than ${most} members.`);
}

export function tooDeep(): AppError {
  return new AppError(
    'PROVIDER_PROTOCOL',
    `The provider returned JSON that is nested deeper than ${MAX_DEPTH} levels.`,
  );
}
