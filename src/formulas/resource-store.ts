import type { Knex } from 'knex';

/** The formula that a method and a path of an account name. */
interface FoundResource {
  /** The instance whose setting `api` has this method and path. */
  readonly ownInstanceId: number | null;
  /** Templates with this method and path that the account sees, its own first. */
  readonly formulaIds: readonly number[];
  /** The instance that the request names, if its template has this method and path. */
  readonly namedInstanceId: number | null;
}

export interface ResourceRequest {
  readonly accountId: number;
  readonly method: string;
  /** Path below the base path. */
  readonly path: string;
  /** The formula instance that the request names. */
  readonly instanceId: number | undefined;
}

export type ResourceStore = ReturnType<typeof createResourceStore>;

export function createResourceStore(knex: Knex) {
  return {
    find: async ({ accountId, method, path, instanceId }: ResourceRequest): Promise<FoundResource | undefined> => {
      const { rows } = await knex.raw<{ rows: FoundResource[] }>(FIND, {
        accountId,
        method,
        path,
        instanceId: instanceId ?? null,
      });
      return rows[0];
    },
  };
}

/** Templates that an error names. */
const MOST_FORMULAS = 3;

const FIND = `
  select
    (select i.id from formula_instance i
      where i.account_id = :accountId and i.api_method = :method and i.api_path = :path) as "ownInstanceId",
    array(select f.id from formula f
      where f.method = :method and f.uri = :path and (f.account_id = own.id or f.account_id = (
        select d.id from account d where d.organization_id = own.organization_id and d.default_account))
      order by f.account_id = own.id desc, f.id limit ${MOST_FORMULAS}) as "formulaIds",
    (select i.id from formula_instance i join formula f on f.account_id = i.formula_account_id and f.id = i.formula_id
      where i.account_id = :accountId and i.id = :instanceId and f.method = :method and f.uri = :path) as "namedInstanceId"
  from account own where own.id = :accountId`;
