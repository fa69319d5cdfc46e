import type { Request, Response } from 'express';
import type { Recorder } from '../activity/recorder.ts';
import { openWire } from '../activity/runs.ts';
import type { Clock } from '../clock.ts';
import type { RedactCall } from '../http/request-log.ts';
import { MASK } from '../instances/configuration.ts';
import { cookiesIn } from '../pairs.ts';
import { combineRedactors, createRedactor, type Redactor } from '../redaction.ts';
import type { Trace } from '../trace.ts';
import type { Authorized, Caller } from './authorization.ts';

/** Notes the caller of a request as soon as it is known. */
export type NoteCaller = (response: Response, authorized: Authorized) => void;

export function createNoteCaller(clock: Pick<Clock, 'now'>, openWireLog: Recorder['openWireLog']): NoteCaller {
  return (response, authorized) => {
    const { caller, scope } = authorized;
    const trace: Trace = response.locals.trace;
    if (authorized.scope === 'connect') trace.redactor = createRedactor([authorized.pageSession.key]);
    if (caller === undefined) return;
    const { instance } = caller;
    trace.redactor = redactorOf(caller);
    // A request to the platform is about another instance, or none, whose secrets are not known here.
    if (instance === undefined || scope === 'platform') return;
    trace.instanceId = instance.id;
    if (instance.traceLoggingUntil === null) return;
    const wire = openWire({ openWireLog }, instance, { redactor: trace.redactor, nowMs: clock.now() });
    if (wire !== undefined) trace.wire = wire;
  };
}

/** The members of a caller that redaction needs. A provider that sends webhooks is identified by its address and is no principal. */
export type KnownCaller = Pick<Caller, 'redactor' | 'instance'>;

/** Returns the redactor of a caller and its instance. */
function redactorOf({ redactor, instance }: KnownCaller): Redactor {
  return instance === undefined ? redactor : combineRedactors([redactor, instance.redactor]);
}

/** Members of a body and parameters of a query that are secrets wherever they stand, beside the keys of configurations. */
const SECRET_MEMBERS: readonly string[] = ['apiSecret', 'code', 'currentPassword', 'password', 'secret', 'token'];

/**
 * Creates the redaction of calls. `secretKeys` has the secret configuration keys of all elements, because a faulty request may name the
 * wrong element.
 */
export function createRedactCall(secretKeys: Iterable<string>): RedactCall {
  const names = [...new Set([...secretKeys, ...SECRET_MEMBERS])];
  // By these names, and not by the members that there are: a body can have a million.
  const secretsIn = (members: object): readonly string[] =>
    names.flatMap((name) => {
      const value: unknown = Object.hasOwn(members, name) ? Reflect.get(members, name) : undefined;
      return (typeof value === 'string' || typeof value === 'number') && value !== MASK ? [String(value)] : [];
    });

  return (request, response) => {
    const caller: KnownCaller | undefined = response.locals.caller;
    const { authorization, cookie } = request.headers;
    const ofCaller = caller ? redactorOf(caller) : createRedactor([...wordsOf(authorization), ...valuesOf(cookie)]);
    // A record may have a `code` or a `token` that is none. Its query is not even looked at: that parses it once more.
    const given = response.locals.scope === 'record' ? [] : givenSecrets(request);
    const { originalUrl } = request;
    const keys = originalUrl.includes('ck_') ? keysIn(originalUrl) : [];
    const others = [secretsInPath(originalUrl), keys, given].filter(({ length }) => length > 0);
    return others.length === 0 ? ofCaller : combineRedactors([ofCaller, ...others.map(createRedactor)]);
  };

  function givenSecrets({ body, query }: Request): readonly string[] {
    const { configuration, providerData } = Object(body);
    return [query, body, configuration, providerData].flatMap((members) => secretsIn(Object(members)));
  }
}

/** Returns what looks like access keys in a URL, wherever they stand. No URL of ours has one. */
function keysIn(originalUrl: string): readonly string[] {
  return originalUrl.match(/ck_[0-9A-Za-z]{20,}/g) ?? [];
}

const KEYWORDS: ReadonlySet<string> = new Set(['user', 'organization', 'element', 'connect', 'bearer', 'basic']);

/** Returns the possible secrets in a header that was not understood or not accepted. */
function wordsOf(header = ''): readonly string[] {
  return header.split(/[\s,:]+/).filter((word) => !KEYWORDS.has(word.toLowerCase()));
}

/** Returns the values of cookies, because a session that has ended belongs to no caller. */
function valuesOf(header = ''): readonly string[] {
  return cookiesIn(header).map((pair) => pair.slice(pair.indexOf('=') + 1));
}

/** Paths outside of the API whose end is a secret: addresses for the events of a provider, and pages of connect sessions. The number says after how many segments. */
const PUBLIC_SEGMENTS: ReadonlyMap<string, number> = new Map([
  ['events', 2],
  ['connect', 1],
]);

/** 32 bytes in base64url, and anything that was appended. */
const KEY = /^[\w-]{43}/;

/**
 * Returns the possible secrets in the path of a URL, in every spelling that reaches or resembles such an address:
 * another method, more or fewer segments, other letter case, percent-encoded, behind the base path of a proxy or of
 * the API.
 */
export function secretsInPath(originalUrl: string): readonly string[] {
  const [path = ''] = originalUrl.split('?', 1);
  // Almost no path has a key, and this runs for every request.
  if (!/events|connect|%/i.test(path)) return [];
  const raw = segmentsOf(path);
  const plain = segmentsOf(decoded(path));
  const at = plain.findIndex((segment) => PUBLIC_SEGMENTS.has(segment.toLowerCase()));
  const name = plain[at]?.toLowerCase();
  if (name === undefined) return [];
  const behind = plain.slice(at + 1).filter((segment) => KEY.test(segment));
  const isOwn = at === 0;
  const ends = isOwn ? plain.slice(PUBLIC_SEGMENTS.get(name)) : [];
  const encoded = raw.filter((segment) => segment.includes('%') && (isOwn || behind.length > 0));
  return [...ends, ...behind, ...encoded].filter((segment) => !(name === 'connect' && segment === 'authorize'));
}

function segmentsOf(path: string): readonly string[] {
  return path.split('/').filter((segment) => segment !== '');
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // A path with an invalid percent-encoding matches nothing. It is logged unchanged.
    return path;
  }
}
