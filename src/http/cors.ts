import type { Request, Response } from 'express';

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const PREFLIGHT_SECONDS = 600;

/**
 * Allows the pages of these origins to send requests and read responses (Fetch, "CORS protocol"). The secrets in a request decide what it
 * may do. So credentials of the browser are never allowed, and a preflight, which has no secrets, is accepted without any.
 * @param exposed headers of responses that pages can read
 * @returns a function that returns whether it has sent the response; undefined without origins
 */
export function createCors(
  origins: readonly string[],
  exposed: readonly string[],
): ((request: Request, response: Response) => boolean) | undefined {
  if (origins.length === 0) return undefined;
  const allowed = new Set(origins);
  const exposedText = exposed.join(', ');
  return (request, response) => {
    response.vary('Origin');
    const { origin, 'access-control-request-headers': headers } = request.headers;
    if (origin === undefined || !allowed.has(origin)) return false;
    response.setHeader('Access-Control-Allow-Origin', origin);
    response.setHeader('Access-Control-Expose-Headers', exposedText);
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return false;
    response.setHeader('Access-Control-Allow-Methods', METHODS);
    if (headers !== undefined) response.setHeader('Access-Control-Allow-Headers', headers);
    response.setHeader('Access-Control-Max-Age', PREFLIGHT_SECONDS);
    response.status(204).end();
    return true;
  };
}
