import type { PoolShares } from '../db/pool-shares.ts';
import { missing } from '../shared-errors.ts';
import { createMappingStore, type VisibleDefinition, type VisibleTo } from './store.ts';

/** The definitions that an account sees, of all levels. */
export type Visible = ReturnType<typeof createVisible>;

/** Maximum number of definitions in a list, and of places where one is used. */
export const MOST_ROWS = 10_000;

export function createVisible(shares: Pick<PoolShares, 'list'>) {
  const list = (to: VisibleTo, objectName?: string): Promise<readonly VisibleDefinition[]> => {
    const filter = objectName === undefined ? { limit: MOST_ROWS } : { objectName, limit: MOST_ROWS };
    return shares.list(to.accountId, (via) => createMappingStore(via).listVisible(to, filter));
  };

  return {
    /** Returns the definitions by name, those of one name from the highest level to the lowest. */
    list,

    /** Returns the definitions of a name, from the highest level to the lowest. @throws AppError NOT_FOUND */
    get: async (to: VisibleTo, name: string): Promise<readonly [VisibleDefinition, ...VisibleDefinition[]]> => {
      const [first, ...others] = await list(to, name);
      if (first !== undefined) return [first, ...others];
      const all = await list(to);
      throw missing(
        'common resource',
        name,
        all.map(({ objectName }) => objectName),
      );
    },
  };
}
