import { type Inside, prelude } from '../inside/prelude.ts';
import { type Guest, GuestTrap, type Pointer, type Realm, type Returned } from './guest.ts';
import { modulesOf } from './libraries.ts';

/** A part of the memory of a guest. */
interface Region {
  readonly at: Pointer;
  readonly bytes: Uint8Array;
}

/** The memory of a guest at rest, with the addresses in it. It can be restored in any guest of the same engine. */
export interface Image {
  readonly regions: readonly Region[];
  /** The end of the heap. All memory behind it is zero. */
  readonly end: Pointer;
  /** Size of all regions in bytes. */
  readonly size: number;
  readonly realm: Realm;
  readonly inside: Readonly<Record<keyof typeof FUNCTIONS, Pointer>>;
}

/** The functions of the prelude, by their index in what it returns. */
const FUNCTIONS = { define: 0, install: 1, load: 2, run: 3, settle: 4, take: 5, describe: 6 } as const satisfies Record<
  string,
  keyof Inside
>;

const PAGE = 4096;
/** A shorter run of zeros is copied too, because two copies take longer than a larger one. */
const LONGEST_GAP = 64 * 1024;
/** The static data of C ends here at the latest. The stack begins behind it, so what is copied too much is never used. */
const DATA_MARGIN = 64 * 1024;
const ZEROS = Buffer.alloc(256 * 1024);

/** Makes the image of an engine with these libraries, in a guest that was not used before. */
export function buildImage(guest: Guest, libraries: readonly string[]): Image {
  const realm = guest.createRealm();
  const functions = succeed(guest, realm, guest.evaluate(realm, `'use strict'; (${prelude})`, 'prelude'));
  const made = succeed(guest, realm, guest.call(realm, functions, guest.newNative(realm)));
  const element = (name: keyof typeof FUNCTIONS) => guest.readElement(realm, made, FUNCTIONS[name]);
  const inside = {
    define: element('define'),
    install: element('install'),
    load: element('load'),
    run: element('run'),
    settle: element('settle'),
    take: element('take'),
    describe: element('describe'),
  };
  for (const { name, text } of modulesOf(libraries)) {
    const code = `(function (module, exports, require) {${text}\n})`;
    const run = succeed(guest, realm, guest.evaluate(realm, code, name));
    succeed(guest, realm, guest.call(realm, inside.define, guest.newText(realm, name), run));
  }
  const regions = readRegions(guest.memory);
  const last = regions.at(-1);
  const end = last === undefined ? 0 : last.at + last.bytes.length;
  return { regions, end, size: sizeOf(regions), realm, inside };
}

function sizeOf(regions: readonly Region[]): number {
  return regions.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

function succeed(guest: Guest, realm: Realm, { value, isThrown }: Returned): Pointer {
  if (isThrown) throw new GuestTrap('fault', `A library of scripts does not load: ${guest.readText(realm, value)}`);
  return value;
}

/** Returns the parts of the memory that are in use: static data, and the heap. Between them is the stack, which is empty at rest. */
function readRegions(memory: WebAssembly.Memory): readonly Region[] {
  const bytes = Buffer.from(memory.buffer);
  const bounds: { from: number; to: number }[] = [];
  for (let at = 0; at < bytes.length; at += PAGE) {
    if (isZero(bytes, at, at + PAGE)) continue;
    const last = bounds.at(-1);
    if (last !== undefined && at - last.to < LONGEST_GAP) last.to = at + PAGE;
    else bounds.push({ from: at, to: at + PAGE });
  }
  const [data] = bounds;
  if (data !== undefined && bounds.length > 1) data.to += DATA_MARGIN;
  return bounds.map(({ from, to }) => ({ at: from, bytes: Uint8Array.prototype.slice.call(bytes, from, to) }));
}

function isZero(bytes: Buffer, from: number, to: number): boolean {
  return bytes.compare(ZEROS, 0, to - from, from, to) === 0;
}

/** Returns the image of the same guest after more was loaded into it. */
export function extendImage({ memory }: Guest, image: Image): Image {
  const end = findEnd(memory, image.end);
  const bytes = new Uint8Array(memory.buffer);
  const regions = image.regions.map(({ at, bytes: { length } }, index) => {
    const to = index === image.regions.length - 1 ? end : at + length;
    return { at, bytes: bytes.slice(at, to) };
  });
  return { ...image, regions, end, size: sizeOf(regions) };
}

/** Returns the end of the memory in use, which is not before `least`. */
function findEnd({ buffer }: WebAssembly.Memory, least: Pointer): Pointer {
  const bytes = Buffer.from(buffer);
  let end = bytes.length;
  while (end > least) {
    const from = Math.max(least, end - ZEROS.length);
    if (!isZero(bytes, from, end)) break;
    end = from;
  }
  return end;
}

/** Makes the memory that of the image, except for what lies outside of its regions. */
export function restoreImage({ memory }: Guest, { regions }: Image): void {
  const bytes = new Uint8Array(memory.buffer);
  for (const region of regions) bytes.set(region.bytes, region.at);
}

/** Makes the memory exactly that of the image, so that nothing of another script is left. */
export function resetGuest(guest: Guest, image: Image): void {
  new Uint8Array(guest.memory.buffer).fill(0);
  restoreImage(guest, image);
}
