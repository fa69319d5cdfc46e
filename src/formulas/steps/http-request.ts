import { type Egress, EgressError } from '../../egress/index.ts';
import type { StepValue } from '../executions/model.ts';
import { fillText } from '../references.ts';
import { judge, MOST_RESPONSE_BYTES, showResponse } from './api-requests.ts';
import { errorValue, fail, type PerformStep, StepFault } from './outcome.ts';
import { readProperties } from './properties.ts';
import { mayRetry, readBody, readHeaders, readMethod, readQuery, readRetryRule, showHeaders } from './request-parts.ts';

interface HttpRequestPorts {
  readonly egress: Pick<Egress, 'request'>;
}

/** Maximum time of a request to a foreign server, in milliseconds (formulas.md, 8). */
const TIMEOUT_MS = 60_000;

/** Sends a request to any server that the rules of outgoing connections allow: the steps `httpRequest`. */
export function createHttpRequest({ egress }: HttpRequestPorts): PerformStep {
  return async ({ step, context, retries, signal }) => {
    const properties = readProperties(step.properties, context);
    const rule = readRetryRule(properties);
    const method = readMethod(properties);
    const query = readQuery(properties);
    const url = withQuery(
      readUrl(step.properties.url, properties.text('url'), (text) => fillRest(text, context)),
      query.text,
    );
    const body = method === 'GET' ? undefined : readBody(properties);
    const headers = {
      ...(body !== undefined && { 'content-type': body.contentType }),
      ...readHeaders(properties),
    };
    const shown: readonly StepValue[] = [
      [['request', 'method'], method],
      [['request', 'url'], url],
      [['request', 'query'], query.shown],
      [['request', 'headers'], showHeaders(headers)],
      ...(body === undefined ? [] : [[['request', 'body'], body.shown] as const]),
      ...(retries > 0 ? [[['request', 'retry-attempt'], String(retries)] as const] : []),
    ];
    try {
      const response = await egress.request({
        url,
        method,
        headers,
        ...(body !== undefined && { body: body.bytes }),
        timeoutMs: TIMEOUT_MS,
        maxBytes: MOST_RESPONSE_BYTES,
        signal,
      });
      if (mayRetry(rule, response.status, retries)) return { kind: 'retry', afterMs: rule.delayMs };
      const received = { status: response.status, headers: response.headers, bytes: response.body };
      return judge(properties, response.status, [...shown, ...showResponse(received)]);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof EgressError)) throw error;
      if (mayRetry(rule, undefined, retries)) return { kind: 'retry', afterMs: rule.delayMs };
      return fail([...shown, errorValue(error.message)]);
    }
  };
}

/** A reference at the beginning may hold a whole URL; every other one is a part of it. @throws StepFault */
function readUrl(given: unknown, resolved: string, fillRest: (text: string) => string): string {
  const text = typeof given === 'string' ? given.trim() : resolved;
  const url = /^\$\{[^{}]*\}$/.test(text) ? resolved : fillRest(text);
  const scheme = URL.parse(url)?.protocol;
  if (scheme === 'http:' || scheme === 'https:') return url;
  throw new StepFault("The property 'url' must be an http or https URL.");
}

function fillRest(text: string, context: Parameters<typeof fillText>[1]): string {
  const [, first = '', rest = text] = /^(\$\{[^{}]*\})([\s\S]*)$/.exec(text) ?? [];
  return fillText(first, context) + fillText(rest, context, encodeURIComponent);
}

function withQuery(url: string, query: string): string {
  if (query === '') return url;
  return `${url}${url.includes('?') ? '&' : '?'}${query}`;
}
