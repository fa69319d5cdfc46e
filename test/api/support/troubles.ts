import type { ErrorCode } from '../../../src/errors.ts';
import {
  type Behaviour,
  brokenJson,
  endless,
  garbage,
  hang,
  html,
  json,
  redirect,
  resetBeforeAnswer,
  resetInBody,
  stallInBody,
  status,
} from '../../support/misbehaving-server.ts';

export const PASSWORD = 'a-password-nobody-may-see';
const MEGABYTE = 1024 * 1024;

/** What a provider does, and what of it reaches the caller who reads records. */
export interface Trouble {
  readonly does: Behaviour;
  readonly code: ErrorCode;
  /** `NAME` stands for the element's name. */
  readonly message: string | RegExp;
  readonly retryAfter?: string;
  readonly providerMessage?: string;
  /** Requests that the provider sees; another try is made where it may help. */
  readonly requests: number;
}

export const quoted = { error: { message: `Not with '${PASSWORD}'` } };
const limited = (seconds: number) =>
  `NAME returned 429: it accepts no more requests for now. Try again in ${seconds} s.`;
const noJson = (type: string) => `NAME returned 200 without the requested JSON (${type}).`;
const UNAVAILABLE = 'it cannot serve the request at the moment. Try again later.';

export const TROUBLES: Readonly<Record<string, Trouble>> = {
  '403 that quotes the password': {
    does: json(quoted, 403),
    code: 'PROVIDER_REJECTED',
    message: 'NAME returned 403: it rejects the request. Correct the request.',
    providerMessage: "Not with '[redacted]'",
    requests: 1,
  },
  '404': {
    does: status(404),
    code: 'NOT_FOUND',
    message: 'NAME returned 404: it has nothing with this name or id.',
    requests: 1,
  },
  '429 with Retry-After': {
    does: status(429, { 'retry-after': '17' }),
    code: 'PROVIDER_RATE_LIMITED',
    message: limited(17),
    retryAfter: '17',
    requests: 1,
  },
  '429 without Retry-After': {
    does: status(429),
    code: 'PROVIDER_RATE_LIMITED',
    message: limited(60),
    retryAfter: '60',
    requests: 3,
  },
  '500': { does: status(500), code: 'PROVIDER_UNAVAILABLE', message: `NAME returned 500: ${UNAVAILABLE}`, requests: 1 },
  '500 with the password in a page': {
    does: status(500, { 'content-type': 'text/html' }, `<html><body>${PASSWORD}</body></html>`),
    code: 'PROVIDER_UNAVAILABLE',
    message: `NAME returned 500: ${UNAVAILABLE}`,
    requests: 1,
  },
  '503 with Retry-After': {
    does: status(503, { 'retry-after': '30' }),
    code: 'PROVIDER_UNAVAILABLE',
    message: `NAME returned 503: ${UNAVAILABLE}`,
    retryAfter: '30',
    requests: 1,
  },
  'a reset': {
    does: resetBeforeAnswer,
    code: 'PROVIDER_UNAVAILABLE',
    message: /^NAME did not respond completely: .+ Try again later\.$/,
    requests: 3,
  },
  'a reset in the middle': {
    does: resetInBody,
    code: 'PROVIDER_UNAVAILABLE',
    message: /^NAME did not respond completely: .+ Try again later\.$/,
    requests: 3,
  },
  'HTML in place of JSON': { does: html, code: 'PROVIDER_PROTOCOL', message: noJson('text/html'), requests: 1 },
  'half of a JSON text': {
    does: brokenJson,
    code: 'PROVIDER_PROTOCOL',
    message: noJson('application/json'),
    requests: 1,
  },
  'bytes that are no HTTP': {
    does: garbage,
    code: 'PROVIDER_PROTOCOL',
    message: /^The response of NAME cannot be read: /,
    requests: 1,
  },
  '200 MB': {
    does: endless(200 * MEGABYTE),
    code: 'PROVIDER_PROTOCOL',
    message: /^The response of NAME is too large: .+ Request less\.$/,
    requests: 1,
  },
  'a redirect to another host': {
    does: redirect('https://elsewhere.example/collect'),
    code: 'PROVIDER_PROTOCOL',
    message: 'The response of NAME pointed to another host, elsewhere.example, which Causeway does not follow.',
    requests: 1,
  },
  'a redirect to another port': {
    does: redirect('http://127.0.0.1:1/collect'),
    code: 'PROVIDER_PROTOCOL',
    message: 'The response of NAME pointed to another host, 127.0.0.1:1, which Causeway does not follow.',
    requests: 1,
  },
  'redirects without end': {
    does: redirect('?again'),
    code: 'PROVIDER_PROTOCOL',
    message: 'NAME redirected more than 3 times.',
    requests: 4,
  },
};

/** They cost the time that a connector gives its provider, so only the impatient one meets them. */
export const SILENCES: Readonly<Record<string, Trouble>> = {
  'no answer': {
    does: hang,
    code: 'PROVIDER_TIMEOUT',
    message: 'NAME did not respond within 0.5 s. Try again later, or request less.',
    requests: 1,
  },
  'half an answer': {
    does: stallInBody,
    code: 'PROVIDER_TIMEOUT',
    message: 'NAME did not respond within 0.5 s. Try again later, or request less.',
    requests: 1,
  },
};

/** The refusals that mean "wrong credentials" when an instance is made. */
export const REFUSALS: Readonly<Record<string, Behaviour>> = {
  '401': status(401),
  '401 that quotes the password': json(quoted, 401),
  '403': json(quoted, 403),
  '404': status(404),
};
