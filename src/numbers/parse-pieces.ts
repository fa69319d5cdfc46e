import { parseJson } from './exact-json.ts';

/** Number of bytes that are scanned and parsed at a time: about a millisecond of work. */
export const PIECE_BYTES = 128 * 1024;

/** Limits of a text, and the errors for a text that exceeds one. */
export interface JsonLimits {
  /** Maximum depth of nesting. */
  readonly depth: number;
  /** Maximum number of members at all depths. */
  readonly members: number;
  /** Maximum number of members of one object. */
  readonly objectMembers: number;
  readonly tooDeep: () => Error;
  readonly tooMany: (what: string, most: number) => Error;
}

// The memory that V8 needs for parsed JSON beside its characters, measured with rows of people and with the worst case (a million of `{}`,
// or of objects that each have a name of their own); there it is up to twice as much.
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
/** The greatest character of white space between tokens. */
const SPACE = 0x20;
const END = -1;

/** An array or object whose end was not read yet. */
interface Open {
  readonly openedAt: number;
  /** The byte that closes it. */
  readonly end: number;
  lastComma: number;
  commas: number;
}

/** The cost of the part of a text that was scanned since the last call. */
interface PieceCost {
  /** An estimate of the memory that its values take, in bytes. */
  readonly bytes: number;
  /** Number of members of all objects and items of all arrays. */
  readonly members: number;
}

/** An array or object that is larger than a piece. It is assembled from the parsed pieces of its members. */
interface Assembly {
  readonly value: unknown[] | Record<string, unknown>;
  /** Whether its last member was an assembly itself, so that a comma or the end must follow. */
  followsMember: boolean;
  /** Whether a comma was read, so that a member must follow. */
  wantsMember: boolean;
}

/**
 * Parses UTF-8 JSON as `parseJson` does, piece by piece. Between two yields it works no longer than two pieces take. A parser in JavaScript
 * takes ten times as long as `JSON.parse`; this one only searches the text for positions to cut it, and lets `JSON.parse` parse the pieces.
 * @throws SyntaxError; the error of the limit that the text exceeds
 */
export function* parsePieces(
  bytes: Buffer,
  limits: JsonLimits,
  pieceBytes: number = PIECE_BYTES,
): Generator<PieceCost, unknown> {
  const parsing = new Parsing(bytes, limits);
  for (let end = pieceBytes; ; end += pieceBytes) {
    const isLast = end >= bytes.length;
    parsing.scan(Math.min(end, bytes.length));
    if (!isLast) parsing.cut(pieceBytes);
    yield parsing.takeCost();
    if (isLast) return parsing.finish();
  }
}

/** The text as a list with one value. Its first assembly is that list. */
class Parsing {
  readonly #bytes: Buffer;
  readonly #limits: JsonLimits;
  readonly #open: Open[] = [{ openedAt: -1, end: END, lastComma: -1, commas: 0 }];
  readonly #root: unknown[] = [];
  readonly #assemblies: Assembly[] = [{ value: this.#root, followsMember: false, wantsMember: false }];
  #position = 0;
  /** The offset of the part of the innermost assembly that was not parsed yet. */
  #from = 0;
  #inString = false;
  /** Whether the innermost open array or object is still empty. */
  #isEmpty = false;
  #bytesCost = 0;
  #members = 0;
  #membersBefore = 0;

  constructor(bytes: Buffer, limits: JsonLimits) {
    this.#bytes = bytes;
    this.#limits = limits;
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
          // No comma follows the last member.
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
    const { members, tooMany } = this.#limits;
    if (this.#members > members) throw tooMany('JSON', members);
  }

  /** Parses complete members until less than a piece is left. */
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
    const { depth, tooDeep } = this.#limits;
    if (this.#open.length > depth) throw tooDeep();
    this.#open.push({ openedAt, end, lastComma: -1, commas: 0 });
  }

  #separate(position: number): void {
    const top = this.#top();
    top.lastComma = position;
    this.#members++;
    // A list has as many items as there are rows, so only objects are limited.
    const { objectMembers, tooMany } = this.#limits;
    if (++top.commas >= objectMembers && top.end === CLOSE_OBJECT) throw tooMany('an object', objectMembers);
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

  /**
   * Turns the incomplete member into an assembly of its own.
   * @returns false when it is no array or object
   */
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

  /** Adds the members between the last cut and `end`, the offset of a comma or of the end of the innermost assembly. */
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

  /** Reads `"name":`. */
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

/** The white space of JSON: blank, tab, line feed, carriage return. */
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

/** In JSON, `__proto__` is a name like any other. */
function define(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}
