import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { parseJson } from '../../numbers/exact-json.ts';
import { decodeForm } from '../../pairs.ts';
import type { Handshake, Verify, WebhookCall, WebhookResponse, Webhooks } from '../contract.ts';
import { json } from './json.ts';
import { type XmlElement, xml } from './xml.ts';

/** A description of a provider's webhook signature by HMAC (RFC 2104). */
export interface HmacOptions {
  /** The name of the header with the signature, in lower case. */
  readonly header: string;
  readonly algorithm: 'sha1' | 'sha256' | 'sha512';
  readonly encoding: 'hex' | 'base64' | 'base64url';
  /** Returns the signatures in the header, of which one must be right. Default: the whole header is one signature. */
  readonly signatures?: (header: string) => readonly string[];
  /** Returns the pieces that are signed, in their order. Default: the body. */
  readonly signed?: (call: WebhookCall) => readonly (string | Uint8Array)[];
  /** Returns the key that the secret stands for. Default: the bytes of the secret as UTF-8. */
  readonly key?: (secret: string) => Uint8Array;
  /** Returns the time of the signature in seconds since 1970, as text. It must be a signed part of the request. */
  readonly signedAt?: (call: WebhookCall) => string | undefined;
  /** Maximum difference between the clocks in seconds. Default 300. */
  readonly tolerance?: number;
}

/** Ways to verify that the provider sent a webhook, and readers of its body. */
export const webhooks = {
  /** Verifies a signature by HMAC. */
  hmac,
  /** Verifies that the request contains the secret itself. */
  token: (where: Where): Verify => {
    const find = findIn(where);
    return (call, { secret }) => {
      const token = find(call);
      if (token === undefined) return 'unsigned';
      return isSame(Buffer.from(token), Buffer.from(secret)) ? 'genuine' : 'forged';
    };
  },
  /**
   * Returns the JSON in the body, with all digits of its numbers.
   * @throws SyntaxError for a body that is no JSON
   */
  json: ({ body }: WebhookCall): unknown => parseJson(utf8(body)),
  /**
   * Returns the fields of a body that is an encoded form.
   * @throws AppError PAYLOAD_TOO_LARGE for more than 1,000 fields
   */
  form: ({ body }: WebhookCall): URLSearchParams => decodeForm(utf8(body)),
  /**
   * Returns the root element of an XML body.
   * @throws SyntaxError as `xml.parse`
   */
  xml: ({ body }: WebhookCall): XmlElement => xml.parse(utf8(body)),
  /** Returns `reports` for webhooks that report all changes of the given objects. */
  allChangesOf: (objectNames: Iterable<string>): NonNullable<Webhooks['reports']> =>
    Object.fromEntries([...objectNames].map((name) => [name, ['created', 'updated', 'deleted'] as const])),
} as const;

/** Decodes UTF-8 without a byte order mark. */
function utf8(body: Uint8Array): string {
  return new TextDecoder().decode(body);
}

const TOLERANCE_SECONDS = 300;

function hmac(options: HmacOptions): Verify {
  const {
    header,
    algorithm,
    encoding,
    signatures = (text) => [text],
    signed = ({ body }) => [body],
    signedAt,
  } = options;
  const { key = (secret) => Buffer.from(secret), tolerance = TOLERANCE_SECONDS } = options;
  return (call, { secret, now }) => {
    const given = call.headers[header];
    if (given === undefined || given === '') return 'unsigned';
    // Node takes several times as long to see that bytes are a key as to make a key of them.
    const right = createHmac(algorithm, createSecretKey(key(secret)));
    for (const piece of signed(call)) right.update(piece);
    const expected = Buffer.from(right.digest(encoding));
    // As text: a decoder passes over what is no part of the encoding.
    const toComparable = (text: string) => Buffer.from(encoding === 'hex' ? text.toLowerCase() : text);
    if (!signatures(given).some((text) => isSame(toComparable(text), expected))) return 'forged';
    if (signedAt === undefined) return 'genuine';
    // Text that is no number is at no time.
    return Math.abs(now / 1000 - Number(signedAt(call))) <= tolerance ? 'genuine' : 'stale';
  };
}

/** Compares in a time that does not depend on the content. */
function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/**
 * The part of a request that holds a text: `{ header: 'x-token' }`, `{ query: 'token' }` or `{ body: ['data', 'token'] }`, a path in JSON.
 */
export type Where = { readonly header: string } | { readonly query: string } | { readonly body: readonly string[] };

function findIn(where: Where): (call: WebhookCall) => string | undefined {
  if ('header' in where) return ({ headers }) => json.findText(headers[where.header]);
  if ('query' in where) return ({ url }) => json.findText(URL.parse(url)?.searchParams.get(where.query));
  return ({ body }) => json.findText(json.at(parse(body), ...where.body));
}

/** Returns undefined for a body that is no JSON, because other requests use the same address. */
function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(utf8(body));
  } catch {
    return undefined;
  }
}

/** Ways to respond when a provider checks whether an address accepts its events. */
export const handshakes = {
  /** Returns the text of the request: as the body, or in a header. */
  echo: (where: Where, back: 'body' | { readonly header: string } = 'body'): Handshake => {
    const find = findAsked(where);
    return (call) => {
      const text = find(call);
      if (text === undefined) return undefined;
      return back === 'body' ? plain(text) : { status: 200, headers: { [back.header]: text }, body: '' };
    };
  },
  /** Returns the text of the request in JSON, together with its HMAC by the secret. */
  challenge: ({ where, algorithm, encoding, response }: ChallengeOptions): Handshake => {
    const find = findAsked(where);
    return (call, { secret }) => {
      const text = find(call);
      if (text === undefined) return undefined;
      const made = createHmac(algorithm, secret).update(text).digest(encoding);
      return {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(response(text, made)),
      };
    };
  },
} as const;

/** A description of a provider's challenge of an address. */
export interface ChallengeOptions extends Pick<HmacOptions, 'algorithm' | 'encoding'> {
  readonly where: Where;
  /** Returns the members of the JSON response, made from the text and its signature. */
  readonly response: (text: string, signature: string) => Readonly<Record<string, string>>;
}

/**
 * A check by a query parameter is a GET, because an event may have a parameter of the same name. The text must have no control characters,
 * because it may become a header.
 */
function findAsked(where: Where): (call: WebhookCall) => string | undefined {
  const find = findIn(where);
  return (call) => {
    const text = 'query' in where && call.method !== 'GET' ? undefined : find(call);
    return text === undefined || /\p{Cc}/u.test(text) ? undefined : text;
  };
}

/** The sender chooses the text, so browsers must not read it as a page. */
function plain(body: string): WebhookResponse {
  return {
    status: 200,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body,
  };
}
