import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';
import type { Principal } from '../accounts/accounts.ts';
import type { Logger } from '../log.ts';
import type { Caller } from './authorization.ts';
import { addressOf, type ProxyTrust } from './remote-address.ts';

/** Gives the request its id and the address that it came from, and writes one log line when it has ended. */
export function identify(log: Logger, trust: ProxyTrust): RequestHandler {
  // These lines have a fixed form without secrets: looking for them by name would cost more than all the rest of the line.
  const accessLog = log.child({}, { redact: [] });
  return (request, response, next) => {
    const startedAtMs = performance.now();
    const requestId = randomUUID();
    const address = addressOf(request, trust);
    response.locals.requestId = requestId;
    response.locals.address = address;
    response.setHeader('Elements-Request-Id', requestId);
    // What is answered is what its type says, whatever a browser would guess.
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.once('close', () => {
      const ms = Math.round((performance.now() - startedAtMs) * 10) / 10;
      const { statusCode: status, writableFinished } = response;
      const principal: Principal | undefined = response.locals.principal;
      const caller: Caller | undefined = response.locals.caller;
      // The path only: a query may hold personal data.
      const [path] = request.originalUrl.split('?', 1);
      accessLog.info(
        {
          requestId,
          address,
          ...(principal !== undefined && { accountId: principal.accountId, userId: principal.userId }),
          ...(caller?.instance !== undefined && { instanceId: caller.instance.id }),
          method: request.method,
          path,
          status,
          ms,
          ...(!writableFinished && { cut: true }),
        },
        'request',
      );
    });
    next();
  };
}
