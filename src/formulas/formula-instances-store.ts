import type { Knex } from 'knex';
import { arrayLiteral } from '../db/array-literal.ts';
import { isDistributed } from '../db/distributed.ts';
import { DISTRIBUTION } from '../db/distribution.ts';
import { orderedJson } from '../db/json.ts';
import { FLAG, filterable, INSTANT, INTEGER, type Selection, selectPage, TEXT } from '../db/listing.ts';
import type { Removal } from '../db/removal.ts';
import { columnsOf, firstOf, type RowWith, toColumns } from '../db/row.ts';
import type { ElementInstance } from './check-instance.ts';
import type { Formula, FormulaInstance, FormulaInstanceKey, FormulaKey, Variable } from './model.ts';

/** A formula instance with what its schedule and its end follow from. */
export interface StoredInstance extends FormulaInstance {
  readonly elementInstanceIds: readonly number[];
  readonly apiMethod: string | null;
  readonly apiPath: string | null;
  readonly nextDue: Date | null;
  readonly expiresAt: Date | null;
}

/** A formula instance with members of its formula. */
export interface ListedInstance extends StoredInstance {
  readonly formula: Omit<Formula, 'triggers' | 'steps' | 'method' | 'uri' | 'engine' | 'version'>;
}

/** The row that a change stores. */
export type InstanceChange = Pick<
  StoredInstance,
  | 'name'
  | 'active'
  | 'settings'
  | 'configuration'
  | 'elementInstanceIds'
  | 'apiMethod'
  | 'apiPath'
  | 'warning'
  | 'nextDue'
  | 'expiresAt'
>;

/** The effect of a change of a formula on its instances. */
type InstanceRefresh = FormulaInstanceKey & Pick<StoredInstance, 'elementInstanceIds' | 'nextDue' | 'warning'>;

interface InstanceSelection extends Selection {
  readonly formulaId?: number | undefined;
  readonly elementInstanceId?: number | undefined;
  readonly searchText?: string | undefined;
  readonly includesInactive: boolean;
}

type InstanceRow = RowWith<'formula_instance', typeof COLUMNS>;

const COLUMNS = columnsOf('formula_instance', [
  'account_id',
  'id',
  'formula_account_id',
  'formula_id',
  'user_id',
  'name',
  'active',
  'settings',
  'configuration',
  'element_instance_ids',
  'api_method',
  'api_path',
  'warning',
  'next_due',
  'expires_at',
  'created_at',
  'updated_at',
]);

const OF_FORMULA = `(select json_build_object('name', name, 'description', description, 'active', active, 'userId', user_id,
    'singleThreaded', single_threaded, 'debugLoggingEnabled', debug_logging_enabled, 'createdAt', created_at,
    'updatedAt', updated_at, 'configuration', content->'configuration')
  from formula where account_id = formula_instance.formula_account_id and id = formula_instance.formula_id) as formula`;

/** Fields that a list of formula instances can be filtered by, under their names in the API. */
export const FILTERABLE_FORMULA_INSTANCE = filterable({
  id: [INTEGER, 'id'],
  name: [TEXT, 'name'],
  active: [FLAG, 'active'],
  createdDate: [INSTANT, "date_trunc('milliseconds', created_at)"],
});

/** Rows that one statement of a removal deletes. */
const BATCH = 2_000;
/** Parts of an account in the order of their removal, each with its key. */
const REMOVED = [
  ['formula_run', 'account_id, id'],
  ['formula_notice', 'account_id, id'],
  ['formula_answer', 'account_id, execution_id'],
  ['formula_execution', 'account_id, created_at, id'],
  ['formula_step', 'account_id, execution_at, id'],
  ['formula_instance', 'account_id, id'],
  ['formula', 'account_id, id'],
] as const;

export type FormulaInstanceStore = ReturnType<typeof createFormulaInstanceStore>;

