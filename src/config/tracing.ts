import { always, collectorUrl, hostPatterns, integer, keyValues, oneOf, share, trueOrNot, word } from './formats.ts';

/** The samplers of traces, by the names of OpenTelemetry. */
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export type SamplerName = (typeof SAMPLERS)[number];

/** The settings of traces. */
export interface TracingConfig {
  /** The address of the collector, including the path. */
  readonly url: string;
  /** The headers of requests to the collector. Their values are secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly serviceName: string | undefined;
  readonly resourceAttributes: Readonly<Record<string, string>>;
  readonly sampler: SamplerName;
  /** The share of traces that a sampler with a ratio keeps, from 0 to 1. */
  readonly samplerShare: number;
  /** Maximum time in milliseconds that a span waits to be sent together with others. */
  readonly delayMs: number;
  /** Spans that may wait; more are dropped. */
  readonly mostWaiting: number;
  /** Hosts that receive the W3C headers of a trace: names, or `*.` and a domain. */
  readonly contextHosts: readonly string[];
}

/** The variables of tracing. Those of OpenTelemetry have the names, formats and defaults of its specification. */
export const TRACING_VARIABLES = {
  otlpEndpoint: {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    format: collectorUrl(),
    shownDefault: 'none: tracing is off',
    secret: true,
    description:
      'Base URL of an OpenTelemetry collector (OTLP over HTTP). The service sends traces to `/v1/traces` below it.',
  },
  otlpTracesEndpoint: {
    name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    format: collectorUrl(),
    shownDefault: 'from OTEL_EXPORTER_OTLP_ENDPOINT',
    secret: true,
    description:
      'URL to which the service sends traces, in place of the one below OTEL_EXPORTER_OTLP_ENDPOINT. Used unchanged.',
  },
  otlpProtocol: {
    name: 'OTEL_EXPORTER_OTLP_PROTOCOL',
    format: oneOf(['http/protobuf']),
    shownDefault: 'http/protobuf',
    description: 'Protocol of the requests to the collector. The service supports no other.',
  },
  otlpHeaders: {
    name: 'OTEL_EXPORTER_OTLP_HEADERS',
    format: keyValues(),
    shownDefault: 'none',
    secret: true,
    description: 'Headers of each request to the collector: `name=value,…`, with percent-encoded values.',
  },
  otlpTracesHeaders: {
    name: 'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
    format: keyValues(),
    shownDefault: 'none',
    secret: true,
    description:
      'Headers of requests with traces, in the same form. They override headers of the same name in OTEL_EXPORTER_OTLP_HEADERS.',
  },
  otlpTimeout: {
    name: 'OTEL_EXPORTER_OTLP_TIMEOUT',
    format: integer(1, 600_000),
    ...always('10000'),
    description: 'Timeout of a request to the collector, in milliseconds.',
  },
  serviceName: {
    name: 'OTEL_SERVICE_NAME',
    format: word('a name'),
    shownDefault: 'causeway',
    description: 'Name of the service in traces.',
  },
  resourceAttributes: {
    name: 'OTEL_RESOURCE_ATTRIBUTES',
    format: keyValues(),
    shownDefault: 'none',
    description:
      'More attributes of the service in traces: `deployment.environment.name=test,…`, with percent-encoded values.',
  },
  tracesSampler: {
    name: 'OTEL_TRACES_SAMPLER',
    format: oneOf(SAMPLERS),
    ...always('parentbased_always_on'),
    description: `Sampler that selects the traces to record: ${SAMPLERS.map((sampler) => `\`${sampler}\``).join(', ')}.`,
  },
  tracesSamplerArgument: {
    name: 'OTEL_TRACES_SAMPLER_ARG',
    format: share(),
    ...always('1.0'),
    description: 'Share of the traces that a sampler with `traceidratio` records, from 0 to 1.',
  },
  spanDelay: {
    name: 'OTEL_BSP_SCHEDULE_DELAY',
    format: integer(1, 600_000),
    ...always('5000'),
    description: 'Milliseconds between two exports of spans.',
  },
  spanQueue: {
    name: 'OTEL_BSP_MAX_QUEUE_SIZE',
    format: integer(1, 1_000_000),
    ...always('2048'),
    description:
      'Maximum number of spans of one process that wait for export. The service drops more, and counts them in `causeway_trace_spans_total`.',
  },
  otelDisabled: {
    name: 'OTEL_SDK_DISABLED',
    format: trueOrNot(),
    shownDefault: 'false',
    description: '`true` turns tracing off, whatever the other variables say.',
  },
  traceContextHosts: {
    name: 'TRACE_CONTEXT_HOSTS',
    format: hostPatterns(),
    shownDefault: 'none',
    defaultText: () => '',
    description:
      'Hosts of providers and callback URLs that receive the trace header `traceparent` (W3C), separated by commas. `*.example.com` means every host of the domain.',
  },
} as const;
