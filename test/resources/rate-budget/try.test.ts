import { createCluster, createProvider } from './processes.ts';
describe('try', () => {
  for (const isShared of [true])
  for (const [limit, windowMs, n] of [[100, 10_000, 4, 4], [100, 60_000, 4, 1], [1000, 10_000, 4, 60], [20, 2000, 4, 5],[25,5000,4,4], [16,1000,4,10], [100,10000,1,8]] as const)
  it(`limit ${limit} in ${windowMs} by ${n} ${isShared}`, async () => {
    const cluster = createCluster();
    const { clock } = cluster;
    const provider = createProvider(clock, { limit, windowMs });
    const ps = Array.from({ length: n }, () => cluster.start({isShared}));
    for (const p of ps) for (let i = 0; i < 4; i++) cluster.work(p, provider);
    const each = 4 * windowMs / limit / 0.8;
    let next = 0; let i = 0;
    for (let ms = 0; ms < 60_000; ms += 10) {
      if (ms >= next) { next += each; i++; ps[i % n]!.call(provider, 'caller'); }
      await clock.advance(10);
    }
    console.log(provider.windows().map((w) => `${w.calls}/${w.sentBy.get('caller') ?? 0}-${w.refused}`).join(' '),'\n', ps.map((p) => JSON.stringify(p.counts)).join('\n'), cluster.statements());
  });
});
