import { randomUUID } from 'node:crypto';
import type { RequestHandler, Response } from 'express';
import type { Principal } from '../accounts/accounts.ts';
import type { ErrorCode } from '../errors.ts';
import type { Logger } from '../log.ts';
import { combineRedactors } from '../redaction.ts';
import type { Trace } from '../trace.ts';
import type { Caller } from './authorization.ts';
import type { RedactCall } from './call-redactor.ts';
import { addressOf, type ProxyTrust } from './remote-address.ts';

export interface AccessLogPorts {
  readonly log: Logger;
  readonly trust: ProxyTrust;
  readonly redactCall: RedactCall;
}

/** Gives the request its id and the address that it came from, and writes one log line when it has ended. */
export function identify({ log, trust, redactCall }: AccessLogPorts): RequestHandler {
  return (request, response, next) => {
    const startedAtMs = performance.now();
    const requestId = randomUUID();
    // As it came: a HEAD is worked on as the GET that it is.
    const { method } = request;
    const address = addressOf(request, trust);
    const trace: Trace = { requestId, providerCalls: 0 };
    response.locals.requestId = requestId;
    response.locals.trace = trace;
    response.locals.address = address;
    response.setHeader('Elements-Request-Id', requestId);
    // What is answered is what its type says, whatever a browser would guess.
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.once('close', () => {
      const ms = Math.round((performance.now() - startedAtMs) * 10) / 10;
      const { statusCode: status, writableFinished } = response;
      const principal: Principal | undefined = response.locals.principal;
      const caller: Caller | undefined = response.locals.caller;
      const errorCode: ErrorCode | undefined = response.locals.errorCode;
      // The path only: a query may hold personal data.
      const [path = ''] = request.originalUrl.split('?', 1);
      log.info(
        {
          requestId,
          address,
          ...(principal !== undefined && { accountId: principal.accountId, userId: principal.userId }),
          ...(caller?.instance !== undefined && {
            instanceId: caller.instance.id,
            element: caller.instance.connector.key,
          }),
          method,
          // Redacted here: the rest of the line has no foreign text, and is written for every request.
          path: redactCall(request, response).redact(path),
          status,
          ...(errorCode !== undefined && { errorCode }),
          ...((caller?.instance !== undefined || trace.providerCalls > 0) && { providerCalls: trace.providerCalls }),
          ms,
          ...(!writableFinished && { cut: true }),
        },
        'request',
      );
    });
    next();
  };
}

/** The trace of the call, once it is known who calls. */
export function traceOf(response: Response): Trace {
  const { redactor, instance }: Caller = response.locals.caller;
  const trace: Trace = response.locals.trace;
  trace.redactor = instance === undefined ? redactor : combineRedactors([redactor, instance.redactor]);
  if (instance !== undefined && response.locals.scope !== 'platform') trace.instanceId = instance.id;
  return trace;
}
