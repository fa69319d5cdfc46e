import type { Knex } from 'knex';
import { orderedJson } from '../db/json.ts';
import { FLAG, filterable, INSTANT, INTEGER, type Selection, selectPage, TEXT } from '../db/listing.ts';
import { columnsOf, firstOf, type RowWith, toColumns } from '../db/row.ts';
import type { TemplateValues } from './check-template.ts';
import type { Formula, FormulaContent, FormulaKey } from './model.ts';

/** The formulas that a caller sees: those of the account, of the default account and, with `seesAll`, of every account. */
export interface FormulaView {
  readonly organizationId: number;
  readonly accountId: number;
  readonly seesAll: boolean;
}

interface FormulaSelection extends Selection {
  /** Restricts the list to formulas that this one can call. */
  readonly callableBy?: number | undefined;
}

/** A version of a template. */
export interface FormulaVersion {
  readonly version: number;
  readonly createdAt: Date;
  readonly userId: number;
}

export interface StoredVersion extends FormulaVersion {
  readonly content: FormulaContent;
}

type FormulaRow = RowWith<'formula', typeof COLUMNS>;

const COLUMNS = columnsOf('formula', [
  'account_id',
  'id',
  'user_id',
  'name',
  'description',
  'active',
  'single_threaded',
  'debug_logging_enabled',
  'engine',
  'method',
  'uri',
  'version',
  'content',
  'created_at',
  'updated_at',
]);

/** Fields that a list of formulas can be filtered by, under their names in the API. */
export const FILTERABLE_FORMULA = filterable({
  id: [INTEGER, 'id'],
  name: [TEXT, 'name'],
  active: [FLAG, 'active'],
  createdDate: [INSTANT, "date_trunc('milliseconds', created_at)"],
  accountId: [INTEGER, 'account_id'],
});

const ABRIDGED = "json_build_object('configuration', content->'configuration', 'triggers', content->'triggers')";
/** Versions that are kept whatever their age, and the age below which all are. */
const KEPT_VERSIONS = 200;
const KEPT_DAYS = 7;

const VISIBLE = `account_id in (select id from account where organization_id = :organizationId and deleted_at is null
  and (id = :accountId or default_account or :seesAll))`;

/** The ids of the formulas that a formula calls in its steps. */
const CALLED = `(select step->'properties'->>'formulaId' from json_array_elements(formula.content->'steps') step
  where step->>'type' = 'formula')`;

const CALLERS = `
  with recursive caller (id) as (
    select cast(:id as bigint)
    union
    select formula.id from formula, caller where ${VISIBLE} and caller.id::text in ${CALLED}
  )`;

export type TemplateStore = ReturnType<typeof createTemplateStore>;

