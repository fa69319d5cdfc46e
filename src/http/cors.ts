import type { Request, Response } from 'express';

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const PREFLIGHT_SECONDS = 600;

/**
 * Lets the pages of these origins call and read the responses (Fetch, "CORS protocol"). What they may do is decided by the secrets they
 * send, so there are no credentials of the browser to allow, and a preflight, which has no secrets, is met without any.
 * @param exposed headers of responses; without them a page would see none of these
 * @returns a function that says whether it has sent the response
 */
export function createCors(
  origins: readonly string[],
  exposed: readonly string[],
): (request: Request, response: Response) => boolean {
  const allowed = new Set(origins);
  const exposedText = exposed.join(', ');
  return (request, response) => {
    if (allowed.size === 0) return false;
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
