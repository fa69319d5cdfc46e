import { expect } from 'chai';
import { createSecretCache, type SecretCache } from '../../src/db/caches.ts';

interface Value {
  readonly load: number;
}

describe('createSecretCache', () => {
  let cache: SecretCache<Value>;
  let loads: number;
  let dropped: Value[];
  let kept: string[];

  beforeEach(() => {
    loads = 0;
    dropped = [];
    kept = [];
    cache = createSecretCache<Value>({
      onKept: (key) => void kept.push(key),
      onDropped: (value) => void dropped.push(value),
    });
  });

  const load = async (): Promise<Value> => ({ load: ++loads });
  const miss = async (): Promise<undefined> => {
    loads++;
    return undefined;
  };

  it('asks once for all who ask at the same time, and keeps the answer', async () => {
    const values = await Promise.all(Array.from({ length: 2_500 }, () => cache.find('a', load)));
    expect(new Set(values)).to.have.property('size', 1);
    expect(await cache.find('a', load)).to.equal(values[0]);
    expect(loads).to.equal(1);
    expect(kept).to.deep.equal(['a']);
  });

  it('remembers what nobody has', async () => {
    await Promise.all(Array.from({ length: 100 }, () => cache.find('x', miss)));
    expect(await cache.find('x', miss)).to.equal(undefined);
    expect(loads).to.equal(1);
  });

  it('does not let guesses push out what is there', async () => {
    await cache.find('a', load);
    for (let guess = 0; guess < 20_000; guess++) await cache.find(`guess ${guess}`, miss);
    expect(await cache.find('a', load)).to.deep.equal({ load: 1 });
    expect(loads).to.equal(20_001);
  });

  it('remembers no failure', async () => {
    const broken = () => Promise.reject(new Error('away'));
    expect(await cache.find('a', broken).catch((error: Error) => error.message)).to.equal('away');
    expect(await cache.find('a', load)).to.deep.equal({ load: 1 });
  });

  it('gives a load from before a change to those who waited, and to nobody else', async () => {
    const first = Promise.withResolvers<Value>();
    const waiting = cache.find('1:a', () => first.promise);
    cache.outdate((key) => key.startsWith('1:'));
    const after = await cache.find('1:a', load);
    first.resolve({ load: -1 });
    expect(await waiting).to.deep.equal({ load: -1 });
    expect(await cache.find('1:a', load)).to.equal(after);
  });

  it('keeps what is loaded under other keys meanwhile', async () => {
    const first = Promise.withResolvers<Value>();
    const waiting = cache.find('2:a', () => first.promise);
    cache.outdate((key) => key.startsWith('1:'));
    first.resolve({ load: 7 });
    await waiting;
    expect(await cache.find('2:a', load)).to.deep.equal({ load: 7 });
    expect(loads).to.equal(0);
  });

  it('tells what it drops', async () => {
    const value = await cache.find('a', load);
    cache.forget('a');
    expect(dropped).to.deep.equal([value]);
    expect(await cache.find('a', load)).to.deep.equal({ load: 2 });
    cache.clear();
    expect(dropped).to.deep.equal([{ load: 1 }, { load: 2 }]);
  });
});
