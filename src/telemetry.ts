import { randomUUID } from 'node:crypto';
import {
  defaultTextMapGetter,
  defaultTextMapSetter,
  type Context as OtelContext,
  type Span as OtelSpan,
  type Tracer as OtelTracer,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace as traceOf,
} from '@opentelemetry/api';
import { ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import manifest from '../package.json' with { type: 'json' };
import type { Clock } from './clock.ts';
import type { SamplerName, TracingConfig } from './config/tracing.ts';
import type { Logger } from './log.ts';
import type { Metrics } from './metrics.ts';
import { combineRedactors, type Redactor } from './redaction.ts';
import {
  currentTrace,
  inBackground,
  type Span,
  type SpanAttributes,
  type SpanEnd,
  type SpanStart,
  type TraceHeaders,
  type Tracer,
} from './trace.ts';

interface TelemetryPorts {
  readonly config: TracingConfig;
  /** Redacts the secrets of the process. */
  readonly redactor: Redactor;
  readonly clock: Pick<Clock, 'now' | 'steady' | 'after'>;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Sends the traces of this process to a collector, by the SDK of OpenTelemetry. A slow or failing collector never delays a request. */
interface Telemetry {
  readonly tracer: Tracer;
  /** Sends the remaining spans within the given time. */
  readonly close: (timeoutMs: number) => Promise<void>;
}

const MOST_SPANS_OF_A_BATCH = 512;
const LONGEST_TEXT = 4_096;
/** Read beyond what is kept, so that a secret at the end is whole when it is looked for. */
const LONGEST_READ_TEXT = 2 * LONGEST_TEXT;
const QUIET_MS = 60_000;

/**
 * Starts sending traces. Import this file only if there is a collector, because it loads the SDK, which no other part of the service uses.
 */
export function createTelemetry(ports: TelemetryPorts): Telemetry {
  const { config, clock, log } = ports;
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.version': manifest.version,
        'service.instance.id': randomUUID(),
        ...config.resourceAttributes,
        'service.name': config.serviceName ?? config.resourceAttributes['service.name'] ?? 'causeway',
      }),
    ),
    sampler: SAMPLERS[config.sampler](config.samplerShare),
    spanLimits: { attributeValueLengthLimit: LONGEST_TEXT },
    spanProcessors: [createProcessor(ports)],
  });
  const begin = createSpans(provider.getTracer('causeway', manifest.version), ports);
  return {
    tracer: { begin: (start, from) => begin(start, { above: from === undefined ? ROOT_CONTEXT : readContext(from) }) },
    close: async (timeoutMs) => {
      const late = Promise.withResolvers<void>();
      const endWait = clock.after(timeoutMs, () => {
        log.warn({ timeoutMs }, 'the collector of traces did not accept the last spans in time');
        late.resolve();
      });
      // Failures were counted and logged before.
      await Promise.race([provider.shutdown().catch(() => undefined), late.promise]);
      endWait();
    },
  };
}

const ON = new AlwaysOnSampler();
const OFF = new AlwaysOffSampler();

const SAMPLERS: Readonly<Record<SamplerName, (share: number) => Sampler>> = {
  always_on: () => ON,
  always_off: () => OFF,
  traceidratio: (share) => new TraceIdRatioBasedSampler(share),
  parentbased_always_on: () => new ParentBasedSampler({ root: ON }),
  parentbased_always_off: () => new ParentBasedSampler({ root: OFF }),
  parentbased_traceidratio: (share) => new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(share) }),
};

