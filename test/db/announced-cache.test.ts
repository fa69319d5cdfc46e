import { expect } from 'chai';
import type { Knex } from 'knex';
import { type AnnouncedCache, createAnnouncedCache } from '../../src/db/caches.ts';

interface Value {
  readonly of: string;
  readonly load: number;
}

describe('createAnnouncedCache', () => {
  let loads: PromiseWithResolvers<Value | undefined>[];
  let handlers: Map<string, (payload: string) => void>;
  let gap: () => void;
  let published: (readonly [string, string])[];
  let cache: AnnouncedCache<Value>;

  beforeEach(() => {
    loads = [];
    handlers = new Map();
    published = [];
    cache = createAnnouncedCache<Value>({
      topic: 'things',
      notifier: {
        publish: async (topic, payload) => void published.push([topic, payload]),
        subscribe: (topic, handler) => {
          handlers.set(topic, handler);
          return () => {};
        },
        onGap: (handler) => {
          gap = handler;
          return () => {};
        },
      },
      load: () => {
        const load = Promise.withResolvers<Value | undefined>();
        loads.push(load);
        return load.promise;
      },
    });
  });

  const announce = (key: string) => handlers.get('things')?.(key);

  /** Gets the value, answering a load if there is one. */
  async function get(key: string): Promise<Value | undefined> {
    const before = loads.length;
    const value = cache.get(key);
    if (loads.length > before) loads.at(-1)?.resolve({ of: key, load: loads.length });
    return value;
  }

  it('loads a value once, and each key by itself', async () => {
    expect(await get('a')).to.deep.equal({ of: 'a', load: 1 });
    expect(await get('a')).to.deep.equal({ of: 'a', load: 1 });
    expect(await get('b')).to.deep.equal({ of: 'b', load: 2 });
  });

  it('loads once for callers that ask at the same time', async () => {
    const both = [cache.get('a'), cache.get('a')];
    loads[0]?.resolve({ of: 'a', load: 1 });
    expect(await Promise.all(both)).to.deep.equal([
      { of: 'a', load: 1 },
      { of: 'a', load: 1 },
    ]);
    expect(loads).to.have.length(1);
  });

  it('loads again after a change was announced, by this process or another', async () => {
    await get('a');
    await cache.changed('a');
    expect(published).to.deep.equal([['things', 'a']]);
    expect(await get('a')).to.include({ load: 2 });
    announce('a');
    expect(await get('a')).to.include({ load: 3 });
    announce('b');
    expect(await get('a')).to.include({ load: 3 });
  });

  it('keeps a value until the transaction that changes it commits, and does not wait for the announcement', async () => {
    const transaction = Promise.withResolvers<void>();
    const via = { isTransaction: true, executionPromise: transaction.promise } as unknown as Knex.Transaction;
    await get('a');
    await cache.changed('a', via);
    expect(await get('a')).to.include({ load: 1 });
    transaction.resolve();
    await transaction.promise;
    expect(await get('a')).to.include({ load: 2 });
  });

  it('loads everything again after a gap', async () => {
    await get('a');
    gap();
    expect(await get('a')).to.include({ load: 2 });
  });

  for (const [what, forget] of [
    ['a change was announced', () => announce('a')],
    ['announcements were missed', () => gap()],
  ] as const) {
    it(`does not keep what was read before ${what}`, async () => {
      const early = cache.get('a');
      forget();
      loads[0]?.resolve({ of: 'a', load: 1 });
      expect(await early).to.include({ load: 1 });
      expect(await get('a')).to.include({ load: 2 });
    });

    it(`gives nothing to those who wait for nothing when ${what}`, async () => {
      const early = cache.get('a');
      forget();
      loads[0]?.resolve(undefined);
      expect(await early).to.equal(undefined);
      expect(await get('a')).to.include({ load: 2 });
    });

    it(`does not share a load with those who ask after ${what}`, async () => {
      const early = cache.get('a');
      forget();
      const late = cache.get('a');
      loads[1]?.resolve({ of: 'a', load: 2 });
      loads[0]?.resolve({ of: 'a', load: 1 });
      expect(await late).to.include({ load: 2 });
      expect(await early).to.include({ load: 1 });
      expect(await get('a')).to.include({ load: 2 });
    });
  }

  it('does not keep that there is nothing, nor a failure', async () => {
    const nothing = cache.get('a');
    loads[0]?.resolve(undefined);
    expect(await nothing).to.equal(undefined);
    const failed = cache.get('a').catch((error: Error) => error.message);
    loads[1]?.reject(new Error('away'));
    expect(await failed).to.equal('away');
    expect(await get('a')).to.include({ load: 3 });
  });
});
