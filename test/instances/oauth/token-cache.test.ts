import { expect } from 'chai';
import { SYSTEM_CLOCK } from '../../../src/clock.ts';
import { createRefresh, REFRESH_TIMING } from '../../../src/instances/oauth/tokens/refresh.ts';
import { createTokenCache } from '../../../src/instances/oauth/tokens/token-cache.ts';
import type { TokenRow } from '../../../src/instances/oauth/tokens/token-store.ts';
import { createMetrics } from '../../../src/metrics.ts';
import { silentLog } from '../../support/database.ts';
import { leastConnector } from '../../support/least-connector.ts';

const KEY = { accountId: 1, id: 7 };
const ROW: Omit<TokenRow, 'tokens' | 'generation'> = {
  interrupted: false,
  failures: 0,
  refusedReason: null,
  expiresInMs: null,
  refreshInMs: null,
  retryInMs: null,
};

/** Tokens over a database that answers when it is told to, and a notifier that tells what it is told. */
function setUp() {
  const reads: PromiseWithResolvers<TokenRow>[] = [];
  const handlers: ((payload: string) => void)[] = [];
  const gapHandlers: (() => void)[] = [];
  const store = {
    find: () => {
      const read = Promise.withResolvers<TokenRow>();
      reads.push(read);
      return read.promise;
    },
  };
  const platform = {
    keyring: { encrypt: (text: string) => text, decrypt: (text: string) => text },
    notifier: {
      publish: async () => {},
      subscribe: (_topic: string, handler: (payload: string) => void) => {
        handlers.push(handler);
        return () => {};
      },
      onGap: (handler: () => void) => {
        gapHandlers.push(handler);
        return () => {};
      },
    },
    clock: { steady: () => 0 },
  };
  const cache = createTokenCache(platform, store);
  return {
    cache,
    hear: (payload: string) => handlers.forEach((handler) => void handler(payload)),
    loseTouch: () => gapHandlers.forEach((handler) => void handler()),
    answer: (read: number, generation: number) => {
      const tokens = JSON.stringify({ accessToken: `token ${generation}` });
      reads[read]?.resolve({ ...ROW, tokens, generation });
    },
    reads: () => reads.length,
  };
}

describe('tokens in memory', () => {
  for (const [news, tell] of Object.entries({
    'a change': ({ hear }: ReturnType<typeof setUp>) => hear('1:7'),
    'newer tokens': ({ hear }: ReturnType<typeof setUp>) => hear('1:7:2'),
    'lost announcements': ({ loseTouch }: ReturnType<typeof setUp>) => loseTouch(),
  })) {
    it(`are not kept when ${news} came while they were read, and are read anew by who asks later`, async () => {
      const setup = setUp();
      const { cache, answer: response } = setup;
      const early = cache.read(KEY);
      tell(setup);
      const late = cache.read(KEY);
      response(0, 1);
      expect(await early).to.include({ accessToken: 'token 1' });
      expect(cache.peek(KEY)).to.equal(undefined);
      response(1, 2);
      expect(await late).to.include({ accessToken: 'token 2' });
      expect(cache.peek(KEY)).to.equal(await late);
      expect(setup.reads()).to.equal(2);
    });
  }

  it('are dropped at the commit of a change, before its announcement comes back', async () => {
    const { cache, answer } = setUp();
    const commit = Promise.withResolvers<void>();
    await cache.changed(KEY, { isTransaction: true, executionPromise: commit.promise } as never);
    const meanwhile = cache.read(KEY);
    answer(0, 1);
    await meanwhile;
    commit.resolve();
    await commit.promise;
    expect(cache.peek(KEY)).to.equal(undefined);
  });

  it('are kept though those of another instance changed while they were read', async () => {
    const { cache, answer: response, hear } = setUp();
    const read = cache.read(KEY);
    hear('1:8');
    hear('2:7:9');
    response(0, 1);
    await read;
    expect(cache.peek(KEY)).to.include({ generation: 1 });
  });

  it('stay when the announcement is of what is already there', async () => {
    const { cache, answer: response, hear } = setUp();
    const read = cache.read(KEY);
    response(0, 2);
    await read;
    hear('1:7:2');
    expect(cache.peek(KEY)).to.include({ generation: 2 });
    hear('1:7:3');
    expect(cache.peek(KEY)).to.equal(undefined);
  });

  it('are read again by a reload, whatever is in memory or being read', async () => {
    const { cache, answer: response, reads } = setUp();
    const read = cache.read(KEY);
    const reload = cache.reload(KEY);
    expect(reads()).to.equal(2);
    response(1, 2);
    response(0, 1);
    expect(await reload).to.include({ generation: 2 });
    expect(await read).to.include({ generation: 1 });
    expect(cache.peek(KEY)).to.include({ generation: 2 });
    const again = cache.reload(KEY);
    response(2, 3);
    expect(await again).to.include({ generation: 3 });
    expect(cache.peek(KEY)).to.include({ generation: 3 });
  });

  it('stay when they are new, though a read from before ends after', async () => {
    const { cache, answer: response } = setUp();
    const read = cache.read(KEY);
    const row = { generation: 2, expiresInMs: null, refreshInMs: null };
    const fresh = cache.keepNew(KEY, { accessToken: 'new' }, row, cache.watch(KEY));
    response(0, 1);
    expect(await read).to.include({ generation: 1 });
    expect(cache.peek(KEY)).to.equal(fresh);
  });

  it('are not kept when a newer authentication is announced before their commit is confirmed', async () => {
    const { cache, hear, answer } = setUp();
    const [committed, confirmed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const tokens = JSON.stringify({ accessToken: 'old', refreshToken: 'r' });
    const store = {
      takeLease: async () => ({ ...ROW, tokens, generation: 1, isTakenOver: false }),
      commit: async () => {
        committed.resolve();
        await confirmed.promise;
        return { generation: 2, wasRefused: false };
      },
    };
    const refresh = createRefresh(
      {
        clock: SYSTEM_CLOCK,
        log: silentLog,
        metrics: createMetrics({ processMetrics: false }),
        random: undefined,
      } as never,
      {
        store: store as never,
        cache,
        records: {} as never,
        requestToken: async () => ({ accessToken: 'refreshed', expiresInSeconds: 3_600, values: {} }),
        timing: REFRESH_TIMING,
        onStep: undefined,
      },
    );
    const auth = { type: 'oauth2', tokenUrl: () => 'https://strict.example.com/token' };
    const owner = { ...KEY, connector: leastConnector({ auth: auth as never }), config: {} } as never;
    const renewed = refresh.renew(owner, { generation: 1 } as never);
    await committed.promise;
    hear('1:7');
    confirmed.resolve();
    expect(await renewed).to.include({ accessToken: 'refreshed', generation: 2 });
    const next = cache.read(KEY);
    answer(0, 3);
    expect(await next).to.include({ generation: 3 });
  });
});
