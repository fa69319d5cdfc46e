/** The choices for a new connector. The first of each is the default. */
export const CHOICES = {
  paging: ['offset', 'number', 'cursor', 'link', 'whole'],
  filter: ['infix', 'inputs'],
  auth: ['basic', 'key', 'oauth2'],
} as const;

export interface Choices {
  readonly key: string;
  readonly paging: (typeof CHOICES)['paging'][number];
  readonly filter: (typeof CHOICES)['filter'][number];
  readonly auth: (typeof CHOICES)['auth'][number];
}

/** Returns a stable and unique id for a key, until the author chooses a better one. Ids in this repository are below 10,000. */
export function idOf(key: string): number {
  const hash = [...key].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 890_000, 7);
  return 100_000 + hash;
}

export function titleOf(key: string): string {
  return key.charAt(0).toUpperCase() + key.slice(1);
}
