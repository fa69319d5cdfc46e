import { api, askPage, type Schemas } from '../api.ts';
import { useLoad } from '../load.ts';
import { consoleReadsOf } from '../parts/console-reads.tsx';
import { sayNumber } from '../parts/number.ts';
import type { AddressQuery } from '../parts/query.ts';
import { Show } from '../parts/show.tsx';
import { useMay } from '../who.ts';
import { Chart } from './chart.tsx';
import { periodOf, type Range, type ShownPeriod } from './range.ts';
import { type Counted, seriesOf } from './series.ts';

type Metric = Schemas['Metric'];
type MetricName = Schemas['MetricName'];

const METRICS: Readonly<Record<MetricName, string>> = {
  events: 'Events accepted for delivery',
  'bulk-jobs': 'Bulk jobs that ended',
  'element-instances-created': 'Instances created',
  'formulas-created': 'Formulas created',
  'formula-executions': 'Executions of formulas that ended',
  api: 'Requests by outcome',
  'hub-api': 'Requests on instances',
};
const OUTCOMES: ReadonlyMap<string, string> = new Map([
  ['success', 'succeeded'],
  ['clientErrors', 'client errors (4xx)'],
  ['serverErrors', 'server errors (5xx)'],
]);

interface MetricChartProps extends AddressQuery {
  readonly range: Range;
  readonly turn: number;
}

/** Shows the activity of the account, or of all accounts of the organization. */
export function MetricChart({ range, turn: version, query, change }: MetricChartProps) {
  const may = useMay();
  const metric = isMetric(query.metric) ? query.metric : 'events';
  const isWide = query.scope === 'organization' && may('viewOrganizationLogs');
  const reads = consoleReadsOf(query);
  const loaded = useLoad(
    async (signal) => {
      const period = periodOf(range, Date.now());
      const asked = { signal, params: { path: { metric }, query: { ...period.query, ...reads } } };
      if (!isWide) return { period, counted: byDetail((await askPage(api.GET('/metrics/{metric}', asked))).rows) };
      const [{ rows }, accounts] = await Promise.all([
        askPage(api.GET('/organizations/me/metrics/{metric}', asked)),
        askPage(api.GET('/accounts', { signal })),
      ]);
      const names = new Map(accounts.rows.map(({ id, name }) => [id, name]));
      return { period, counted: byAccount(rows, (id) => `${names.get(id) ?? 'account'} #${id}`) };
    },
    [range, reads, version, metric, isWide],
  );
  return (
    <Show loaded={loaded} lines={8}>
      {({ period, counted }: { readonly period: ShownPeriod; readonly counted: readonly Counted[] }) => (
        <Chart
          title={METRICS[metric]}
          nothing="Nothing was counted in this period."
          points={period.points}
          series={seriesOf(period, counted)}
          isStacked
          print={sayNumber}
        >
          <span class="row">
            <select
              class="narrow"
              aria-label="Metric"
              value={metric}
              onChange={({ currentTarget }) => change({ metric: currentTarget.value })}
            >
              {Object.entries(METRICS).map(([name, title]) => (
                <option key={name} value={name}>
                  {title}
                </option>
              ))}
            </select>
            <select
              class="narrow"
              aria-label="Whose"
              value={isWide ? 'organization' : ''}
              disabled={!may('viewOrganizationLogs')}
              title={
                may('viewOrganizationLogs')
                  ? undefined
                  : 'To see other accounts, you need the privilege viewOrganizationLogs.'
              }
              onChange={({ currentTarget }) => change({ scope: currentTarget.value })}
            >
              <option value="">of this account</option>
              <option value="organization">of all accounts</option>
            </select>
          </span>
        </Chart>
      )}
    </Show>
  );
}

function isMetric(name: string | undefined): name is MetricName {
  return name !== undefined && Object.hasOwn(METRICS, name);
}

function byDetail(metrics: readonly Metric[]): readonly Counted[] {
  return metrics.flatMap((one) =>
    one.metrics.flatMap(({ timestamp, details }) =>
      Object.entries(details).map(([name, count]) => ({ timestamp, name: OUTCOMES.get(name) ?? name, count })),
    ),
  );
}

function byAccount(metrics: readonly Metric[], nameOf: (id: number) => string): readonly Counted[] {
  return metrics.flatMap(({ id, metrics: points }) =>
    points.map(({ timestamp, count }) => ({ timestamp, name: nameOf(id), count })),
  );
}
