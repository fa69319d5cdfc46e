import { expect } from 'chai';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { DatabaseUnavailableError } from '../../src/db/unavailable.ts';
import { type Acceptance, type AcceptPorts, createAcceptor } from '../../src/events/accept/accept.ts';
import type { StoredRow } from '../../src/events/accept/accept-store.ts';
import type { NewEvent } from '../../src/events/model.ts';
import { DEFAULT_OPTIONS } from '../../src/events/options.ts';
import { createAgenda } from '../../src/events/sweep/agenda.ts';
import type { ClaimStore, DueEndpoint, Share } from '../../src/events/sweep/claim-store.ts';
import { claimDue } from '../../src/events/sweep/sweep.ts';
import { ALL_BUCKETS } from '../support/buckets.ts';
import { plainSource } from '../support/events.ts';
import { failureOf } from '../support/failures.ts';
import { until } from '../support/until.ts';
import { createVirtualClock } from '../support/virtual-clock.ts';

const [A, B] = [1, 2];

function newEvent(accountId: number): NewEvent {
  return { accountId, instanceId: accountId, type: 'orders.created' };
}

/** The ports of an acceptor, except the store. */
const PORTS: Omit<AcceptPorts, 'store'> = {
  storeTogether: () => Promise.reject(new Error('No event of this test starts a formula.')),
  findEndpoints: async () => undefined,
  findTriggered: async () => undefined,
  findSource: async (accountId, instanceId) => ({
    ...plainSource(accountId, instanceId),
    callbackUrl: 'https://receiver.example.com/',
  }),
  ensureSubscription: async (accountId, url) => ({
    accountId,
    id: accountId,
    url,
    host: 'hooks.example.com',
    state: 'active',
    eventTypes: ['*'],
    secrets: [],
  }),
  settings: async () => ({ failurePolicy: 'queue', retryCount: 5 }),
  newEventId: () => crypto.randomUUID(),
  clock: SYSTEM_CLOCK,
  options: DEFAULT_OPTIONS,
};

describe('accepting events of two tenants', () => {
  interface Write {
    readonly rows: readonly Acceptance[];
    readonly end: () => void;
  }

  /** Statements end when they are told to. */
  function useAcceptor() {
    const writes: Write[] = [];
    const acceptor = createAcceptor({
      ...PORTS,
      store: (rows) =>
        new Promise<ReadonlyMap<string, StoredRow>>((resolve) => {
          const stored = rows.map(({ eventId }) => [eventId, { deliveryId: 1, state: 'queued' }] as const);
          writes.push({ rows, end: () => resolve(new Map(stored)) });
        }),
    });
    return { acceptor, writes };
  }

  it('refuses what one has beyond its share, and takes what the other sends', async () => {
    const { acceptor, writes } = useAcceptor();
    const calls = Array.from({ length: 100 }, () => acceptor.accept(Array.from({ length: 100 }, () => newEvent(A))));
    await until(() => writes.length === DEFAULT_OPTIONS.acceptsInFlight);
    expect(await failureOf(acceptor.accept([newEvent(A)]))).to.include({
      code: 'OVERLOADED',
      message: 'Too many events are waiting to be stored. Try again later.',
    });
    const other = acceptor.accept([newEvent(B)]);
    for (let write = 0; write < 100 && write < writes.length; write++) {
      writes[write]?.end();
      await until(() => writes.length > write + 1 || writes.flatMap(({ rows }) => rows).length === 10_001);
    }
    for (const { end } of writes) end();
    expect((await other).eventIds).to.have.length(1);
    await Promise.all(calls);
    // It had not to wait for what was there before it.
    const found = writes.findIndex(({ rows }) => rows.some(({ accountId }) => accountId === B));
    expect(found).to.equal(DEFAULT_OPTIONS.acceptsInFlight);
    expect(writes.length).to.be.greaterThan(15);
    await acceptor.stop();
  });
});

