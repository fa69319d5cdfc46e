import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import protobuf from 'protobufjs';
import { listen } from '../../../suite/listen.ts';
import { stopServer } from '../../../suite/stop-server.ts';
import { useStarted } from '../started.ts';

/** A span that the collector received. */
export interface ExportedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Id of the parent span. Empty for the first span of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: string;
  readonly startTimeUnixNano: bigint;
  readonly endTimeUnixNano: bigint;
  readonly resource: Readonly<Record<string, unknown>>;
}

/** A collector that accepts traces in OTLP over HTTP and decodes them with the published definitions of the protocol. */
export interface Collector {
  /** Value of OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly spans: readonly ExportedSpan[];
  /** Headers of each export. */
  readonly headers: readonly IncomingMessage['headers'][];
  /** Returns the bodies of all exports, unchanged. */
  readonly bytes: () => Buffer;
  /** Sets the behaviour for further exports. */
  readonly behave: (how: 'take' | 'refuse' | 'hang') => void;
  readonly close: () => Promise<void>;
}

const REQUEST = 'opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest';

export async function startCollector(): Promise<Collector> {
  const read = await loadReader();
  const spans: ExportedSpan[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const bodies: Buffer[] = [];
  let behaviour: 'take' | 'refuse' | 'hang' = 'take';

  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    if (behaviour === 'hang') return;
    if (behaviour === 'refuse' || request.url !== '/v1/traces') return void response.writeHead(400).end();
    headers.push(request.headers);
    bodies.push(body);
    spans.push(...read(body));
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    headers,
    bytes: () => Buffer.concat(bodies),
    behave: (how) => {
      behaviour = how;
    },
    close: () => stopServer(server),
  };
}

/** Starts a collector for the calling suite. Call it before the service of the suite is started. */
export function useCollector(): Pick<Collector, 'url' | 'spans' | 'bytes'> {
  return useStarted(startCollector, ({ close }) => close());
}

/** A request as the definitions describe it, with enumerations by name. */
interface ReadRequest {
  readonly resourceSpans?: readonly {
    readonly resource?: { readonly attributes?: readonly KeyValue[] };
    readonly scopeSpans?: readonly { readonly spans?: readonly ReadSpan[] }[];
  }[];
}

interface ReadSpan {
  readonly traceId: Buffer;
  readonly spanId: Buffer;
  readonly parentSpanId?: Buffer;
  readonly name: string;
  readonly kind: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly KeyValue[];
  readonly links?: readonly { readonly traceId: Buffer; readonly spanId: Buffer }[];
  readonly status?: { readonly code?: string };
}

interface KeyValue {
  readonly key: string;
  readonly value?: Readonly<Record<string, unknown>>;
}

async function loadReader(): Promise<(body: Buffer) => readonly ExportedSpan[]> {
  const root = new protobuf.Root();
  root.resolvePath = (_origin, target) => join(import.meta.dirname, target);
  await root.load('opentelemetry/proto/collector/trace/v1/trace_service.proto');
  const type = root.lookupType(REQUEST);
  return (body) => {
    const request: ReadRequest = type.toObject(type.decode(body), { enums: String, longs: String, bytes: Buffer });
    return (request.resourceSpans ?? []).flatMap(({ resource, scopeSpans = [] }) =>
      scopeSpans.flatMap(({ spans = [] }) => spans.map((span) => toSpan(span, readValues(resource?.attributes)))),
    );
  };
}

function toSpan(span: ReadSpan, resource: ExportedSpan['resource']): ExportedSpan {
  const { name, kind, attributes, links = [], status, startTimeUnixNano, endTimeUnixNano } = span;
  const hex = (bytes: Buffer | undefined) => bytes?.toString('hex') ?? '';
  return {
    traceId: hex(span.traceId),
    spanId: hex(span.spanId),
    parentSpanId: hex(span.parentSpanId),
    name,
    kind: kind.replace('SPAN_KIND_', ''),
    attributes: readValues(attributes),
    links: links.map((link) => ({ traceId: hex(link.traceId), spanId: hex(link.spanId) })),
    status: (status?.code ?? 'STATUS_CODE_UNSET').replace('STATUS_CODE_', ''),
    startTimeUnixNano: BigInt(startTimeUnixNano),
    endTimeUnixNano: BigInt(endTimeUnixNano),
    resource,
  };
}

/** Returns the attributes as an object. Exactly one member of each value is set. */
function readValues(attributes: readonly KeyValue[] = []): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      const [kind, found] = Object.entries(value ?? {})[0] ?? [];
      return [key, kind === 'intValue' ? Number(found) : found];
    }),
  );
}
