import type { SpanEnd } from '../../trace.ts';
import type { SentRequest } from './telling.ts';

const HIDDEN = 'REDACTED';

/** What the span of one request to a provider says, in the words of the conventions for HTTP clients and ours. */
export function describeExchange({
  element,
  method,
  url,
  toSimulator,
  outcome,
  redactor,
  resends,
}: SentRequest): SpanEnd {
  return {
    attributes: {
      'http.request.method': method,
      'http.request.resend_count': resends === 0 ? undefined : resends,
      'http.response.status_code': typeof outcome === 'number' ? outcome : undefined,
      ...describeTarget(url, url.pathname),
      'causeway.element': element,
      'causeway.simulator': toSimulator ? true : undefined,
    },
    errorType: errorTypeOf(outcome),
    redactor,
  };
}

/** Where a request goes. Of a query nothing is said: filters and keys stand there. */
export function describeTarget({ origin, protocol, hostname, port, search }: URL, path: string) {
  const usualPort = protocol === 'https:' ? 443 : 80;
  return {
    'url.full': `${origin}${path}${search === '' ? '' : `?${HIDDEN}`}`,
    'server.address': hostname,
    'server.port': port === '' ? usualPort : Number(port),
  };
}

/** Undefined for a success: for a client a refusal is a failure too. */
function errorTypeOf(outcome: SentRequest['outcome']): string | undefined {
  if (typeof outcome === 'string') return outcome;
  return outcome >= 400 ? String(outcome) : undefined;
}
