import type { Request, Response } from 'express';
import { MASK } from '../instances/configuration.ts';
import { combineRedactors, createRedactor, type Redactor } from '../redaction.ts';
import type { Caller } from './authorization.ts';

/** Makes the redactor of a call out of the secrets that came with it and those of its instance; it knows nothing of another call. */
export type RedactCall = (request: Request, response: Response) => Redactor;

/** Members of a body and parameters of a query that are secrets wherever they stand, beside the keys of configurations. */
const SECRET_MEMBERS: readonly string[] = ['apiSecret', 'code', 'password', 'secret', 'token'];

/** `secretKeys` are those of configurations, of all elements: which one is meant may be what is wrong with the call. */
export function createRedactCall(secretKeys: Iterable<string>): RedactCall {
  const names = [...new Set([...secretKeys, ...SECRET_MEMBERS])];
  // By these names, and not by the members that there are: a body can have a million.
  const secretsIn = (members: object): readonly string[] =>
    names.flatMap((name) => {
      const value: unknown = Object.hasOwn(members, name) ? Reflect.get(members, name) : undefined;
      return (typeof value === 'string' || typeof value === 'number') && value !== MASK ? [String(value)] : [];
    });

  return (request, response) => {
    const caller: Caller | undefined = response.locals.caller;
    const ofCaller = caller?.redactor ?? createRedactor(wordsOf(request.headers.authorization));
    const ofInstance = caller?.instance === undefined ? [] : [caller.instance.redactor];
    return combineRedactors([ofCaller, ...ofInstance, ...given(request, response)]);
  };

  /** A record may have a `code` or a `token` that is none. Its query is not even looked at: that parses it once more. */
  function given(request: Request, response: Response): readonly Redactor[] {
    if (response.locals.scope === 'record') return [];
    const { body, query } = request;
    const { configuration, providerData } = Object(body);
    const secrets = [query, body, configuration, providerData].flatMap((members) => secretsIn(Object(members)));
    return secrets.length === 0 ? [] : [createRedactor(secrets)];
  }
}

const KEYWORDS: ReadonlySet<string> = new Set(['user', 'organization', 'element', 'bearer', 'basic']);

/** What may be a secret in a header that was not understood, or not accepted. */
function wordsOf(header = ''): readonly string[] {
  return header.split(/[\s,]+/).filter((word) => !KEYWORDS.has(word.toLowerCase()));
}
