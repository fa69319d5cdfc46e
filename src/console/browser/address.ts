import { useLocation } from 'preact-iso';

export type Query = Readonly<Record<string, string>>;

/** What the address says beside the path, and a way to say something else; an empty text is left out. The page stays, and so does its place in the history. */
export function useQuery(): readonly [query: Query, change: (changes: Query) => void] {
  const { path, query, route } = useLocation();
  return [query, (changes) => route(writeAddress(path, { ...query, ...changes }), true)];
}

export function writeAddress(path: string, query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== '');
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}
