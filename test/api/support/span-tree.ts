import type { Collector, ExportedSpan } from '../../support/otlp/collector.ts';
import { until } from '../../support/until.ts';

/** A trace as text, each span indented below its parent, in the order in which they began. */
export function treeOf(spans: readonly ExportedSpan[]): readonly string[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const ordered = spans.toSorted((one, other) => Number(one.startTimeUnixNano - other.startTimeUnixNano));
  const linesOf = (span: ExportedSpan): readonly string[] => {
    const below = ordered.filter(({ parentSpanId }) => parentSpanId === span.spanId).flatMap(linesOf);
    return [describe(span), ...below.map((line) => `  ${line}`)];
  };
  return ordered.filter(({ parentSpanId }) => !ids.has(parentSpanId)).flatMap(linesOf);
}

function describe({ kind, name, attributes, status }: ExportedSpan): string {
  const code = attributes['http.response.status_code'];
  const failure = status === 'ERROR' ? `ERROR ${attributes['error.type']}` : undefined;
  return [kind, name, code, failure].filter((part) => part !== undefined).join(' ');
}

export function isStatement({ attributes }: ExportedSpan): boolean {
  return attributes['db.system.name'] !== undefined;
}

/** @throws Error when there is none */
export function findSpan(
  spans: readonly ExportedSpan[],
  kind: string,
  isMeant: (span: ExportedSpan) => boolean = () => true,
): ExportedSpan {
  const span = spans.find((one) => one.kind === kind && isMeant(one));
  if (span === undefined) throw new Error(`There is no such span of ${kind} in:\n${treeOf(spans).join('\n')}`);
  return span;
}

/** Of the request that had this response, once its own span has come: it is the last. */
export async function traceOfRequest(
  collector: Pick<Collector, 'spans'>,
  { headers }: { readonly headers: Headers },
): Promise<readonly ExportedSpan[]> {
  const requestId = headers.get('elements-request-id');
  const find = () => collector.spans.findLast(({ attributes }) => attributes['causeway.request.id'] === requestId);
  await until(async () => find() !== undefined);
  const own = find();
  return collector.spans.filter(({ traceId }) => traceId === own?.traceId);
}
