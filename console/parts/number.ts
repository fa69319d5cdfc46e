/** Formats a number for people. */
export function sayNumber(value: number): string {
  return value.toLocaleString('en');
}

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const;

/** Formats a size for people, in units that are powers of a thousand. */
export function sayBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const value = bytes / 1000 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`;
}
