import type { Connector } from '../connector/contract.ts';
import { ABSTRACT_SHAPES, MARK_COLOURS, MARK_SHAPES, type MarkColour, SHAPE_OF_HUB } from '../connector/mark.ts';

export type Marked = Pick<Connector, 'key' | 'hub' | 'mark'>;

/**
 * Returns the picture of an element as a `data:` URL of an SVG: the mark that its connector declares, or the shape of its hub on a colour
 * that depends on its key. It copies no logo, needs no request, and contains only paths of this service.
 */
export function markOf(connector: Marked): string {
  return `data:image/svg+xml,${encodeURI(drawMark(connector)).replaceAll('#', '%23')}`;
}

const COLOURS = Object.keys(MARK_COLOURS) as readonly MarkColour[];

/** Darker parts of the background, by the key: elements of one shape and colour still differ. */
const BACKDROPS = [
  'M0 64L64 0v64z',
  'M0 0h64L0 64z',
  'M0 32h64v32H0z',
  'M32 0h32v64H32z',
  'M0 64a64 64 0 0 1 64-64v64z',
  'M0 0h64a64 64 0 0 1-64 64z',
  'M0 44L64 20v44H0z',
] as const;

function drawMark({ key, hub, mark }: Marked): string {
  const hash = hashKey(key);
  const shape = mark?.shape ?? SHAPE_OF_HUB[hub] ?? pick(ABSTRACT_SHAPES, hash);
  const colour = MARK_COLOURS[mark?.colour ?? pick(COLOURS, hash >>> 4)];
  const [white, half] = MARK_SHAPES[shape];
  return (
    `<svg xmlns='http://www.w3.org/2000/svg' width='64' height='64' viewBox='0 0 64 64'>` +
    `<clipPath id='c'><rect width='64' height='64' rx='14'/></clipPath>` +
    `<g clip-path='url(#c)' fill='#fff' fill-rule='evenodd'><path d='M0 0h64v64H0z' fill='${colour}'/>` +
    `<path d='${pick(BACKDROPS, hash >>> 12)}' fill='#000' fill-opacity='.14'/>` +
    `<path d='${half}' fill-opacity='.55'/><path d='${white}'/></g></svg>`
  );
}

function pick<Choice>(choices: readonly Choice[], hash: number): Choice {
  const choice = choices[hash % choices.length];
  if (choice === undefined) throw new Error('There is nothing to choose from.');
  return choice;
}

/**
 * Returns the FNV-1a hash of a key. It differs widely for keys that differ in one letter.
 * @returns a number of 32 bits, always the same for a key
 */
export function hashKey(key: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(key)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
