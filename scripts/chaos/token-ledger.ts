import { setTimeout as sleep } from 'node:timers/promises';
import type { RefreshStep } from '../../src/instances/oauth/tokens/refresh.ts';

/** What happened, counted by the parent, which nobody kills. */
export type Ledger = ReturnType<typeof createLedger>;

export function createLedger() {
  const living = new Set<string>(['parent']);
  const presenters = new Map<string, string[]>();
  const stepsTaken: Record<RefreshStep, number> = { intending: 0, intended: 0, answered: 0, committed: 0 };
  const kills: Record<RefreshStep, number> = { intending: 0, intended: 0, answered: 0, committed: 0 };
  const failures = new Map<string, number>();
  const reviving = new Set<number>();
  const unexpected: string[] = [];
  let grants = 0;
  let calls = 0;
  let byTwoLiving = 0;
  let byOneTwice = 0;
  let afterKill = 0;

  /** A token that was presented before: by whom, and whether that process could still have used the answer. */
  function judgeRepetition(name: string, before: readonly string[]): void {
    if (before.some((other) => other !== name && living.has(other))) byTwoLiving++;
    else if (before.includes(name)) byOneTwice++;
    else afterKill++;
  }

  return {
    living,
    stepsTaken,
    kills,
    failures,
    unexpectedErrors: unexpected,
    totals: () => ({ grants, calls, byTwoLiving, byOneTwice, afterKill }),
    called: (count: number) => {
      calls += count;
    },
    granted: () => {
      grants++;
    },
    presented: (refreshToken: string, name: string) => {
      const before = presenters.get(refreshToken) ?? [];
      if (before.length > 0) judgeRepetition(name, before);
      presenters.set(refreshToken, [...before, name]);
    },
    failed: (code: string) => void failures.set(code, (failures.get(code) ?? 0) + 1),
    unexpected: (error: unknown) => void unexpected.push(String(error)),
    isBeingRevived: (id: number) => reviving.has(id),
    beginRevival: (id: number) => void reviving.add(id),
    endRevival: (id: number) => void reviving.delete(id),
    untilRefreshes: async (wanted: number, withinMs: number) => {
      const deadline = performance.now() + withinMs;
      while (grants < wanted && performance.now() < deadline) await sleep(50);
    },
  };
}
