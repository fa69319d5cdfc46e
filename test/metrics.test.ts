import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
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

const ROOT = resolve(import.meta.dirname, '..');
/** A metric as code declares it: the function that makes it (a table of gauges names none), its name and its labels. */
const DECLARATION =
  /(?:\.(counter|gauge|histogram|observer)(?:<[^>]*>)?\(|new (Counter)\(|)\{\s*name: '(causeway_\w+)',(?:\s*help:\s*(?<quote>['"`]).*\k<quote>,)?(?:\s*labelNames: \[([^\]]*)\])?/g;
const TYPES: Readonly<Record<string, string>> = { observer: 'histogram', Counter: 'counter' };

/** `name type labels` of each metric of the sources. */
function declared(): readonly string[] {
  return globSync('src/**/*.ts', { cwd: ROOT }).flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(DECLARATION)].map(
      ([, method, created, name = '', , labels = '']) => {
        const made = method ?? created ?? 'gauge';
        return [name, TYPES[made] ?? made, ...(labels.match(/\w+/g) ?? [])].join(' ');
      },
    ),
  );
}

/** The same of each row of the page. */
function documented(): readonly string[] {
  const page = readFileSync(join(ROOT, 'docs/reference/metrics.md'), 'utf8');
  return [...page.matchAll(/^\| `(causeway_\w+)` \| (\w+) \| ([^|]*)\|/gm)].map(([, name, type, labels = '']) =>
    [name, type, ...(labels.match(/\w+/g) ?? [])].join(' '),
  );
}

describe('docs/reference/metrics.md', () => {
  it('lists every metric with its type and its labels', () => {
    expect(documented()).to.have.members(declared());
  });

  it('is compared with every metric that the sources name', () => {
    const named = globSync('src/**/*.ts', { cwd: ROOT }).flatMap(
      (file) => readFileSync(join(ROOT, file), 'utf8').match(/(?<=name: ')causeway_\w+/g) ?? [],
    );
    expect(declared().map((each) => each.split(' ')[0])).to.have.members(named);
  });
});
