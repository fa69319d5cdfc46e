import type { TableRow } from '#connector/simulator';
import { printTime } from './time.ts';

const HIDDEN: readonly string[] = ['createdMs', 'updatedMs', 'isDeleted'];

/**
 * Without what is null.
 * @param selected names; with some, the record is sparse
 */
export function present(row: TableRow, selected: readonly string[] = []): Readonly<Record<string, unknown>> {
  const shown = Object.entries(row).filter(([name, value]) => value !== null && !HIDDEN.includes(name));
  const whole: TableRow = {
    domain: 'QBO',
    sparse: selected.length > 0,
    ...Object.fromEntries(shown),
    MetaData: { CreateTime: printTime(Number(row.createdMs)), LastUpdatedTime: printTime(Number(row.updatedMs)) },
  };
  if (selected.length === 0) return whole;
  const names = ['domain', 'sparse', ...selected.map((name) => name.split('.', 1)[0] ?? name)];
  return Object.fromEntries(Object.entries(whole).filter(([name]) => names.includes(name)));
}

/** What is left of a record that was deleted. */
export function presentDeleted({ Id, updatedMs }: TableRow) {
  return { domain: 'QBO', status: 'Deleted', Id, MetaData: { LastUpdatedTime: printTime(Number(updatedMs)) } };
}
