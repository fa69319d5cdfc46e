import { useLocation } from 'preact-iso';

/** The query of the address. It contains the state of a page, so that a link shows the same. */
export interface AddressQuery {
  readonly query: Readonly<Record<string, string>>;
  /** Replaces the query without a new entry in the history. Empty and undefined values are left out. */
  readonly change: (changes: Readonly<Record<string, string | undefined>>) => void;
}

export function useQuery(): AddressQuery {
  const { path, query, route } = useLocation();
  return {
    query,
    change: (changes) =>
      route(withQuery(path, { ...Object.fromEntries(new URLSearchParams(location.search)), ...changes }), true),
  };
}

/** Returns a path of the console with a query. */
export function withQuery(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const pairs = Object.entries(query).flatMap(([name, value]): [string, string][] => (value ? [[name, value]] : []));
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
}
