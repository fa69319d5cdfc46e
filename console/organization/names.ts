import { api, askPage } from '../api.ts';
import { useLoad } from '../load.ts';

/** Names by id, for lists that only contain ids. Deleted resources, and those that the user cannot see, are missing. */
export type Names = ReadonlyMap<number, string>;

const NONE: Names = new Map();

export function useUserNames(ids: readonly (number | null)[]): Names {
  return useNames(ids, async (where, signal) => {
    const { rows } = await askPage(api.GET('/users', { signal, params: { query: { where } } }));
    return rows.map(({ id, email }) => [id, email] as const);
  });
}

export function useAccountNames(ids: readonly (number | null)[]): Names {
  return useNames(ids, async (where, signal) => {
    const { rows } = await askPage(api.GET('/accounts', { signal, params: { query: { where } } }));
    return rows.map(({ id, name }) => [id, name] as const);
  });
}

type Find = (where: string, signal: AbortSignal) => Promise<readonly (readonly [id: number, name: string])[]>;

function useNames(ids: readonly (number | null)[], find: Find): Names {
  const sought = [...new Set(ids)].filter((id) => id !== null).sort((a, b) => a - b);
  const { value } = useLoad(
    async (signal) => (sought.length === 0 ? NONE : new Map(await find(`id IN (${sought.join(', ')})`, signal))),
    sought,
  );
  return value ?? NONE;
}
