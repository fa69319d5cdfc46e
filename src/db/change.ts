import type { Knex } from 'knex';
import { type AuditEntry, currentTrace } from '../trace.ts';
import { writeEntry } from './audit-row.ts';
import { isDistributed, SEQUENTIAL } from './distributed.ts';
import { repeatGivenUp } from './given-up.ts';

/**
 * Details of a completed change for the audit log. `action` overrides the operation's name if the work turned out to
 * be a different one.
 */
export type ChangeNote = Partial<Pick<AuditEntry, 'action' | 'targetId' | 'instanceId' | 'changes'>>;

/** The work of a transaction. */
type Work<Result> = (via: Knex.Transaction) => Promise<Result>;

const SUCCESS = 200;
/** Any number: the transaction that holds this advisory lock of the coordinator changes tables that each node has a copy of. */
const TURN = 7_205_111;

/**
 * Runs a transaction that changes something for a caller. The entry of the audit log is part of it, so there is no change without an entry,
 * and no entry of a change that was rolled back. If nothing changes, `work` must throw. Several changes of one request share one entry, and
 * each adds its own. Work that no caller requested has none. `note` returns the changes from the result of the work.
 *
 * If the database ends the transaction because of others, it runs again. So `work` and `note` must change nothing outside of the
 * transaction, except what the next run replaces.
 */
export function change<Result>(knex: Knex, work: Work<Result>, note?: (result: Result) => ChangeNote): Promise<Result> {
  return run(knex, inSequence(work), note);
}

/**
 * Runs a change of tables that each node of a distributed database has a copy of (`reference` in `distribution.ts`). Such a database locks
 * these tables as a whole, and with them those that they reference. Two transactions with several statements would nearly always block each
 * other, so they take turns there. Otherwise it is `change`.
 */
export function changeInTurn<Result>(
  knex: Knex,
  work: Work<Result>,
  note?: (result: Result) => ChangeNote,
): Promise<Result> {
  return run(knex, inSequence(work, `select pg_advisory_xact_lock(${TURN})`), note);
}

async function run<Result>(knex: Knex, work: Work<Result>, note?: (result: Result) => ChangeNote): Promise<Result> {
  const entry = currentTrace()?.audit;
  if (entry === undefined || (entry.isWritten && note === undefined))
    return repeatGivenUp(() => knex.transaction(work));
  const { result, told: recorded } = await repeatGivenUp(() =>
    knex.transaction(async (via) => {
      const done = await work(via);
      const noted = withNote(entry, note?.(done));
      await writeEntry(via, noted, SUCCESS);
      return { result: done, told: noted };
    }),
  );
  Object.assign(entry, recorded, { isWritten: true });
  return result;
}

/**
 * Does something when the transaction (`via`) commits, before the caller of the transaction continues; at once without one. After a rollback
 * it is not done. Within a savepoint, it is done at the end of the savepoint already.
 */
export function onCommit(via: Knex | undefined, react: () => void): void {
  if (via?.isTransaction) (via as Knex.Transaction).executionPromise.then(react, () => {});
  else react();
}

/**
 * Does the work with one connection to each node of a distributed database. Otherwise a statement on all nodes prevents a later change of a
 * table that each node has a copy of.
 * @param first a statement before the work, on a distributed database
 */
function inSequence<Result>(work: Work<Result>, first?: string): Work<Result> {
  return async (via) => {
    if (await isDistributed(via)) await via.raw(first === undefined ? SEQUENTIAL : `${SEQUENTIAL}; ${first}`);
    return work(via);
  };
}

function withNote(entry: AuditEntry, { changes, ...note }: ChangeNote = {}): AuditEntry {
  return { ...entry, ...note, ...(changes !== undefined && { changes: { ...entry.changes, ...changes } }) };
}

type StateMembers = Readonly<Record<string, unknown>>;

/** A member before and after a change. `from` is absent for a new member, and `to` for a removed one. */
interface Difference {
  readonly from?: unknown;
  readonly to?: unknown;
}

/**
 * Returns the differences between two states, by member. `show` replaces values that are not for everybody, such as
 * secrets: the original values are compared, and the replacements are returned. An undefined member counts as absent.
 */
export function differences(
  before: StateMembers,
  after: StateMembers,
  show: (name: string, value: unknown) => unknown = (_, value) => value,
): Readonly<Record<string, Difference>> {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changeOf = (side: 'from' | 'to', name: string, value: unknown) =>
    value === undefined ? {} : { [side]: show(name, value) };
  return Object.fromEntries(
    names
      .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
      .map((name) => [name, { ...changeOf('from', name, before[name]), ...changeOf('to', name, after[name]) }]),
  );
}