/** Creates the store of formula instances. Every statement names the account, or the formula. */
export function createFormulaInstanceStore(knex: Knex) {
  const ofKey = ({ accountId, id }: FormulaInstanceKey) => ({ account_id: accountId, id });
  const ofFormula = ({ accountId, id }: FormulaKey) => ({ formula_account_id: accountId, formula_id: id });
  const select = () =>
    knex('formula_instance').select<InstanceRow[]>(COLUMNS).select<ListedRow[]>(knex.raw(OF_FORMULA));

  /** A distributed database changes the type of a column in a query only. */
  async function renameOnNodes(formula: FormulaKey, from: string, to: string): Promise<void> {
    const { rows } = await knex.raw<{ rows: { account_id: number; id: number; renamed: string }[] }>(
      `select account_id, id, ((configuration::jsonb - cast(:from as text)) || jsonb_build_object(cast(:to as text), configuration->cast(:from as text)))::text as renamed
       from formula_instance
       where formula_account_id = :accountId and formula_id = :id and jsonb_exists(configuration::jsonb, cast(:from as text))
       order by id`,
      { ...formula, from, to },
    );
    for (const { account_id, id, renamed } of rows)
      await knex('formula_instance')
        .where({ account_id, id })
        .update({ configuration: knex.raw('?::json', [renamed]) });
  }

  /** Returns the element instances of a kind that formula instances of the account name. They may be on other nodes. */
  async function findNamedElements(accountId: number, pattern: string): Promise<readonly number[]> {
    const { rows } = await knex.raw<{ rows: { id: number }[] }>(
      'select distinct unnest(element_instance_ids) as id from formula_instance where account_id = ?',
      [accountId],
    );
    if (rows.length === 0) return [];
    const named = rows.map(({ id }) => id);
    return knex('instance').whereIn('id', named).whereRaw('element_key ilike ?', [pattern]).pluck('id');
  }

  /** The same as `listNamedAccounts` on a distributed database, which joins no rows of different accounts. */
  async function listNamedOnNodes(accountIds: readonly number[]): Promise<readonly number[]> {
    const { rows: named } = await knex.raw<{ rows: { id: number; accountId: number; organizationId: number }[] }>(
      `select i.account_id as "accountId", own.organization_id as "organizationId", unnest(i.element_instance_ids) as id
       from formula_instance i join account own on own.id = i.account_id
       where i.account_id = any(?::bigint[])`,
      [[...accountIds]],
    );
    if (named.length === 0) return [];
    const { rows: found } = await knex.raw<{ rows: { id: number; accountId: number; organizationId: number }[] }>(
      `select e.id, e.account_id as "accountId", other.organization_id as "organizationId"
       from instance e join account other on other.id = e.account_id where e.id = any(?::bigint[])`,
      [[...new Set(named.map(({ id }) => id))]],
    );
    const elements = new Map(found.map((element) => [element.id, element]));
    const others = named.flatMap(({ id, accountId, organizationId }) => {
      const element = elements.get(id);
      const isOther = element?.accountId !== accountId && element?.organizationId === organizationId;
      return element !== undefined && isOther ? [element.accountId] : [];
    });
    return [...new Set(others)];
  }

  return {
    find: async (key: FormulaInstanceKey): Promise<ListedInstance | undefined> => {
      const [row] = await select().where(ofKey(key));
      return row && toListed(row);
    },

    /** Locks a formula instance until the end of the transaction. */
    lock: async (key: FormulaInstanceKey): Promise<StoredInstance | undefined> => {
      const rows: InstanceRow[] = await knex('formula_instance').select(COLUMNS).where(ofKey(key)).forUpdate();
      return rows[0] && toInstance(rows[0]);
    },

    /** Keeps a formula from changing until the end of the transaction. Undefined: it was deleted. */
    lockFormula: async ({ accountId, id }: FormulaKey): Promise<Pick<Formula, 'version' | 'active'> | undefined> => {
      const [row] = await knex('formula').where({ account_id: accountId, id }).forShare().select('version', 'active');
      return row;
    },

    /** Lists the formula instances of an account from old to new. */
    list: async (
      accountId: number,
      { formulaId, elementInstanceId, searchText, includesInactive, ...selection }: InstanceSelection,
    ): Promise<readonly ListedInstance[]> => {
      const query = selectPage(select().where({ account_id: accountId }), selection);
      if (formulaId !== undefined) query.where({ formula_id: formulaId });
      if (!includesInactive) query.where({ active: true });
      if (elementInstanceId !== undefined)
        query.whereRaw('element_instance_ids @> array[?::bigint]', [elementInstanceId]);
      if (searchText !== undefined) {
        const pattern = `%${searchText.replace(/[\\%_]/g, '\\$&')}%`;
        if (await isDistributed(knex)) {
          const found = arrayLiteral(await findNamedElements(accountId, pattern));
          query.whereRaw('(name ilike ? or element_instance_ids && ?::bigint[])', [pattern, found]);
        } else {
          query.whereRaw(
            `(formula_instance.name ilike :pattern or exists (select from instance
               where instance.id = any(formula_instance.element_instance_ids) and element_key ilike :pattern))`,
            { pattern },
          );
        }
      }
      return (await query).map(toListed);
    },

    insert: async (
      owner: Pick<FormulaInstance, 'accountId' | 'userId' | 'formulaAccountId' | 'formulaId'>,
      change: InstanceChange,
    ): Promise<number> => {
      const inserted = await knex('formula_instance')
        .insert({ ...toColumns('formula_instance', owner), ...columnsOfChange(knex, change) })
        .returning('id');
      return firstOf(inserted).id;
    },

    /** Changes a locked formula instance. */
    update: async (key: FormulaInstanceKey, change: InstanceChange): Promise<void> => {
      await knex('formula_instance')
        .where(ofKey(key))
        .update({ ...columnsOfChange(knex, change), failures: 0, updated_at: knex.fn.now() });
    },

    /** Deletes a formula instance, and cancels its executions that have not ended. */
    remove: async (key: FormulaInstanceKey): Promise<void> => {
      await knex.raw(
        `with ended as (
           delete from formula_run where account_id = :accountId and formula_instance_id = :id returning id, execution_at
         )
         update formula_execution set status = 'cancelled', updated_at = now() from ended
         where formula_execution.account_id = :accountId and formula_execution.created_at = ended.execution_at
           and formula_execution.id = ended.id and status in ('pending', 'retry')`,
        { ...key },
      );
      await knex('formula_instance').where(ofKey(key)).delete();
    },

    countOfFormula: async (formula: FormulaKey): Promise<number> => {
      const rows = await knex('formula_instance').where(ofFormula(formula)).count({ count: '*' });
      return Number(firstOf(rows).count);
    },

    /** Returns the accounts that have instances of a formula. */
    listAccountsOfFormula: async (formula: FormulaKey): Promise<readonly number[]> =>
      knex('formula_instance').where(ofFormula(formula)).distinct().pluck('account_id'),

    /** Returns the other accounts of the same organizations whose element instances the formula instances of some accounts name. */
    listNamedAccounts: async (accountIds: readonly number[]): Promise<readonly number[]> => {
      if (await isDistributed(knex)) return listNamedOnNodes(accountIds);
      const { rows } = await knex.raw<{ rows: { accountId: number }[] }>(
        `select distinct e.account_id as "accountId"
         from formula_instance i
         join instance e on e.id = any(i.element_instance_ids) and e.account_id <> i.account_id
         join account own on own.id = i.account_id
         join account other on other.id = e.account_id and other.organization_id = own.organization_id
         where i.account_id = any(?::bigint[])`,
        [[...accountIds]],
      );
      return rows.map(({ accountId }) => accountId);
    },

    /** Locks instances of a formula until the end of the transaction, in the order of their ids. */
    lockOfFormula: async (
      formula: FormulaKey,
      { afterId, limit }: { readonly afterId: number; readonly limit: number },
    ): Promise<readonly StoredInstance[]> => {
      const query = knex('formula_instance')
        .select(COLUMNS)
        .where(ofFormula(formula))
        .where('id', '>', afterId)
        .orderBy('id')
        .limit(limit);
      if (!(await isDistributed(knex))) {
        const rows: InstanceRow[] = await query.forUpdate();
        return rows.map(toInstance);
      }
      const locked: InstanceRow[] = [];
      for (const { accountId, id } of await query)
        locked.push(...(await knex('formula_instance').select(COLUMNS).where(ofKey({ accountId, id })).forUpdate()));
      return locked.map(toInstance);
    },

    /** Changes what follows from the formula, in locked instances. */
    refresh: async (changes: readonly InstanceRefresh[]): Promise<void> => {
      await knex.raw(
        `update formula_instance set element_instance_ids = given."elementInstanceIds", next_due = given."nextDue",
           warning = given.warning
         from json_to_recordset(?::json) as given ("accountId" bigint, id bigint, "elementInstanceIds" bigint[],
           "nextDue" timestamptz, warning text)
         where formula_instance.account_id = given."accountId" and formula_instance.id = given.id`,
        [JSON.stringify(changes)],
      );
    },

    /** Moves the values of a variable to another key, in all instances of a formula. */
    renameKey: async (formula: FormulaKey, from: string, to: string): Promise<void> => {
      if (await isDistributed(knex)) return renameOnNodes(formula, from, to);
      await knex('formula_instance')
        .where(ofFormula(formula))
        .whereRaw('(configuration::jsonb) \\? ?', [from])
        .update({
          configuration: knex.raw(
            '((configuration::jsonb - ?::text) || jsonb_build_object(?::text, configuration->?::text))::json',
            [from, to, from],
          ),
        });
    },

    /** Returns those of the element instances that an organization has. `isLocking` keeps them until the end of the transaction. */
    findElementInstances: async (
      organizationId: number,
      ids: readonly number[],
      { isLocking }: { readonly isLocking: boolean },
    ): Promise<readonly ElementInstance[]> => {
      if (ids.length === 0) return [];
      const query = knex('instance')
        .whereIn('id', ids)
        .whereRaw('account_id in (select id from account where organization_id = ? and deleted_at is null)', [
          organizationId,
        ])
        .orderBy('id')
        .select({ id: 'id', accountId: 'account_id' });
      if (!isLocking) return query;
      if (!(await isDistributed(knex))) return query.forKeyShare();
      // Rows of one account at a time, each by its key.
      const locked: ElementInstance[] = [];
      for (const { id, accountId } of await query) {
        const row = await knex('instance').where({ account_id: accountId, id }).forKeyShare().first('id');
        if (row !== undefined) locked.push({ id, accountId });
      }
      return locked;
    },

    /**
     * Returns whether another formula instance of an account has a method and path by its setting `api`, or, with `orFormula`, a formula.
     * Formulas may share them: a request names its formula instance. Until the end of the transaction, no other instance gets them.
     */
    hasResource: async (
      accountId: number,
      { method, uri }: { readonly method: string; readonly uri: string },
      { instanceId, orFormula }: { readonly instanceId?: number | undefined; readonly orFormula: boolean },
    ): Promise<boolean> => {
      await knex('account').where({ id: accountId }).forNoKeyUpdate().select('id');
      const { rows } = await knex.raw<{ rows: { isThere: boolean }[] }>(
        `select (:orFormula and exists (select from formula
             where account_id = :accountId and method = :method and uri = :uri))
           or exists (select from formula_instance
             where account_id = :accountId and api_method = :method and api_path = :uri and id is distinct from :instanceId)
           as "isThere"`,
        { accountId, method, uri, orFormula, instanceId: instanceId ?? null },
      );
      return firstOf(rows).isThere;
    },

    /**
     * Deactivates the formula instances that name an element instance.
     * @returns the accounts of those that were active
     */
    deactivateNaming: async (elementInstanceId: number, warning: string): Promise<readonly number[]> => {
      const rows = await knex('formula_instance')
        .whereRaw('element_instance_ids @> array[?::bigint]', [elementInstanceId])
        .update({ active: false, next_due: null, warning, updated_at: knex.fn.now() })
        .returning('account_id');
      return [...new Set(rows.map(({ account_id }) => account_id))];
    },

    /** Lists formula instances whose time to live is over. */
    listExpired: async (now: Date, limit: number): Promise<readonly FormulaInstanceKey[]> =>
      knex('formula_instance')
        .where('expires_at', '<=', now)
        .orderBy('expires_at')
        .limit(limit)
        .select({ accountId: 'account_id', id: 'id' }),

    /** Deletes some of the formulas of a deleted account, with all that belongs to them. */
    removeOfAccount: async (accountId: number): Promise<Removal> => {
      const isSplit = await isDistributed(knex);
      for (const [table, key] of REMOVED) {
        // Each node with a copy of a table would choose other rows for a batch.
        const isCopied = isSplit && DISTRIBUTION[table]?.placement === 'reference';
        const some = isCopied
          ? ''
          : `and (${key}) in (select ${key} from ${table} where account_id = :accountId limit :limit)`;
        const { rowCount } = await knex.raw<{ rowCount: number }>(
          `delete from ${table} where account_id = :accountId ${some}`,
          { accountId, limit: BATCH },
        );
        if (rowCount > 0) return 'more';
      }
      return 'done';
    },
  };
}

