import { fault } from './fault.ts';
import type { Call } from './route.ts';

/** Checks the authentication of a request. It throws a Fault for a request that it rejects. */
export type Guard = (call: Call) => void;

/** A user name and a password. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** Reads the credentials of a header `Authorization: Basic …` (RFC 7617). */
export function readBasic(authorization: string | undefined): Credentials | undefined {
  const encoded = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const at = text.indexOf(':');
  return at < 0 ? undefined : { username: text.slice(0, at), password: text.slice(at + 1) };
}

/** Reads the token of a header `Authorization: Bearer …` (RFC 6750), or of another scheme. */
export function readBearer(
  authorization: string | undefined,
  schemes: readonly string[] = ['Bearer'],
): string | undefined {
  const [scheme = '', token] = (authorization ?? '').split(/ +/, 2);
  return schemes.some((known) => known.toLowerCase() === scheme.toLowerCase()) ? token : undefined;
}

/**
 * Returns a guard for HTTP Basic.
 * @throws Fault (the guard) 401
 */
export function basic(realm: string, accepts: (credentials: Credentials) => boolean, message = 'Unauthorized'): Guard {
  return ({ headers }) => {
    const credentials = readBasic(headers.authorization);
    if (credentials !== undefined && accepts(credentials)) return;
    throw fault(401, message, { headers: { 'www-authenticate': `Basic realm="${realm}"` } });
  };
}

/**
 * Returns a guard for a key in a header.
 * @param header the name in lower case
 * @throws Fault (the guard) 401
 */
export function keyHeader(header: string, accepts: (key: string) => boolean, message = 'Unauthorized'): Guard {
  return ({ headers }) => {
    const key = headers[header];
    if (typeof key === 'string' && accepts(key)) return;
    throw fault(401, message);
  };
}

/**
 * Returns a guard for access tokens in the header `Authorization: Bearer …`.
 * @throws Fault (the guard) 401
 */
export function bearer(accepts: (token: string) => boolean, message = 'Unauthorized'): Guard {
  return ({ headers }) => {
    const token = readBearer(headers.authorization);
    if (token !== undefined && accepts(token)) return;
    throw fault(401, message, { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } });
  };
}
