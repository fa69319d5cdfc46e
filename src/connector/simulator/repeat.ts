import type { Fault } from './fault.ts';
import type { SimulatedResponse } from './response.ts';
import type { RouteHandler } from './route.ts';

/** The treatment of idempotency keys. */
export interface RepeaterOptions {
  /** Headers of a repeated response. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Returns the provider's error for a key that another request used before. Default: that response is repeated. */
  readonly conflict?: () => Fault;
}

/**
 * Returns a function that changes handlers: for an `idempotency-key` that was used before, they return the first response again.
 * @throws Fault (the handler) for a key of another request, with `conflict`
 */
export function createRepeater({ headers, conflict }: RepeaterOptions = {}): (handler: RouteHandler) => RouteHandler {
  const known = new Map<string, { readonly request: string; readonly response: SimulatedResponse }>();
  return (handler) => async (call) => {
    const key = call.headers['idempotency-key'];
    if (typeof key !== 'string' || key === '') return handler(call);
    const request = `${call.method} ${call.path} ${call.body.text()}`;
    const first = known.get(key);
    if (first === undefined) {
      const response = await handler(call);
      known.set(key, { request, response });
      return response;
    }
    if (conflict !== undefined && first.request !== request) throw conflict();
    return { ...first.response, headers: { ...first.response.headers, ...headers } };
  };
}
