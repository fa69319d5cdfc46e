import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { Lease } from '../../src/events/lease.ts';
import { DEFAULT_OPTIONS } from '../../src/events/options.ts';
import { createDispatcher, type PushResult } from '../../src/events/push/dispatch.ts';

const QUICK: PushResult = { kind: 'delivered', durationMs: 1 };
const GROWN = 20;
/** More than it takes to grow to the most. */
const EVENTS_TO_GROW = 4_000;

/** Beyond it something never ends. */
const MOST_TURNS = 20_000;

let lastId = 0;

/** @returns how many turns of the event loop it took */
async function turnsWhile(holds: () => boolean): Promise<number> {
  for (let turns = 0; turns < MOST_TURNS; turns++) {
    if (!holds()) return turns;
    await turn();
  }
  throw new Error(`This does not end: ${holds}`);
}

function newLease(subscriptionId: number, more: Partial<Lease> = {}): Lease {
  return {
    accountId: 1,
    id: ++lastId,
    subscriptionId,
    host: 'receiver.example.com',
    owner: 'o',
    attempts: 0,
    retries: 0,
    firstFailedAtMs: undefined,
    eventId: 'e',
    instanceId: 1,
    ordered: false,
    body: Buffer.alloc(10),
    acceptedAtMs: undefined,
    ...more,
  };
}

/** Receivers that answer in the next turn, until they hang. */
function useReceivers() {
  const hanging = new Set<number>();
  const open = new Map<number, Map<Lease, (result: PushResult) => void>>();
  const openOf = (subscriptionId: number) => {
    const known = open.get(subscriptionId) ?? new Map();
    open.set(subscriptionId, known);
    return known;
  };
  const released: Lease[] = [];
  const dispatcher = createDispatcher({
    push: (lease) =>
      new Promise((resolve) => {
        openOf(lease.subscriptionId).set(lease, resolve);
        if (!hanging.has(lease.subscriptionId)) setImmediate(() => answer(lease, QUICK));
      }),
    release: (lease) => void released.push(lease),
    abort: () => {
      for (const leases of open.values()) for (const lease of leases.keys()) answer(lease, { kind: 'released' });
    },
    canStart: () => true,
    onRoom: () => undefined,
    onClosed: () => undefined,
    now: Date.now,
    options: DEFAULT_OPTIONS,
  });

  function answer(lease: Lease, result: PushResult): void {
    if (hanging.has(lease.subscriptionId) && result.kind === 'delivered') return;
    openOf(lease.subscriptionId).get(lease)?.(result);
    openOf(lease.subscriptionId).delete(lease);
  }

  return {
    dispatcher,
    hanging,
    released,
    answer,
    open: (subscriptionId: number): readonly Lease[] => [...openOf(subscriptionId).keys()],
    send: (subscriptionId: number, count: number, more: Partial<Lease> = {}) => {
      for (let sent = 0; sent < count; sent++) dispatcher.enqueue(newLease(subscriptionId, more), false);
    },
  };
}

describe('the places of pushes', () => {
  it('are 8 for a subscription at first, and 64 when its receiver was quick for long', async () => {
    const { dispatcher, send, open, hanging } = useReceivers();
    hanging.add(2);
    send(1, EVENTS_TO_GROW);
    send(2, 100);
    expect([open(1).length, open(2).length]).to.deep.equal([8, 8]);
    let most = 0;
    await turnsWhile(() => {
      most = Math.max(most, open(1).length);
      return dispatcher.figures().held > 100;
    });
    expect(most).to.equal(64);
    await dispatcher.drain(0);
  });

  it('are left for others when 20 receivers that were quick hang at once', async () => {
    const { dispatcher, send, open, hanging } = useReceivers();
    const grown = Array.from({ length: GROWN }, (_, index) => index + 1);
    for (const subscriptionId of grown) send(subscriptionId, EVENTS_TO_GROW);
    await turnsWhile(() => dispatcher.figures().held > GROWN * 500);
    for (const subscriptionId of grown) hanging.add(subscriptionId);
    for (let turns = 0; turns < 10; turns++) await turn();

    const taken = dispatcher.figures().inFlight;
    expect(taken).to.be.within(GROWN * 8, GROWN * 8 + DEFAULT_OPTIONS.concurrency / 4);
    send(100, 1_000);
    expect(open(100)).to.have.length(8);
    // The healthy one is through while those that hang keep their places.
    const turns = await turnsWhile(() => dispatcher.figures().inFlight > taken || open(100).length > 0);
    expect(turns).to.be.below(300);
    await dispatcher.drain(0);
  });

  it('fall back to 8 after a failure', async () => {
    const { dispatcher, send, open, hanging, answer } = useReceivers();
    send(1, EVENTS_TO_GROW);
    await turnsWhile(() => open(1).length < 64);
    hanging.add(1);
    const [first, ...others] = open(1);
    if (first === undefined) throw new Error('nothing is under way');
    answer(first, { kind: 'failed', hard: false });
    hanging.delete(1);
    for (const lease of others) answer(lease, QUICK);
    hanging.add(1);
    await turn();
    expect(open(1).length).to.be.within(8, 16);
    await dispatcher.drain(0);
  });

  it('are given back when a stop breaks their pushes off', async () => {
    const { dispatcher, send, open, hanging, released } = useReceivers();
    hanging.add(1);
    send(1, 20);
    await dispatcher.drain(0);
    expect(open(1)).to.deep.equal([]);
    // Those in flight were given back by their pushes.
    expect(released).to.have.length(12);
    expect(dispatcher.figures().inFlight).to.equal(0);
  });
});
