import { expect } from 'chai';
import { createRateBudgets } from '../../src/resources/rate-budget/index.ts';
import { createVirtualClock } from '../support/virtual-clock.ts';

const INSTANCE = { accountId: 1, id: 2 };
const { signal } = new AbortController();

describe('what providers tell of their limits', () => {
  const clock = createVirtualClock();
  const budgets = createRateBudgets({ clock });
  const gate = budgets.gateOf(INSTANCE);

  function tell(state: Parameters<typeof gate.heard>[1]): void {
    expect(gate.take(signal)).to.equal(undefined);
    gate.heard(gate.sent(), state);
    gate.ended();
  }

  it('is known of its instance, with the time that is left, until the limit is new', async () => {
    tell({ limit: 100, remaining: 3, resetSeconds: 30 });
    await clock.advance(10_000);
    expect(budgets.find(INSTANCE)).to.deep.equal({ limit: 100, remaining: 3, resetSeconds: 20 });
    expect(budgets.find({ ...INSTANCE, accountId: 2 })).to.equal(undefined);
    await clock.advance(20_000);
    expect(budgets.find(INSTANCE)).to.equal(undefined);
  });

  it('is known for a minute where nothing tells when the limit is new', async () => {
    tell({ limit: 100, remaining: 3 });
    expect(budgets.find(INSTANCE)).to.deep.equal({ limit: 100, remaining: 3, resetSeconds: 60 });
    await clock.advance(60_000);
    expect(budgets.find(INSTANCE)).to.equal(undefined);
  });

  it('is what was told last', () => {
    tell({ limit: 100, remaining: 3, resetSeconds: 30 });
    tell({ limit: 100, remaining: 99, resetSeconds: 60 });
    expect(budgets.find(INSTANCE)).to.include({ remaining: 99 });
  });

  it('never holds the calls of a process that shares its limits with no other', () => {
    tell({ limit: 100, remaining: 0, resetSeconds: 60 });
    for (let calls = 0; calls < 1000; calls++) expect(gate.take(signal)).to.equal(undefined);
  });

  it('leaves nothing to background work as long as the provider requested to wait', async () => {
    const other = { accountId: 1, id: 3 };
    const refused = budgets.gateOf(other);
    refused.take(signal);
    refused.refused(refused.sent(), 7_000);
    expect(budgets.find(other)).to.deep.equal({ limit: 1, remaining: 0, resetSeconds: 7 });
    await clock.advance(7_000);
    expect(budgets.find(other)).to.equal(undefined);
  });
});
