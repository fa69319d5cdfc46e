import type { Knex } from 'knex';
import { boundColumnsOf } from './bound-values.ts';
import { isDistributed } from './distributed.ts';
import {
  ENCRYPTED_COLUMNS,
  type EncryptedColumn,
  type EncryptedColumnSpec,
  type KeyValue,
} from './encrypted-columns.ts';

/** A ciphertext with its row. */
export interface EncryptedRow {
  /** Key values, in the order of `ENCRYPTED_COLUMNS`. */
  readonly key: readonly KeyValue[];
  /** Values that the ciphertext is bound to in addition to its key. */
  readonly bound: readonly unknown[];
  readonly ciphertext: string;
}

export interface Renewal extends EncryptedRow {
  readonly renewed: string;
}

export type EncryptedRows = ReturnType<typeof createEncryptedRows>;

/** Creates access to the encrypted rows of all tenants, because the keys of the platform belong to no tenant. */
export function createEncryptedRows(knex: Knex, column: EncryptedColumn) {
  const { table, name, keyColumns, keyTypes, keyIdOf } = partsOf(column);
  const keyList = keyColumns.join(', ');
  const boundColumns = boundColumnsOf(column);
  const valueList = [...keyColumns, ...boundColumns, `${name} as ciphertext`].join(', ');
  const sameKey = (left: string, right: string) =>
    keyColumns.map((part) => `${left}.${part} = ${right}.${part}`).join(' and ');

  async function findKeyIdsByStep(): Promise<string[]> {
    const ids: string[] = [];
    for (;;) {
      const isAfter = ids.length === 0 ? '' : `and ${keyIdOf} > ?`;
      const { rows } = await knex.raw<{ rows: { id: string | null }[] }>(
        `select min(${keyIdOf}) as id from ${table} where ${name} is not null ${isAfter}`,
        ids.slice(-1),
      );
      const id = rows[0]?.id ?? null;
      if (id === null) return ids;
      ids.push(id);
    }
  }

  /** Each row is on a node of its own. */
  async function replaceByRow(renewals: readonly Renewal[]): Promise<number> {
    let replaced = 0;
    for (const renewal of renewals) {
      const { rowCount } = await knex.raw<{ rowCount: number }>(
        `update ${table} set ${name} = ? where ${keyColumns.map((part) => `${part} = ?`).join(' and ')} and ${name} = ?
           and jsonb_build_array(${boundColumns.join(', ')}) = ?::jsonb`,
        [renewal.renewed, ...renewal.key, renewal.ciphertext, JSON.stringify(renewal.bound)],
      );
      replaced += rowCount;
    }
    return replaced;
  }

  return {
    /**
     * Returns the ids of the keys in use. The query jumps from one key to the next along an index of `keyIdOf`, so it needs one step per
     * key, however many rows there are. A distributed database takes no such query over its nodes, so the steps are single queries there.
     */
    findKeyIds: async (): Promise<string[]> => {
      if (await isDistributed(knex)) return findKeyIdsByStep();
      const { rows } = await knex.raw<{ rows: { id: string }[] }>(
        `with recursive used as (
          select min(${keyIdOf}) as id from ${table} where ${name} is not null
          union all
          select (select min(${keyIdOf}) from ${table} where ${name} is not null and ${keyIdOf} > used.id)
          from used where used.id is not null
        )
        select id from used where id is not null`,
      );
      return rows.map(({ id }) => id);
    },

    count: async (keyIds: readonly string[]): Promise<number> => {
      const { rows } = await knex.raw<{ rows: { count: number }[] }>(
        `select count(*) as count from ${table} where ${name} is not null and ${keyIdOf} = any(?)`,
        [[...keyIds]],
      );
      return rows[0]?.count ?? 0;
    },

    /** Reads the next rows under one encryption key, in the order of their own keys. An index has this order for each key. */
    read: async (keyId: string, limit: number, after?: EncryptedRow): Promise<EncryptedRow[]> => {
      const isAfter = after === undefined ? '' : `and (${keyList}) > (${keyColumns.map(() => '?').join(', ')})`;
      const { rows } = await knex.raw<{ rows: (Record<string, KeyValue> & { ciphertext: string })[] }>(
        `select ${valueList} from ${table}
        where ${name} is not null and ${keyIdOf} = ? ${isAfter}
        order by ${keyList} limit ?`,
        [keyId, ...(after?.key ?? []), limit],
      );
      return rows.map((row) => ({
        key: keyColumns.map((part) => assertPart(row[part])),
        bound: boundColumns.map((part) => row[part]),
        ciphertext: row.ciphertext,
      }));
    },

    /**
     * Replaces ciphertexts. It skips rows whose ciphertext or bound values changed meanwhile, and locked rows. So it overwrites no change,
     * and never waits while it holds locks.
     * @returns the number of replaced rows
     */
    replace: async (renewals: readonly Renewal[]): Promise<number> => {
      if (await isDistributed(knex)) return replaceByRow(renewals);
      const { rowCount } = await knex.raw<{ rowCount: number }>(
        `with renewal as (
          select * from jsonb_to_recordset(?::jsonb) as renewal(${keyTypes}, bound jsonb, old_ciphertext text, new_ciphertext text)
        ), held as (
          select renewal.* from ${table} as target join renewal on ${sameKey('target', 'renewal')}
          where target.${name} = renewal.old_ciphertext
            and jsonb_build_array(${boundColumns.map((part) => `target.${part}`).join(', ')}) = renewal.bound
          for update of target skip locked
        )
        update ${table} as target set ${name} = held.new_ciphertext from held where ${sameKey('target', 'held')}`,
        [JSON.stringify(renewals.map((renewal) => toRecord(keyColumns, renewal)))],
      );
      return rowCount;
    },
  };
}

function partsOf(column: EncryptedColumn) {
  const { key }: EncryptedColumnSpec = ENCRYPTED_COLUMNS[column];
  const [table = '', name = ''] = column.split('.');
  return {
    table,
    name,
    keyColumns: Object.keys(key),
    keyTypes: Object.entries(key)
      .map(([part, type]) => `${part} ${type}`)
      .join(', '),
    // Written as in the indexes.
    keyIdOf: `split_part(${name}, '.', 2)`,
  };
}

function toRecord(
  keyColumns: readonly string[],
  { key, bound, ciphertext, renewed }: Renewal,
): Record<string, unknown> {
  const parts = keyColumns.map((part, at) => [part, toJson(assertPart(key[at]))]);
  return { ...Object.fromEntries(parts), bound, old_ciphertext: ciphertext, new_ciphertext: renewed };
}

function toJson(value: KeyValue): string | number {
  return Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value;
}

function assertPart(value: KeyValue | undefined): KeyValue {
  if (value === undefined) throw new Error('A row was read without its key');
  return value;
}
