import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { createDispatcher } from '../../src/events/dispatch/dispatcher.ts';
import type { DeliveryLease } from '../../src/events/lease.ts';
import { DEFAULT_OPTIONS } from '../../src/events/options.ts';
import type { DeliveryOutcome } from '../../src/events/outcomes/outcome-queue.ts';
import { createAgenda } from '../../src/events/sweep/agenda.ts';
import { ALL_BUCKETS } from '../support/buckets.ts';
import { ended, newLease, type Result } from '../support/outcomes.ts';

const QUICK = ended({ kind: 'delivered', durationMs: 1 });
const GROWN = 20;
/** More than it takes to grow to the most. */
const EVENTS_TO_GROW = 4_000;

/** Beyond it something never ends. */
const MOST_TURNS = 20_000;

/** @returns how many turns of the event loop it took */
async function turnsWhile(holds: () => boolean): Promise<number> {
  for (let turns = 0; turns < MOST_TURNS; turns++) {
    if (!holds()) return turns;
    await turn();
  }
  throw new Error(`This does not end: ${holds}`);
}

/** Receivers that answer in the next turn, until they hang. */
function useReceivers() {
  const hanging = new Set<number>();
  const open = new Map<number, Set<DeliveryLease>>();
  const openOf = (subscriptionId: number) => {
    const known = open.get(subscriptionId) ?? new Set();
    open.set(subscriptionId, known);
    return known;
  };
  const released: DeliveryLease[] = [];
  const outcomes = { add: ({ lease }: DeliveryOutcome) => void released.push(lease), hasRoom: () => true };
  const dispatcher = createDispatcher(createAgenda(ALL_BUCKETS), outcomes, DEFAULT_OPTIONS);

  function pump(): void {
    for (let lease = dispatcher.next(Date.now()); lease !== undefined; lease = dispatcher.next(Date.now())) push(lease);
  }

  function push(lease: DeliveryLease): void {
    openOf(lease.subscriptionId).add(lease);
    if (!hanging.has(lease.subscriptionId)) setImmediate(() => answer(lease, QUICK));
  }

  function answer(lease: DeliveryLease, result: Result): void {
    if (hanging.has(lease.subscriptionId) && result.kind === 'delivered') return;
    if (!openOf(lease.subscriptionId).delete(lease)) return;
    dispatcher.end({ ...result, lease }, 0, Date.now());
    pump();
  }

  return {
    dispatcher,
    hanging,
    released,
    answer,
    figures: () => dispatcher.figures(Date.now()),
    /** What is left is given back. */
    close: () => dispatcher.close(Date.now()),
    open: (subscriptionId: number): readonly DeliveryLease[] => [...openOf(subscriptionId)],
    send: (subscriptionId: number, count: number, more: Partial<DeliveryLease> = {}) => {
      for (let sent = 0; sent < count; sent++) {
        dispatcher.takeIn(newLease({ subscriptionId, ...more }), Date.now());
        pump();
      }
    },
  };
}

describe('the places of pushes', () => {
  it('are 8 for a subscription at first, and 64 when its receiver was quick for long', async () => {
    const { close, figures, send, open, hanging } = useReceivers();
    hanging.add(2);
    send(1, EVENTS_TO_GROW);
    send(2, 100);
    expect([open(1).length, open(2).length]).to.deep.equal([8, 8]);
    let most = 0;
    await turnsWhile(() => {
      most = Math.max(most, open(1).length);
      return figures().held > 100;
    });
    expect(most).to.equal(64);
    close();
  });

  it('are left for others when 20 receivers that were quick hang at once', async () => {
    const { close, figures, send, open, hanging } = useReceivers();
    const grown = Array.from({ length: GROWN }, (_, index) => index + 1);
    for (const subscriptionId of grown) send(subscriptionId, EVENTS_TO_GROW);
    await turnsWhile(() => figures().held > GROWN * 500);
    for (const subscriptionId of grown) hanging.add(subscriptionId);
    for (let turns = 0; turns < 10; turns++) await turn();

    const taken = figures().inFlight;
    expect(taken).to.be.within(GROWN * 8, GROWN * 8 + DEFAULT_OPTIONS.concurrency / 4);
    send(100, 1_000);
    expect(open(100)).to.have.length(8);
    // The healthy one is through while those that hang keep their places.
    const turns = await turnsWhile(() => figures().inFlight > taken || open(100).length > 0);
    expect(turns).to.be.below(300);
    close();
  });

  it('fall back to 8 after a failure', async () => {
    const { close, send, open, hanging, answer: response } = useReceivers();
    send(1, EVENTS_TO_GROW);
    await turnsWhile(() => open(1).length < 64);
    hanging.add(1);
    const [first, ...others] = open(1);
    if (first === undefined) throw new Error('nothing is under way');
    response(first, ended({ kind: 'failed', isHard: false }));
    hanging.delete(1);
    for (const lease of others) response(lease, QUICK);
    hanging.add(1);
    await turn();
    expect(open(1).length).to.be.within(8, 16);
    close();
  });

  it('are given back when a stop breaks their pushes off', async () => {
    const { dispatcher, figures, send, open, hanging, released } = useReceivers();
    hanging.add(1);
    send(1, 20);
    dispatcher.close(Date.now());
    expect(released).to.have.length(12);
    for (const lease of open(1)) dispatcher.end({ kind: 'released', lease, dueAt: new Date() }, 0, Date.now());
    // Those in flight were given back by their pushes.
    dispatcher.abandon(Date.now());
    expect(released).to.have.length(12);
    expect(figures().inFlight).to.equal(0);
  });
});
