import { expect } from 'chai';
import { describe, it } from 'mocha';
import { createMetrics } from '../src/metrics.ts';

describe('measurements', () => {
  it('are told but for the one that cannot be, which is counted', async () => {
    const metrics = createMetrics({ processMetrics: false });
    const failed = new Error('The database is away.');
    metrics.gauge({ name: 'causeway_late_seconds', help: 'Asks the database.', collect: () => Promise.reject(failed) });
    metrics.gauge({ name: 'causeway_kept_bytes', help: 'Asks nobody.', collect: (gauge) => gauge.set(7) });
    const asked = async () => (await metrics.registry.metrics()).split('\n').filter((line) => /^causeway/.test(line));
    expect(await asked()).to.include.members(['causeway_late_seconds Nan', 'causeway_kept_bytes 7']);
    expect(await asked()).to.include('causeway_measurement_failures_total{figure="causeway_late_seconds"} 1');
  });

  it('of what each request observes print as those of a histogram', async () => {
    const options = { help: 'Time of it.', labelNames: ['kind', 'outcome'], buckets: [0.1, 0.5] };
    const [ours, theirs] = [0, 1].map(() => createMetrics({ processMetrics: false }));
    const observe = ours?.observer({ ...options, name: 'causeway_work_seconds' });
    const histogram = theirs?.histogram({ ...options, name: 'causeway_work_seconds' });
    for (const [value, ...labels] of [
      [0.1, 'poll', '2xx'],
      [0.2, 'poll', '2xx'],
      [7, 'poll', '2xx'],
      [0.5, 'bulk', 'time"out'],
    ] as const) {
      observe?.(value, ...labels);
      histogram?.labels(...labels).observe(value);
    }
    const printed = await ours?.registry.metrics();
    expect(printed).to.include('causeway_work_seconds_bucket{le="0.5",kind="poll",outcome="2xx"} 2');
    expect(printed).to.equal(await theirs?.registry.metrics());
  });

  it('watch the process once, however many services it runs', () => {
    const [one, other] = [createMetrics(), createMetrics()];
    const figure = 'nodejs_gc_duration_seconds';
    expect(one.registry.getSingleMetric(figure))
      .to.equal(other.registry.getSingleMetric(figure))
      .and.not.equal(undefined);
    one.gauge({ name: 'causeway_kept_bytes', help: 'Of this service.' });
    expect(other.registry.getSingleMetric('causeway_kept_bytes')).to.equal(undefined);
  });
});
