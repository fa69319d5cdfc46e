import type { Knex } from 'knex';
import { arrayLiteral } from '../db/array-literal.ts';
import { isDistributed } from '../db/distributed.ts';
import type { EngineName, FormulaContent, FormulaKey } from './model.ts';

/** A formula instance with the current members of its template. */
export interface StoredFormulaInstance {
  readonly accountId: number;
  readonly id: number;
  readonly name: string;
  readonly userId: number;
  readonly active: boolean;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly configuration: Readonly<Record<string, string>>;
  readonly formula: FormulaKey;
  readonly formulaName: string;
  readonly formulaActive: boolean;
  readonly singleThreaded: boolean;
  readonly debugLoggingEnabled: boolean;
  readonly engine: EngineName;
  readonly version: number;
  /** The accounts of the element instances that it names in other accounts of its organization, by their ids. */
  readonly otherAccounts: Readonly<Record<string, number>> | null;
  /** Methods with paths that run it as a resource, such as `POST /sync`: those of its template and of its setting `api`. */
  readonly resources: readonly string[];
}

type InstanceRow = Omit<StoredFormulaInstance, 'formula'> & {
  readonly formulaAccountId: number;
  readonly formulaId: number;
};

function toInstance({ formulaAccountId, formulaId, ...row }: InstanceRow): StoredFormulaInstance {
  return { ...row, formula: { accountId: formulaAccountId, id: formulaId } };
}

/** Maximum number of formula instances of an account. */
const MOST_INSTANCES = 10_000;

/** A row with what finds the element instances in other accounts, which may be on other nodes. */
type RowOnNode = Omit<InstanceRow, 'otherAccounts'> & {
  readonly organizationId: number;
  readonly elementInstanceIds: readonly number[];
};

