/**
 * Prints imported names, one per line, in the order that the linter of this repository requires: alphabetical, capitals before small
 * letters.
 */
export function importList(names: readonly string[]): string {
  const sorted = [...names].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  return sorted.map((name) => `  ${name},`).join('\n');
}

function sortKey(name: string): string {
  return name
    .replace(/^type /, '')
    .replaceAll(/./g, (letter) => letter.toLowerCase() + (letter === letter.toLowerCase() ? '1' : '0'));
}
