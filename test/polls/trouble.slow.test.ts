import { expect } from 'chai';
import { status } from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';
import { untilRun, useThings } from './things.ts';

const SECOND_MS = 1000;

describe('a poll in trouble', () => {
  const bench = useThings();

  /** From its last run to the next, in seconds. */
  const pauseOf = ({ lastRunDate, nextRunDate }: Record<string, string>) =>
    (Date.parse(nextRunDate ?? '') - Date.parse(lastRunDate ?? '')) / SECOND_MS;

  const HOURS_10 = 36_000;

  it('waits as long as a provider asks that has had too many calls', async () => {
    const { id } = await bench.create('/429', { 'event.poller.refresh_interval': 1 });
    bench.provider.add('429-1');
    bench.provider.answerNext(status(429, { 'retry-after': '7200' }));
    const failed = await bench.run(id);
    expect(failed.lastError).to.match(/^RATE_LIMITED|^PROVIDER_RATE_LIMITED/);
    expect(failed).to.include({ failures: 1, state: 'waiting' });
    expect(pauseOf(failed)).to.be.within(7200, 7260);
    const mended = await bench.run(id);
    expect(mended).to.include({ failures: 0, events: 1 }).and.not.to.have.property('lastError');
    expect(await bench.arrived('/429', 1)).to.deep.equal([['things.created', '429-1']]);
  });

  it('waits longer with each failure of a provider that is down', async () => {
    const { id } = await bench.create('/500', { 'event.poller.refresh_interval': 10 });
    const pauses: number[] = [];
    for (const failures of [1, 2, 3]) {
      // The client tries again by itself, too.
      bench.provider.answerNext(...Array.from({ length: 12 }, () => status(500)));
      const failed = await bench.run(id);
      bench.provider.answerNext();
      expect(failed).to.include({ failures });
      expect(failed.lastError).to.match(/^PROVIDER_/);
      pauses.push(pauseOf(failed));
    }
    for (const [index, seconds] of [600, 1200, 2400].entries())
      expect(pauses[index]).to.be.within(seconds, seconds * 1.05 + 30);
    bench.provider.add('500-1');
    expect(await bench.run(id)).to.include({ failures: 0, events: 1 });
  });

  it('never waits longer than an hour, or its interval', async () => {
    const { id } = await bench.create('/long');
    bench.provider.answerNext(...Array.from({ length: 12 }, () => status(500)));
    const failed = await bench.run(id);
    bench.provider.answerNext();
    expect(pauseOf(failed)).to.be.within(HOURS_10, HOURS_10 * 1.05 + 30);
  });

  it('says that a URL asks for what the object does not have', async () => {
    const url = "/hubs/general/things?where=changed >= '${gmtDate:yyyy-MM-dd}'";
    const { id } = await bench.create('/field', { 'event.poller.configuration': { things: { url } } });
    expect((await bench.poll(id)).lastError).to.match(/^WHERE_INVALID: Unknown field 'changed'/);
  });

  it('leaves to callers what is left of the limit of a provider, and goes on when it is new', async () => {
    const { id } = await bench.create('/budget', { 'event.poller.configuration': { things: { pageSize: 2 } } });
    const ids = ['b1', 'b2', 'b3', 'b4', 'b5', 'b6'];
    for (const [index, thing] of ids.entries())
      bench.provider.add(thing, { updatedAt: new Date(Date.now() + index).toISOString() });
    bench.provider.setHeaders({
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': '20',
      'x-ratelimit-reset': '300',
    });
    const cut = await bench.run(id);
    expect(cut.failures).to.equal(0);
    expect(cut.events).to.be.lessThan(ids.length);
    expect(pauseOf(cut)).to.be.within(295, 330);
    bench.provider.setHeaders({
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': '100',
      'x-ratelimit-reset': '300',
    });
    await bench.run(id);
    bench.provider.setHeaders({});
    expect((await bench.arrived('/budget', ids.length)).map(([, thing]) => thing)).to.have.members(ids);
  });

  it('does not begin while a caller was told that little is left of the limit, unless it is run now', async () => {
    const { id, token } = await bench.create('/callers', {
      'event.objects': 'notes',
      'event.poller.refresh_interval': 0.02,
    });
    const tellLimit = { 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '20', 'x-ratelimit-reset': '300' };
    bench.provider.setHeaders(tellLimit);
    try {
      await bench.service.call('/things', { token });
      await until(async () => Date.parse((await bench.poll(id, 'notes')).nextRunDate) - Date.now() > 200 * SECOND_MS);
      bench.provider.add('callers-1');
      expect((await bench.run(id, 'notes')).lastError).to.equal(undefined);
      expect(await bench.arrived('/callers', 1)).to.deep.equal([['notes.created', 'callers-1']]);
    } finally {
      bench.provider.setHeaders({});
    }
  });

  it('runs when it has waited three times, however little is left of the limit', async () => {
    const { id } = await bench.create('/low', { 'event.objects': 'notes', 'event.poller.refresh_interval': 0.02 });
    bench.provider.setHeaders({ 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' });
    try {
      const { runs } = await bench.poll(id, 'notes');
      await untilRun(bench.service, id, { runs: runs + 2, resource: 'notes' });
      bench.provider.add('low-1');
      expect(await bench.arrived('/low', 1)).to.deep.equal([['notes.created', 'low-1']]);
    } finally {
      bench.provider.setHeaders({});
    }
  });
});