/** Creates the store of formulas and their versions. Every statement names the account, or the view of the caller. */
export function createTemplateStore(knex: Knex) {
  const ofKey = ({ accountId, id }: FormulaKey) => ({ account_id: accountId, id });
  const ofVersions = ({ accountId, id }: FormulaKey) => ({ account_id: accountId, formula_id: id });
  const visible = (view: FormulaView) => knex('formula').whereRaw(VISIBLE, { ...view });
  const get = async (key: FormulaKey): Promise<Formula> => {
    const rows: FormulaRow[] = await knex('formula').where(ofKey(key)).select(COLUMNS);
    return toFormula(firstOf(rows));
  };

  return {
    find: async (view: FormulaView, id: number): Promise<Formula | undefined> => {
      const rows: FormulaRow[] = await visible(view).where({ id }).select(COLUMNS);
      return rows[0] && toFormula(rows[0]);
    },

    /** Locks a formula until the end of the transaction. */
    lock: async (key: FormulaKey): Promise<Formula | undefined> => {
      const rows: FormulaRow[] = await knex('formula').where(ofKey(key)).select(COLUMNS).forUpdate();
      return rows[0] && toFormula(rows[0]);
    },

    /** Lists the ids of formulas from old to new, each with the size of its content. */
    listSizes: async (
      view: FormulaView,
      { callableBy, ...selection }: FormulaSelection,
    ): Promise<readonly { readonly id: number; readonly bytes: number }[]> => {
      const query = selectPage(visible(view), selection);
      if (callableBy !== undefined)
        query.whereRaw(`id not in (${CALLERS} select id from caller)`, { ...view, id: callableBy });
      return query.select('id', knex.raw('octet_length(content::text) as bytes'));
    },

    /** Returns formulas from old to new, `isAbridged` without their steps. */
    findAll: async (view: FormulaView, ids: readonly number[], isAbridged: boolean): Promise<readonly Formula[]> => {
      const { content: _, ...columns } = COLUMNS;
      const parts = isAbridged ? ABRIDGED : 'content';
      const rows: FormulaRow[] = await visible(view)
        .whereIn('id', ids)
        .orderBy('id')
        .select(columns)
        .select(knex.raw(`${parts} as content`));
      return rows.map(toFormula);
    },

    insert: async (
      owner: { readonly accountId: number; readonly userId: number },
      values: TemplateValues,
      content: FormulaContent,
    ): Promise<Formula> => {
      const inserted = await knex('formula')
        .insert(toColumns('formula', { ...owner, ...values, content: orderedJson(knex, content) }))
        .returning('id');
      return get({ accountId: owner.accountId, ...firstOf(inserted) });
    },

    /** Changes a locked formula. */
    update: async (
      key: FormulaKey,
      values: TemplateValues,
      { version, content }: Pick<Formula, 'version'> & { readonly content: FormulaContent },
    ): Promise<Formula> => {
      await knex('formula')
        .where(ofKey(key))
        .update({
          ...toColumns('formula', { ...values, version, content: orderedJson(knex, content) }),
          updated_at: knex.fn.now(),
        });
      return get(key);
    },

    /** Deletes a formula with its versions. @throws what PostgreSQL says if it has instances */
    remove: async (key: FormulaKey): Promise<void> => {
      await knex('formula').where(ofKey(key)).delete();
    },

    addVersion: async (
      key: FormulaKey,
      { version, userId, content }: Omit<StoredVersion, 'createdAt'>,
    ): Promise<void> => {
      await knex('formula_version').insert({
        ...ofVersions(key),
        version,
        user_id: userId,
        content: orderedJson(knex, content),
      });
      await knex('formula_version')
        .where(ofVersions(key))
        .where('version', '<=', version - KEPT_VERSIONS)
        .whereRaw(`created_at < now() - interval '${KEPT_DAYS} days'`)
        .delete();
    },

    /** Lists versions from new to old. */
    listVersions: async (
      key: FormulaKey,
      { before, limit }: { readonly before: number | undefined; readonly limit: number },
    ): Promise<readonly FormulaVersion[]> => {
      const query = knex('formula_version')
        .where(ofVersions(key))
        .orderBy('version', 'desc')
        .limit(limit)
        .select({ version: 'version', createdAt: 'created_at', userId: 'user_id' });
      if (before !== undefined) query.where('version', '<', before);
      return query;
    },

    findVersion: async (key: FormulaKey, version: number): Promise<StoredVersion | undefined> => {
      const row = await knex('formula_version')
        .where({ ...ofVersions(key), version })
        .first('version', 'created_at', 'user_id', 'content');
      if (row === undefined) return undefined;
      return {
        version: row.version,
        createdAt: row.created_at,
        userId: row.user_id,
        // Only checked contents are stored.
        content: row.content as FormulaContent,
      };
    },

    /** Reserves ids for variables, triggers and steps. */
    nextPartIds: async (count: number): Promise<readonly number[]> => {
      const { rows } = await knex.raw<{ rows: { id: number }[] }>(
        "select nextval('formula_part_id') as id from generate_series(1, ?)",
        [count],
      );
      return rows.map(({ id }) => id);
    },

    /** Makes changes of what the formulas of an organization call take turns, until the end of the transaction. */
    lockCalls: async (organizationId: number): Promise<void> => {
      await knex('organization').where({ id: organizationId }).forNoKeyUpdate().first('id');
    },

    /** Returns those of the formulas that call the formula `id`, themselves or through others. */
    findCallers: async (
      view: FormulaView,
      id: number,
      among: readonly number[],
    ): Promise<readonly { readonly id: number; readonly name: string }[]> => {
      const { rows } = await knex.raw<{ rows: { id: number; name: string }[] }>(
        `${CALLERS} select id, name from formula where id = any(:among) and ${VISIBLE} and id in (select id from caller)
         order by id`,
        { ...view, id, among },
      );
      return rows;
    },

    /** Returns those of the formulas that a caller sees. */
    findVisible: async (view: FormulaView, ids: readonly number[]): Promise<ReadonlySet<number>> =>
      new Set(await visible(view).whereIn('id', ids).pluck('id')),

    /** Returns the formulas that a caller sees, with the number of their steps that use a resource. */
    listUsages: async (
      view: FormulaView,
      name: string,
    ): Promise<readonly { readonly id: number; readonly name: string; readonly count: number }[]> => {
      const { rows } = await knex.raw<{ rows: { id: number; name: string; count: number }[] }>(
        `select formula.id, formula.name, used.count from formula, lateral (
           select count(*)::int as count from json_array_elements(formula.content->'steps') step
           where :name = any(string_to_array(split_part(step->'properties'->>'api', '\\?', 1), '/'))
         ) used where ${VISIBLE} and used.count > 0 order by formula.id`,
        { ...view, name },
      );
      return rows;
    },
  };
}

function toFormula({ content, ...row }: FormulaRow): Formula {
  // Only checked contents are stored.
  const { configuration, triggers, steps = [] } = content as Partial<FormulaContent>;
  return { ...row, configuration: configuration ?? [], triggers: triggers ?? [], steps };
}
