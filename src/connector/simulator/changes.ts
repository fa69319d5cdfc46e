import { fault } from './fault.ts';
import { json } from './response.ts';
import type { Routes } from './route.ts';
import type { Table, TableRow } from './table.ts';

/** A table that tests can have changed as by others, for polls. */
export interface Changeable {
  readonly table: Table;
  /** Returns the id of a row in the provider's API, which may differ from the key of the table. */
  readonly keyOf: (row: TableRow) => string;
  /** Returns the values of the nth created row. */
  readonly create: (number: number) => TableRow;
  /** Returns the values of the nth change. */
  readonly change: (number: number) => TableRow;
}

/**
 * Returns the command `POST /simulate/changes` with `{"table": "employees", "create": 2, "update": 3, "remove": 1}`. It creates rows,
 * changes the first ones and removes the last ones. Its response has their keys.
 */
export function changesOf(tables: Readonly<Record<string, Changeable>>): Routes {
  let number = 0;
  return {
    'POST /simulate/changes': ({ body }) => {
      const { table: name, ...counts } = body.object();
      const changeable = typeof name === 'string' && Object.hasOwn(tables, name) ? tables[name] : undefined;
      if (changeable === undefined) throw fault(400, `There are the tables ${Object.keys(tables).join(', ')}.`);
      const { create = 0, update = 0, remove = 0, ...rest } = counts;
      if (![create, update, remove].every(isCount) || Object.keys(rest).length > 0) {
        throw fault(400, 'The body must be like {"table": "…", "create": 2, "update": 3, "remove": 1}.');
      }
      const { table, keyOf } = changeable;
      const created = Array.from({ length: Number(create) }, () => keyOf(table.insert(changeable.create(number++))));
      const old = table.rows().filter((row) => !created.includes(keyOf(row)));
      const updated = old.slice(0, Number(update));
      for (const row of updated) table.update(table.keyOf(row), changeable.change(number++));
      const removed = Number(remove) === 0 ? [] : old.slice(-Number(remove));
      for (const row of removed) table.remove(table.keyOf(row));
      return json({ created, updated: updated.map(keyOf), removed: removed.map(keyOf) });
    },
  };
}

const MOST_CHANGES = 10_000;

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MOST_CHANGES;
}
