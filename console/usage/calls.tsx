import type { ComponentChildren } from 'preact';
import { api, askPage, type Schemas } from '../api.ts';
import { useLoad } from '../load.ts';
import { consoleReadsOf } from '../parts/console-reads.tsx';
import { sayNumber } from '../parts/number.ts';
import type { AddressQuery } from '../parts/query.ts';
import { Show } from '../parts/show.tsx';
import { sayDuration } from '../parts/time.tsx';
import { Chart } from './chart.tsx';
import { alongPoints, periodOf, type Range, type ShownPeriod } from './range.ts';
import { seriesOf, totalOf } from './series.ts';

interface Calls {
  readonly period: ShownPeriod;
  readonly counts: readonly Schemas['UsageCount'][];
  readonly statuses: readonly Schemas['UsageStatus'][];
  readonly times: readonly Schemas['UsageTime'][];
  readonly elements: readonly Schemas['UsageElement'][];
}

interface CallChartsProps extends AddressQuery {
  readonly range: Range;
  readonly turn: number;
  /** Another chart beside those of the requests. */
  readonly children: ComponentChildren;
}

/** Shows the requests of the account: their number, their failures and their durations. */
export function CallCharts({ range, turn: version, children, ...address }: CallChartsProps) {
  const reads = consoleReadsOf(address.query);
  const loaded = useLoad((signal) => loadCalls(periodOf(range, Date.now()), reads, signal), [range, reads, version]);
  return (
    <Show loaded={loaded} lines={12}>
      {(calls) => (
        <>
          <Figures calls={calls} />
          <div class="columns">
            <Failures calls={calls} />
            <Latencies calls={calls} />
            <Elements calls={calls} {...address} />
            {children}
          </div>
        </>
      )}
    </Show>
  );
}

async function loadCalls(
  period: ShownPeriod,
  reads: ReturnType<typeof consoleReadsOf>,
  signal: AbortSignal,
): Promise<Calls> {
  const asked = { signal, params: { query: { ...period.query, ...reads } } };
  const [counts, statuses, times, elements] = await Promise.all([
    askPage(api.GET('/usage/analytics/activity', asked)),
    askPage(api.GET('/usage/analytics/statuses', asked)),
    askPage(api.GET('/usage/analytics/times', asked)),
    askPage(api.GET('/usage/analytics/activity/elements', asked)),
  ]);
  return { period, counts: counts.rows, statuses: statuses.rows, times: times.rows, elements: elements.rows };
}

function Figures({ calls: { counts, statuses, times } }: { readonly calls: Calls }) {
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  const failed = statuses.reduce((sum, one) => sum + one.failed, 0);
  const slowest = times.reduce((most, { p95 }) => Math.max(most, p95), 0);
  return (
    <div class="figures">
      <Figure title="Requests">{sayNumber(total)}</Figure>
      <Figure title="Failed">
        {sayNumber(failed)} <span class="small soft">{total > 0 && `${((failed / total) * 100).toFixed(1)} %`}</span>
      </Figure>
      <Figure title="Highest p95">{times.length === 0 ? '–' : sayDuration(slowest)}</Figure>
    </div>
  );
}

function Figure({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <div class="card">
      <div class="soft small">{title}</div>
      <div class="figure">{children}</div>
    </div>
  );
}

function Failures({ calls: { period, statuses } }: { readonly calls: Calls }) {
  return (
    <Chart
      title="Requests"
      nothing="There were no requests in this period."
      points={period.points}
      series={[
        { label: 'failed', colour: 'bad', values: alongPoints(period, statuses, ({ failed }) => failed, 0) },
        { label: 'succeeded', colour: 'accent', values: alongPoints(period, statuses, ({ success }) => success, 0) },
      ]}
      isStacked
      print={sayNumber}
    >
      <a href="/console/activity?failures=1">List the failures</a>
    </Chart>
  );
}

function Latencies({ calls: { period, times } }: { readonly calls: Calls }) {
  const along = (numberOf: (time: Schemas['UsageTime']) => number) => alongPoints(period, times, numberOf, null);
  return (
    <Chart
      title="Duration"
      nothing="There were no requests in this period."
      points={period.points}
      series={[
        { label: 'p50', colour: 'good', values: along(({ p50 }) => p50) },
        { label: 'p95', colour: 'accent', values: along(({ p95 }) => p95) },
        { label: 'p99', colour: 'busy', values: along(({ p99 }) => p99) },
      ]}
      isStacked={false}
      print={sayDuration}
    />
  );
}

const NO_ELEMENT = 'without an instance';

function Elements({ calls: { period, counts, elements }, query, change }: { readonly calls: Calls } & AddressQuery) {
  const ofElements = elements.map(({ timestamp, elementName, count }) => ({ timestamp, name: elementName, count }));
  const known = Map.groupBy(elements, ({ timestamp }) => timestamp);
  const others = counts.map(({ timestamp, count }) => ({
    timestamp,
    name: NO_ELEMENT,
    count: count - (known.get(timestamp) ?? []).reduce((sum, one) => sum + one.count, 0),
  }));
  const all = seriesOf(period, [...ofElements, ...others]).filter((one) => totalOf(one) > 0);
  const names = [...new Set(ofElements.map(({ name }) => name))].sort();
  const chosen = names.find((name) => name === query.element);
  const series =
    chosen === undefined
      ? all
      : seriesOf(
          period,
          ofElements.filter(({ name }) => name === chosen),
        );
  return (
    <Chart
      title="By element"
      nothing="There were no requests in this period."
      points={period.points}
      series={series}
      isStacked
      print={sayNumber}
    >
      <select
        class="narrow"
        aria-label="Element"
        value={chosen ?? ''}
        onChange={({ currentTarget }) => change({ element: currentTarget.value })}
      >
        <option value="">all elements</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </Chart>
  );
}
