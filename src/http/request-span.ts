import type { Request, Response } from 'express';
import type { TenantIds } from '../accounts/store.ts';
import type { ErrorCode } from '../errors.ts';
import type { Instance } from '../instances/instance.ts';
import type { Redactor } from '../redaction.ts';
import type { SpanEnd, Trace } from '../trace.ts';

/** RFC 9110 and RFC 5789: any other could be a text of the caller's. */
const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'CONNECT',
  'TRACE',
]);
const OTHER_METHOD = '_OTHER';
const LONGEST_AGENT = 256;

/** Returns the name of a request's span before its operation is known, or if it has none. */
export function methodName(method: string): string {
  return METHODS.has(method) ? method : 'HTTP';
}

interface EndedRequest {
  /** Method of the request as received. A HEAD is processed as a GET. */
  readonly method: string;
  readonly redactor: Redactor;
  readonly routes: ReadonlyMap<string, string>;
}

/**
 * Returns the attributes of a request's span after its response, following the OpenTelemetry conventions for HTTP
 * servers plus attributes of this service.
 */
export function describeRequest(
  request: Request,
  response: Response,
  { method, redactor, routes }: EndedRequest,
): SpanEnd {
  const { statusCode, writableFinished, locals } = response;
  const principal: TenantIds | undefined = locals.principal;
  const instance: Instance | undefined = locals.caller?.instance;
  const trace: Trace = locals.trace;
  const errorCode: ErrorCode | undefined = locals.errorCode;
  const operation: string | undefined = locals.operation ?? locals.sought;
  const route = operation && routes.get(operation);
  const [path] = request.originalUrl.split('?', 1);
  return {
    name: route === undefined ? methodName(method) : `${methodName(method)} ${route}`,
    attributes: {
      'http.request.method': METHODS.has(method) ? method : OTHER_METHOD,
      'http.request.method_original': METHODS.has(method) ? undefined : method,
      'http.route': route,
      'http.response.status_code': statusCode,
      // A proxy in front of this process may have been called with another scheme.
      'url.scheme': 'http',
      'url.path': path,
      ...serverOf(request.headers.host),
      'client.address': locals.address,
      'network.protocol.version': request.httpVersion,
      'user_agent.original': request.headers['user-agent']?.slice(0, LONGEST_AGENT),
      'causeway.request.id': trace.requestId,
      'causeway.operation': operation,
      'causeway.account.id': principal?.accountId,
      'causeway.instance.id': instance?.id,
      'causeway.element': instance?.connector.key,
      'causeway.pushdown': trace.pushdown,
      'causeway.rows': trace.rows,
      'causeway.provider.calls': trace.providerCalls,
      'causeway.error.code': errorCode,
      'causeway.cut': writableFinished ? undefined : true,
    },
    // An error of the caller is no failure of the service.
    errorType: statusCode >= 500 ? (errorCode ?? String(statusCode)) : undefined,
    redactor,
  };
}

function serverOf(host: string | undefined) {
  const url = URL.parse(`http://${host ?? ''}`);
  if (url === null) return {};
  return { 'server.address': url.hostname, 'server.port': url.port === '' ? undefined : Number(url.port) };
}