describe('accepting events of two tenants while a node of the database is lost', () => {
  /**
   * Accepts one event of A and one of B. A statement that has an event of A fails after `afterMs`.
   * @returns the tenants in each statement, and whether each event was accepted
   */
  async function acceptBoth({ afterMs = 0, code = '08006' } = {}) {
    const clock = createVirtualClock();
    const lost = new DatabaseUnavailableError('lost', { cause: Object.assign(new Error('lost'), { code }) });
    const statements: (readonly number[])[] = [];
    const acceptor = createAcceptor({
      ...PORTS,
      clock,
      store: async (rows) => {
        statements.push(rows.map(({ accountId }) => accountId));
        if (rows.some(({ accountId }) => accountId === A)) {
          await clock.advance(afterMs);
          throw lost;
        }
        return new Map(rows.map(({ eventId }) => [eventId, { deliveryId: 1, state: 'queued' }] as const));
      },
    });
    const results = await Promise.allSettled([A, B].map((accountId) => acceptor.accept([newEvent(accountId)])));
    await acceptor.stop();
    return { statements, results: results.map(({ status }) => status) };
  }

  it('refuses those of the tenants on this node only', async () => {
    expect(await acceptBoth()).to.deep.equal({ statements: [[A, B], [A], [B]], results: ['rejected', 'fulfilled'] });
  });

  it('refuses the rest when the node fails too slowly', async () => {
    expect(await acceptBoth({ afterMs: 5_000 })).to.deep.equal({
      statements: [[A, B], [A]],
      results: ['rejected', 'rejected'],
    });
  });

  it('repeats nothing that may have been committed', async () => {
    expect(await acceptBoth({ code: 'ECONNRESET' })).to.deep.equal({
      statements: [[A, B]],
      results: ['rejected', 'rejected'],
    });
  });
});

describe('sweeping for two tenants', () => {
  const SUBSCRIPTIONS = 4_000;

  it('claims for one at once, however many subscriptions of the other are due before it', async () => {
    const due = Array.from(
      { length: SUBSCRIPTIONS },
      (_, index): DueEndpoint => ({
        accountId: index === SUBSCRIPTIONS - 1 ? B : A,
        subscriptionId: index + 1,
        url: `https://receiver.example.com/${index}`,
        dueFirsts: false,
        dueRetries: true,
      }),
    );
    const claims: (readonly Share[])[] = [];
    const wanted = new Set<number>();
    const stopping = new AbortController();
    const store = {
      fewDue: async () => undefined,
      endpoints: async (afterId: number, visits: number) => due.slice(afterId, afterId + visits),
      claim: async (shares: readonly Share[]) => {
        claims.push(shares);
        if (claims.length > 3) stopping.abort();
        return [];
      },
      orderedHeads: async () => [],
      claimHeads: async () => [],
      payloads: async () => new Map(),
    } satisfies Partial<ClaimStore>;
    const sweep = claimDue({
      store,
      buckets: ALL_BUCKETS,
      room: {
        sweepRoom: () => ({ firsts: 1_000, retries: 1_000 }),
        accountRoom: (accountId) => (accountId === A ? 20 : 500),
        wantRoom: (accountId) => void wanted.add(accountId),
        hasBytes: () => true,
        freeBytes: () => 1,
      },
      agenda: createAgenda(ALL_BUCKETS),
      owner: 'o',
      clock: SYSTEM_CLOCK,
      random: { fraction: Math.random },
      options: DEFAULT_OPTIONS,
      signal: stopping.signal,
    });
    expect(await Array.fromAsync(sweep)).to.deep.equal([]);

    expect(claims[0]?.some(({ subscriptionId }) => subscriptionId === SUBSCRIPTIONS)).to.equal(true);
    // Of the other no more than there is room for it, in all subscriptions of one statement together.
    for (const shares of claims) {
      const taken = shares.filter(({ subscriptionId }) => subscriptionId < SUBSCRIPTIONS);
      expect(taken.reduce((sum, { limit }) => sum + limit, 0)).to.equal(20);
    }
    expect([...wanted]).to.deep.equal([A]);
  });
});