function columnsOfChange(knex: Knex, { settings, configuration, elementInstanceIds, ...change }: InstanceChange) {
  const { name, active, apiMethod, apiPath, warning, nextDue, expiresAt } = change;
  return toColumns('formula_instance', {
    name,
    active,
    apiMethod,
    apiPath,
    warning,
    nextDue,
    expiresAt,
    settings: orderedJson(knex, settings),
    configuration: orderedJson(knex, configuration),
    elementInstanceIds: knex.raw('?::bigint[]', [[...elementInstanceIds]]),
  });
}

function toInstance({ settings, configuration, ...row }: InstanceRow): StoredInstance {
  // Only checked settings and values are stored.
  return {
    ...row,
    settings: settings as FormulaInstance['settings'],
    configuration: configuration as FormulaInstance['configuration'],
  };
}

interface FormulaMembers
  extends Pick<Formula, 'name' | 'description' | 'active' | 'userId' | 'singleThreaded' | 'debugLoggingEnabled'> {
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly configuration: readonly Variable[];
}

type ListedRow = InstanceRow & { readonly formula: FormulaMembers };

function toListed({ formula, ...row }: ListedRow): ListedInstance {
  const instance = toInstance(row);
  return {
    ...instance,
    formula: {
      ...formula,
      accountId: instance.formulaAccountId,
      id: instance.formulaId,
      createdAt: new Date(formula.createdAt),
      updatedAt: new Date(formula.updatedAt),
    },
  };
}
