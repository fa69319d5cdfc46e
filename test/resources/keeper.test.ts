import { expect } from 'chai';
import { createKeeper, type KeptLimits } from '../../src/resources/keeper.ts';

const SECOND_MS = 1000;

const LIMITS: KeptLimits = {
  keepMs: 600 * SECOND_MS,
  keepFailureMs: 60 * SECOND_MS,
  isLasting: (error) => String(error).includes('broken'),
  maxWeight: 100_000,
  maxWeightOfOwner: 50_000,
};

function create(changes: Partial<KeptLimits> = {}) {
  let nowMs = 0;
  const keep = createKeeper<string>({ steady: () => nowMs }, { ...LIMITS, ...changes });
  const looked: number[] = [];
  const { signal } = new AbortController();
  const get = (key: { readonly id: number }, { owner = 1, weight = 10_000, failure = '', isFresh = false } = {}) =>
    keep(`key ${key.id}`, {
      owner,
      signal,
      isFresh,
      find: async () => {
        looked.push(key.id);
        if (failure !== '') throw new Error(failure);
        return { found: `found ${key.id}`, weight };
      },
    });
  const failing = (key: { readonly id: number }, failure: string, isFresh = false) =>
    get(key, { failure, isFresh }).then(
      () => expect.fail('It was found.'),
      (error: unknown) => error,
    );
  const moveClock = (ms: number) => {
    nowMs += ms;
  };
  return { keep, get, failing, looked, moveClock };
}

const keys = Array.from({ length: 20 }, (_, id) => ({ id }));
const [one = { id: 0 }] = keys;

describe('a keeper', () => {
  it('answers a failure of content again for a minute, with the same error', async () => {
    const { failing, get, looked, moveClock } = create();
    const failure = await failing(one, 'broken');
    moveClock(59 * SECOND_MS);
    expect(await failing(one, 'other')).to.equal(failure);
    expect(looked).to.deep.equal([0]);
    moveClock(SECOND_MS);
    expect(await get(one)).to.equal('found 0');
  });

  it('does not keep a result whose look-up began before it was to be forgotten', async () => {
    const { keep } = create();
    const { signal } = new AbortController();
    const looked: PromiseWithResolvers<string>[] = [];
    const look = () => {
      const one = Promise.withResolvers<string>();
      looked.push(one);
      return keep('1:7', { owner: 1, signal, find: async () => ({ found: await one.promise, weight: 1 }) });
    };
    const early = look();
    keep.forget(1, '1:');
    const late = look();
    looked[1]?.resolve('new');
    expect(await late).to.equal('new');
    looked[0]?.resolve('old');
    expect(await early).to.equal('old');
    expect(await look()).to.equal('new');
  });

  it('does not keep a failure that may pass', async () => {
    const { failing, get, looked } = create();
    await failing(one, 'unavailable');
    expect(await get(one)).to.equal('found 0');
    expect(looked).to.deep.equal([0, 0]);
  });

  it('keeps what it found when a fresh look-up fails', async () => {
    const { failing, get, looked, moveClock } = create();
    await get(one);
    await failing(one, 'broken', true);
    moveClock(599 * SECOND_MS);
    expect(await get(one)).to.equal('found 0');
    expect(looked).to.deep.equal([0, 0]);
    await failing(one, 'broken', true);
    moveClock(SECOND_MS);
    expect(await get(one)).to.equal('found 0');
    expect(looked).to.deep.equal([0, 0, 0, 0]);
  });

  it('lets the least recently used of an owner go when they weigh more than its share', async () => {
    const { get, looked } = create();
    const own = keys.slice(0, 6);
    for (const key of own.slice(0, 5)) await get(key);
    await get(own[0] ?? one);
    await get(own[5] ?? one);
    looked.length = 0;
    for (const key of own.filter(({ id }) => id !== 1)) await get(key);
    expect(looked).to.deep.equal([]);
    await get(own[1] ?? one);
    expect(looked).to.deep.equal([1]);
  });

  it('keeps what others have, whatever one owner looks up', async () => {
    const { get, looked } = create();
    await get(one, { owner: 2, weight: 40_000 });
    for (const key of keys.slice(1)) await get(key, { owner: 1 });
    looked.length = 0;
    await get(one, { owner: 2 });
    expect(looked).to.deep.equal([]);
  });

  it('lets the least recently used of all go when they weigh more than may be kept', async () => {
    const { get, looked } = create();
    for (const key of keys.slice(0, 11)) await get(key, { owner: key.id });
    looked.length = 0;
    await get(keys[10] ?? one, { owner: 10 });
    await get(one, { owner: 0 });
    expect(looked).to.deep.equal([0]);
  });

  it('answers what weighs more than a share, without keeping it', async () => {
    const { get, looked } = create();
    expect([await get(one, { weight: 50_001 }), await get(one, { weight: 50_001 })]).to.deep.equal([
      'found 0',
      'found 0',
    ]);
    expect(looked).to.deep.equal([0, 0]);
  });

  it('gives a look-up of their own to those who wait for one whose caller hangs up', async () => {
    const keep = createKeeper<string>({ steady: () => 0 }, LIMITS);
    const [first, other] = [new AbortController(), new AbortController()];
    const begun = Promise.withResolvers<never>();
    const early = keep('key', { owner: 1, signal: first.signal, find: () => begun.promise });
    const late = keep('key', {
      owner: 1,
      signal: other.signal,
      find: async () => ({ found: 'found again', weight: 1 }),
    });
    first.abort();
    begun.reject(new Error('hung up'));
    expect(await early.catch((error: Error) => error.message)).to.equal('hung up');
    expect(await late).to.equal('found again');
  });
});
