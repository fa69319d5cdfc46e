import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAppError } from '../../src/errors.ts';
import type { InstanceKey } from '../../src/instances/instance.ts';
import type { Ledger } from './token-ledger.ts';
import type { TokenUser } from './token-user.ts';

/** The one reason for which an instance may break: its process died between the provider's answer and its storing. */
const DOCUMENTED = 'A refresh of the access was cut off before its result could be stored';
/** Longer than any lease or wait between two tries may be at the end. */
const LAST_CALL_MS = 60_000;

export function isDocumented(reason: string): boolean {
  return reason.includes(DOCUMENTED);
}

export interface End {
  /** Promises that were broken, in words. */
  readonly broken: readonly string[];
  readonly refusals: { readonly documented: number; readonly undocumented: number };
  readonly working: number;
  readonly waitingForUser: number;
}

export async function judgeEnd(input: {
  readonly user: TokenUser;
  readonly instances: readonly InstanceKey[];
  readonly ledger: Ledger;
  readonly wanted: number;
}): Promise<End> {
  const { user, instances, ledger, wanted } = input;
  const outcomes = await Promise.all(instances.map((instance) => callAtLast(user, instance)));
  const { rows }: { rows: { reason: string }[] } = await user.knex.raw('select reason from refusal');
  const documented = rows.filter(({ reason }) => isDocumented(reason)).length;
  const undocumented = rows.length - documented;
  const { grants, byTwoLiving, byOneTwice, afterKill } = ledger.totals();
  const failed = outcomes.filter((outcome) => outcome !== 'working' && !isDocumented(outcome));
  const promises: readonly (readonly [isKept: boolean, words: string])[] = [
    [grants >= wanted, `only ${grants} of ${wanted} refreshes were made in time`],
    [byTwoLiving === 0, `${byTwoLiving} refresh tokens were presented by two living processes`],
    [documented <= byOneTwice + afterKill, `${documented} instances broke with a reason that was not true`],
    [undocumented === 0, `${undocumented} instances broke without the documented reason`],
    [failed.length === 0, `instances do not work at the end: ${failed.join('; ')}`],
    [ledger.unexpectedErrors.length === 0, `unexpected: ${ledger.unexpectedErrors.slice(0, 5).join('; ')}`],
  ];
  return {
    broken: promises.filter(([isKept]) => !isKept).map(([, words]) => words),
    refusals: { documented, undocumented },
    working: outcomes.filter((outcome) => outcome === 'working').length,
    waitingForUser: outcomes.filter(isDocumented).length,
  };
}

/** @returns `working`, or why not */
async function callAtLast(user: TokenUser, instance: InstanceKey): Promise<string> {
  const deadline = performance.now() + LAST_CALL_MS;
  for (;;) {
    try {
      await user.call(instance);
      return 'working';
    } catch (error) {
      const mayPass = isAppError(error, 'PROVIDER_UNAVAILABLE') && performance.now() < deadline;
      if (!mayPass) return error instanceof Error ? error.message : String(error);
    }
    await sleep(200);
  }
}

export function printReport(input: {
  readonly end: End;
  readonly ledger: Ledger;
  readonly seconds: number;
  readonly options: Readonly<Record<string, unknown>>;
}): void {
  const { end, ledger, seconds, options } = input;
  const { grants, calls, byTwoLiving, byOneTwice, afterKill } = ledger.totals();
  const { stepsTaken, kills, failures } = ledger;
  const rows: readonly (readonly [what: string, count: unknown])[] = [
    ['refreshes granted', grants],
    ['calls (rounded down per process)', calls],
    ['killed before the intent', kills.intending],
    ['killed after the intent', kills.intended],
    ["killed after the provider's answer", kills.answered],
    ['killed after the commit', kills.committed],
    ['looks at a lease that another held', stepsTaken.intending - stepsTaken.intended - kills.intending],
    ['calls told to come back later', failures.get('PROVIDER_UNAVAILABLE') ?? 0],
    ['tokens presented by two living processes (0)', byTwoLiving],
    ['tokens presented again by the same process', byOneTwice],
    ['tokens presented again after a kill', afterKill],
    ['instances broken with the documented reason', end.refusals.documented],
    ['instances broken without it (0)', end.refusals.undocumented],
    ['instances that work at the end', end.working],
    ['instances that wait for their user at the end', end.waitingForUser],
  ];
  const width = Math.max(...rows.map(([what]) => what.length));
  for (const [what, count] of rows) console.log(`${what.padEnd(width)}  ${count}`);
  console.log(`\n${seconds.toFixed(0)} s on ${cpus().length} × ${cpus()[0]?.model}, Node.js ${process.version}`);
  console.log(JSON.stringify(options));
  console.log(end.broken.length === 0 ? 'Every promise was kept.' : `BROKEN:\n- ${end.broken.join('\n- ')}`);
}
