/**
 * The picture of an element: its initials on a colour, as a `data:` URL of an SVG. It is nobody's logo, needs no request, and holds nothing
 * but a rectangle and letters.
 */
export function markOf({ key, name }: { readonly key: string; readonly name: string }): string {
  return `data:image/svg+xml,${encodeURI(drawMark(initialsOf(name), colourOf(key))).replaceAll('#', '%23')}`;
}

/** White letters have a contrast of at least 4.5 with each of them (WCAG 2.2, 1.4.3). */
export const COLOURS = [
  '#b3261e',
  '#a03c00',
  '#7a5200',
  '#4c6600',
  '#1b6e1b',
  '#00694d',
  '#006874',
  '#00639b',
  '#3355c4',
  '#6247b5',
  '#8a3ba6',
  '#a3286f',
] as const;

function colourOf(key: string): string {
  const hash = hashKey(key);
  return COLOURS[hash % COLOURS.length] ?? COLOURS[0];
}

/** A letter or digit with its accents. None of them means anything in markup. */
const LETTER = /[\p{L}\p{N}]\p{M}{0,4}/gu;
/** A capital begins a word after a small letter, and before one: `BambooHR`, `OData`. */
const WORD = /(?<![\p{L}\p{N}\p{M}])[\p{L}\p{N}]\p{M}{0,4}|(?<=\p{Ll})\p{Lu}\p{M}{0,4}|(?<=\p{Lu})\p{Lu}(?=\p{Ll})/gu;

/** The first letters of two words, or two letters of the only one. */
function initialsOf(name: string): string {
  const words = name.match(WORD) ?? [];
  const letters = words.length > 1 ? words : (name.match(LETTER) ?? ['?']);
  return letters.slice(0, 2).join('');
}

function drawMark(text: string, colour: string): string {
  return (
    `<svg xmlns='http://www.w3.org/2000/svg' width='64' height='64' viewBox='0 0 64 64'>` +
    `<rect width='64' height='64' rx='14' fill='${colour}'/>` +
    `<text x='32' y='32' dy='.35em' text-anchor='middle' font-family='sans-serif' font-size='28' font-weight='600' fill='#fff'>` +
    `${text}</text></svg>`
  );
}

/** FNV-1a, which spreads keys that differ in one letter. @returns a number of 32 bits, always the same for a key */
export function hashKey(key: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(key)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