/** The batches of the SDK, with a queue whose end is counted, and words about failures. */
function createProcessor({ config, clock, log, metrics }: TelemetryPorts): SpanProcessor {
  const spans = metrics.counter<'outcome'>({
    name: 'causeway_trace_spans_total',
    help: 'Recorded spans, by outcome: exported, failed (the collector did not accept them), dropped (too many waited).',
    labelNames: ['outcome'],
  });
  const exporter = new OTLPTraceExporter({
    url: config.url,
    headers: config.headers,
    timeoutMillis: config.timeoutMs,
  });
  let waiting = 0;
  let quietUntilMs = Number.NEGATIVE_INFINITY;

  function report(error: Error | undefined, count: number): void {
    const nowMs = clock.steady();
    if (nowMs < quietUntilMs) return;
    quietUntilMs = nowMs + QUIET_MS;
    inBackground(() => log.warn({ err: error, spans: count }, 'could not reach the collector of traces'));
  }

  const counting: SpanExporter = {
    export: (batch, done) => {
      waiting -= batch.length;
      exporter.export(batch, (result) => {
        const isTaken = result.code === ExportResultCode.SUCCESS;
        spans.inc({ outcome: isTaken ? 'exported' : 'failed' }, batch.length);
        if (!isTaken) report(result.error, batch.length);
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
  const batches = new BatchSpanProcessor({
    exporter: counting,
    scheduledDelayMillis: config.delayMs,
    maxQueueSize: config.mostWaiting,
    maxExportBatchSize: Math.min(MOST_SPANS_OF_A_BATCH, config.mostWaiting),
    exportTimeoutMillis: config.timeoutMs,
  });
  return {
    onStart: () => undefined,
    onEnd: (span) => {
      if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
      if (waiting >= config.mostWaiting) return spans.inc({ outcome: 'dropped' });
      waiting++;
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  };
}

const KINDS: Readonly<Record<NonNullable<SpanStart['kind']>, SpanKind>> = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
};

const W3C = new W3CTraceContextPropagator();

function readContext(headers: TraceHeaders): OtelContext {
  return W3C.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
}

interface Beginning {
  readonly above: OtelContext;
  /** Milliseconds since 1970, with fractions: of the spans of one process in one trace all by the same start. */
  readonly now?: () => number;
  readonly linked?: OtelSpan;
}

/** Makes spans of the SDK ours. */
function createSpans(tracer: OtelTracer, { config, redactor: ofProcess, clock }: TelemetryPorts) {
  return begin;

  function begin({ name, kind = 'internal' }: SpanStart, { above, now = startTime(), linked }: Beginning): Span {
    const links = linked === undefined ? [] : [{ context: linked.spanContext() }];
    return wrap(tracer.startSpan(name, { kind: KINDS[kind], links, startTime: now() }, above), now);
  }

  function startTime(): () => number {
    const [startedMs, steadyMs] = [clock.now(), clock.steady()];
    return () => startedMs + clock.steady() - steadyMs;
  }

  function wrap(span: OtelSpan, now: () => number): Span {
    const { traceId, spanId } = span.spanContext();
    const isRecorded = span.isRecording();
    const own: Span = {
      traceId,
      spanId,
      isRecorded,
      get traceparent() {
        return isRecorded ? headersOf(span).traceparent : undefined;
      },
      child: (start) => (isRecorded ? begin(start, { above: traceOf.setSpan(ROOT_CONTEXT, span), now }) : own),
      follow: (start) => begin(start, { above: ROOT_CONTEXT, linked: span }),
      headersFor: (hostname) => (isAmong(hostname, config.contextHosts) ? headersOf(span) : undefined),
      note: (describe) => {
        if (isRecorded) setAttributes(span, describe(), redactorOf(undefined));
      },
      end: (describe) => {
        if (!isRecorded) return;
        if (describe !== undefined) complete(span, describe());
        span.end(now());
      },
    };
    return own;
  }

  function complete(span: OtelSpan, { name, attributes, errorType, redactor }: SpanEnd): void {
    if (name !== undefined) span.updateName(name);
    setAttributes(span, { ...attributes, 'error.type': errorType }, redactorOf(redactor));
    if (errorType !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
  }

  function redactorOf(more: Redactor | undefined): Redactor {
    const known = [ofProcess, currentTrace()?.redactor, more];
    return combineRedactors(known.filter((redactor) => redactor !== undefined));
  }
}

function setAttributes(span: OtelSpan, attributes: SpanAttributes, { redact }: Redactor): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined) continue;
    span.setAttribute(name, typeof value === 'string' ? redact(value.slice(0, LONGEST_READ_TEXT)) : value);
  }
}

function headersOf(span: OtelSpan): Record<string, string> {
  const headers: Record<string, string> = {};
  W3C.inject(traceOf.setSpan(ROOT_CONTEXT, span), headers, defaultTextMapSetter);
  return headers;
}

function isAmong(hostname: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) =>
    pattern.startsWith('*.') ? hostname.endsWith(pattern.slice(1)) : hostname === pattern,
  );
}
