import { collectorUrl, hostPatterns, integer, keyValues, oneOf, share, trueOrNot, word } from './formats.ts';

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

/** How traces are made and where they go. */
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
    shownDefault: 'none: nothing is traced',
    secret: true,
    description: 'Base URL of an OpenTelemetry collector (OTLP over HTTP), which gets traces at `/v1/traces` below it.',
  },
  otlpTracesEndpoint: {
    name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    format: collectorUrl(),
    shownDefault: 'from OTEL_EXPORTER_OTLP_ENDPOINT',
    secret: true,
    description: 'The same for traces alone; used as it is.',
  },
  otlpProtocol: {
    name: 'OTEL_EXPORTER_OTLP_PROTOCOL',
    format: oneOf(['http/protobuf']),
    shownDefault: 'http/protobuf',
    description: 'The one protocol that is spoken to the collector.',
  },
  otlpHeaders: {
    name: 'OTEL_EXPORTER_OTLP_HEADERS',
    format: keyValues(),
    shownDefault: 'none',
    secret: true,
    description: 'Headers of each request to the collector: `name=value,…`, values percent-encoded.',
  },
  otlpTracesHeaders: {
    name: 'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
    format: keyValues(),
    shownDefault: 'none',
    secret: true,
    description: 'The same for traces alone; where both name a header, this one counts.',
  },
  otlpTimeout: {
    name: 'OTEL_EXPORTER_OTLP_TIMEOUT',
    format: integer(1, 600_000),
    shownDefault: '10000',
    defaultText: () => '10000',
    description: 'Milliseconds that the collector has to take what it is sent.',
  },
  serviceName: {
    name: 'OTEL_SERVICE_NAME',
    format: word('a name'),
    shownDefault: 'causeway',
    description: 'What the service is called in traces.',
  },
  resourceAttributes: {
    name: 'OTEL_RESOURCE_ATTRIBUTES',
    format: keyValues(),
    shownDefault: 'none',
    description: 'What else traces say of the service: `deployment.environment.name=test,…`, values percent-encoded.',
  },
  tracesSampler: {
    name: 'OTEL_TRACES_SAMPLER',
    format: oneOf(SAMPLERS),
    shownDefault: 'parentbased_always_on',
    defaultText: () => 'parentbased_always_on',
    description: `Which traces are recorded: ${SAMPLERS.map((sampler) => `\`${sampler}\``).join(', ')}.`,
  },
  tracesSamplerArgument: {
    name: 'OTEL_TRACES_SAMPLER_ARG',
    format: share(),
    shownDefault: '1.0',
    defaultText: () => '1.0',
    description: 'The share of traces that a sampler with `traceidratio` records.',
  },
  spanDelay: {
    name: 'OTEL_BSP_SCHEDULE_DELAY',
    format: integer(1, 600_000),
    shownDefault: '5000',
    defaultText: () => '5000',
    description: 'Milliseconds that spans wait for others, to be sent together.',
  },
  spanQueue: {
    name: 'OTEL_BSP_MAX_QUEUE_SIZE',
    format: integer(1, 1_000_000),
    shownDefault: '2048',
    defaultText: () => '2048',
    description: 'Spans of one process that may wait; more are dropped, and counted in `causeway_trace_spans_total`.',
  },
  otelDisabled: {
    name: 'OTEL_SDK_DISABLED',
    format: trueOrNot(),
    shownDefault: 'false',
    description: '`true` traces nothing, whatever else is set.',
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