export function createProgramStore(knex: Knex) {
  async function listOf(condition: string, values: readonly Knex.RawBinding[]): Promise<readonly RowOnNode[]> {
    const { rows } = await knex.raw<{ rows: readonly RowOnNode[] }>(
      `${INSTANCES_ON_NODES} where ${condition} order by i.id limit ?`,
      [...values, MOST_INSTANCES],
    );
    return rows;
  }

  /** The same as `listInstances` on a distributed database, which joins no rows of different accounts. */
  async function listOnNodes(accountId: number): Promise<readonly StoredFormulaInstance[]> {
    const own = await listOf('i.account_id = ?', [accountId]);
    const account = await knex('account').where({ id: accountId }).first('organization_id');
    const elements = await knex('instance').where({ account_id: accountId }).select('id');
    if (account === undefined || elements.length === 0) return withOtherAccounts(own);
    const others = await listOf(
      'i.element_instance_ids && ?::bigint[] and i.account_id <> ? and own.organization_id = ?',
      [arrayLiteral(elements.map(({ id }) => id)), accountId, account.organization_id],
    );
    return withOtherAccounts([...own, ...others]);
  }

  async function withOtherAccounts(rows: readonly RowOnNode[]): Promise<readonly StoredFormulaInstance[]> {
    const owners = await findOwners(rows);
    return rows.map(({ elementInstanceIds, organizationId: _, ...row }) => {
      const others = elementInstanceIds.flatMap((id) => {
        const owner = owners.get(id);
        return owner === undefined || owner === row.accountId ? [] : [[String(id), owner] as const];
      });
      return toInstance({ ...row, otherAccounts: others.length === 0 ? null : Object.fromEntries(others) });
    });
  }

  /** Returns the accounts of element instances. Only those in other accounts are looked for on all nodes. */
  async function findOwners(rows: readonly RowOnNode[]): Promise<ReadonlyMap<number, number>> {
    const owners = new Map<number, number>();
    for (const [accountId, ofOne] of Map.groupBy(rows, (row) => row.accountId)) {
      const ids = [...new Set(ofOne.flatMap(({ elementInstanceIds }) => elementInstanceIds))];
      if (ids.length === 0) continue;
      const near = await knex('instance').where({ account_id: accountId }).whereIn('id', ids).select('id');
      for (const { id } of near) owners.set(id, accountId);
    }
    const far = new Set(rows.flatMap(({ elementInstanceIds }) => elementInstanceIds.filter((id) => !owners.has(id))));
    const [organizationId] = rows.map((row) => row.organizationId);
    if (far.size === 0 || organizationId === undefined) return owners;
    const { rows: found } = await knex.raw<{ rows: { id: number; accountId: number }[] }>(
      `select e.id, e.account_id as "accountId" from instance e join account o on o.id = e.account_id
       where e.id = any(?::bigint[]) and o.organization_id = ?`,
      [arrayLiteral([...far]), organizationId],
    );
    for (const { id, accountId } of found) owners.set(id, accountId);
    return owners;
  }

  return {
    findVersion: async ({ accountId, id }: FormulaKey, version: number): Promise<FormulaContent | undefined> => {
      const row = await knex('formula_version')
        .where({ account_id: accountId, formula_id: id, version })
        .first('content');
      // Only templates write this column.
      return row?.content as FormulaContent | undefined;
    },

    /**
     * Returns the formula instances of an account, and those in other accounts of its organization that name an element instance of the
     * account.
     */
    listInstances: async (accountId: number): Promise<readonly StoredFormulaInstance[]> => {
      if (await isDistributed(knex)) return listOnNodes(accountId);
      const { rows } = await knex.raw<{ rows: readonly InstanceRow[] }>(
        `(${INSTANCES} where i.account_id = :accountId order by i.id limit :limit) union all
         (${INSTANCES}
          where i.element_instance_ids && array(select e.id from instance e where e.account_id = :accountId)
            and i.account_id <> :accountId
            and own.organization_id = (select a.organization_id from account a where a.id = :accountId)
          order by i.id limit :limit)`,
        { accountId, limit: MOST_INSTANCES },
      );
      return rows.map(toInstance);
    },

    findInstance: async (accountId: number, id: number): Promise<StoredFormulaInstance | undefined> => {
      if (await isDistributed(knex)) {
        const [found] = await withOtherAccounts(await listOf('i.account_id = ? and i.id = ?', [accountId, id]));
        return found;
      }
      const { rows } = await knex.raw<{ rows: readonly InstanceRow[] }>(
        `${INSTANCES} where i.account_id = ? and i.id = ?`,
        [accountId, id],
      );
      return rows.map(toInstance)[0];
    },

    /** Returns a formula of the account, or of the default account of its organization, with its version. */
    findFormula: async (
      accountId: number,
      id: number,
    ): Promise<(FormulaKey & { readonly version: number; readonly active: boolean }) | undefined> => {
      const { rows } = await knex.raw<{
        rows: (FormulaKey & { readonly version: number; readonly active: boolean })[];
      }>(FORMULA, [accountId, id]);
      return rows[0];
    },
  };
}

const MEMBERS = `i.account_id as "accountId", i.id, i.name, i.user_id as "userId", i.active, i.settings, i.configuration,
    f.account_id as "formulaAccountId", f.id as "formulaId", f.name as "formulaName", f.active as "formulaActive",
    f.single_threaded as "singleThreaded", f.debug_logging_enabled as "debugLoggingEnabled", f.engine, f.version,
    array_remove(array[f.method || ' ' || f.uri, i.api_method || ' ' || i.api_path], null) as resources`;

const FROM =
  'from formula_instance i join account own on own.id = i.account_id join formula f on f.account_id = i.formula_account_id and f.id = i.formula_id';

const INSTANCES = `
  select ${MEMBERS},
    (select json_object_agg(e.id, e.account_id) from instance e join account o on o.id = e.account_id
      where e.id = any(i.element_instance_ids) and e.account_id <> i.account_id and o.organization_id = own.organization_id)
      as "otherAccounts"
  ${FROM}`;

const INSTANCES_ON_NODES = `
  select ${MEMBERS}, own.organization_id as "organizationId", i.element_instance_ids as "elementInstanceIds" ${FROM}`;

const FORMULA = `
  select f.account_id as "accountId", f.id, f.version, f.active from formula f
  join account own on own.id = ?
  where f.id = ? and (f.account_id = own.id or f.account_id = (
    select d.id from account d where d.organization_id = own.organization_id and d.default_account))`;
