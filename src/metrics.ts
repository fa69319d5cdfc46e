import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import manifest from '../package.json' with { type: 'json' };

/** Measurements of one process in the Prometheus text format. */
export interface Metrics {
  readonly registry: Registry;
  readonly counter: <Label extends string = never>(options: MetricOptions<Label>) => Counter<Label>;
  readonly histogram: <Label extends string = never>(
    options: MetricOptions<Label> & { readonly buckets: readonly number[] },
  ) => Histogram<Label>;
  /**
   * A histogram for frequent observations. It looks up the series of labels once, because that costs more than the observation.
   * @returns a function of a value and its labels, in the order of `labelNames`
   */
  readonly observer: (
    options: MetricOptions<string> & { readonly buckets: readonly number[] },
  ) => (value: number, ...labels: readonly string[]) => void;
  /**
   * A gauge. `collect` sets its value when the measurements are requested. If `collect` fails, for example because the database is down,
   * the value is NaN and the failure is counted, so that all other figures are still reported.
   */
  readonly gauge: <Label extends string = never>(
    options: MetricOptions<Label> & { readonly collect?: (gauge: Gauge<Label>) => void | Promise<void> },
  ) => Gauge<Label>;
}

/** Adds a gauge with the version of the program. */
export function measureBuild(metrics: Metrics): void {
  const build = metrics.gauge({
    name: 'causeway_build_info',
    help: 'Always 1; the labels contain the versions of the service and of Node.js.',
    labelNames: ['version', 'node_version'],
  });
  build.set({ version: manifest.version, node_version: process.version }, 1);
}

interface MetricOptions<Label extends string> {
  /** `causeway_…`, with its unit at the end, e.g. `_seconds`. */
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly Label[];
}

let ofProcess: Registry | undefined;

/** The collectors of process figures cannot be removed, so all services of a process share one registry of them. */
function figuresOfProcess(): Registry {
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  return ofProcess;
}

/** Creates metrics with a registry of their own, so that several services in one process (tests) do not share their figures. */
export function createMetrics({ processMetrics = true }: { readonly processMetrics?: boolean } = {}): Metrics {
  const registry = processMetrics ? Registry.merge([figuresOfProcess()]) : new Registry();
  const registers = [registry];
  const failures = new Counter({
    name: 'causeway_measurement_failures_total',
    help: 'Failures to measure a metric for /metrics, by metric.',
    labelNames: ['figure'],
    registers,
  });
  const histogram: Metrics['histogram'] = ({ labelNames = [], buckets, ...options }) =>
    new Histogram({ ...options, buckets: [...buckets], labelNames: [...labelNames], registers });
  return {
    registry,
    counter: ({ labelNames = [], ...options }) => new Counter({ ...options, labelNames: [...labelNames], registers }),
    histogram,
    observer: (options) => {
      const series = histogram(options);
      const known = new Map<string, ReturnType<typeof series.labels>>();
      return (value, ...labels) => {
        const key = labels.join(' ');
        let one = known.get(key);
        if (one === undefined) {
          one = series.labels(...labels);
          known.set(key, one);
        }
        one.observe(value);
      };
    },
    gauge: <Label extends string = never>({
      labelNames = [],
      collect,
      ...options
    }: MetricOptions<Label> & { readonly collect?: (gauge: Gauge<Label>) => void | Promise<void> }) => {
      const gauge: Gauge<Label> = new Gauge({
        ...options,
        labelNames: [...labelNames],
        registers,
        ...(collect !== undefined && {
          collect: async () => {
            try {
              await collect(gauge);
            } catch {
              failures.inc({ figure: options.name });
              gauge.set(Number.NaN);
            }
          },
        }),
      });
      return gauge;
    },
  };
}
