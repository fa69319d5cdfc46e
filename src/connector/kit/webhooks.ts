import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { parseJson } from '../../numbers/exact-json.ts';
import { decodeForm } from '../../pairs.ts';
import type { Handshake, Verify, WebhookAnswer, WebhookCall, Webhooks } from '../contract.ts';
import { json } from './json.ts';
import { type XmlElement, xml } from './xml.ts';

export interface HmacOptions {
  /** Of the signature. */
  readonly header: string;
  readonly algorithm: 'sha1' | 'sha256' | 'sha512';
  readonly encoding: 'hex' | 'base64' | 'base64url';
  /** The signatures in the header, of which one must be right. Default: all of it. */
  readonly signatures?: (header: string) => readonly string[];
  /** What is signed, piece after piece. Default: the body. */
  readonly signed?: (call: WebhookCall) => readonly (string | Uint8Array)[];
  /** The key behind the secret. Default: its bytes. */
  readonly key?: (secret: string) => Uint8Array;
  /** When it was signed, in seconds since 1970. Only what is signed too may be relied on. */
  readonly signedAt?: (call: WebhookCall) => string | undefined;
  /** Seconds that the clocks may differ. Default 300. */
  readonly tolerance?: number;
}

/** How to see that a provider sent a call. */
export const webhooks = {
  hmac,
  /** The secret itself comes with the call. */
  token: (where: Where): Verify => {
    const find = findIn(where);
    return (call, { secret }) => {
      const token = find(call);
      if (token === undefined) return 'unsigned';
      return isSame(Buffer.from(token), Buffer.from(secret)) ? 'genuine' : 'forged';
    };
  },
  /** The body of a call, with all digits of its numbers. @throws SyntaxError */
  json: ({ body }: WebhookCall): unknown => parseJson(utf8(body)),
  /** The body of a call that is a form. @throws AppError PAYLOAD_TOO_LARGE for more than 1,000 fields */
  form: ({ body }: WebhookCall): URLSearchParams => decodeForm(utf8(body)),
  /** The root of a body in XML, within bounds. @throws SyntaxError */
  xml: ({ body }: WebhookCall): XmlElement => xml.parse(utf8(body)),
  /** What `tells` says where calls tell of all changes of these objects. */
  allChangesOf: (objectNames: Iterable<string>): NonNullable<Webhooks['tells']> =>
    Object.fromEntries([...objectNames].map((name) => [name, ['created', 'updated', 'deleted'] as const])),
} as const;

/** Without a byte order mark. */
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

/** Takes as long for a wrong text as for the right one. */
function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/** `{ header: 'x-token' }`, `{ query: 'token' }`, `{ body: ['data', 'token'] }` */
export type Where = { readonly header: string } | { readonly query: string } | { readonly body: readonly string[] };

function findIn(where: Where): (call: WebhookCall) => string | undefined {
  if ('header' in where) return ({ headers }) => json.findText(headers[where.header]);
  if ('query' in where) return ({ url }) => json.findText(URL.parse(url)?.searchParams.get(where.query));
  return ({ body }) => json.findText(json.at(parse(body), ...where.body));
}

/** Undefined for what is no JSON: other calls come to the same address. */
function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(utf8(body));
  } catch {
    return undefined;
  }
}

/** How a provider sees that the address it was given takes its events. */
export const handshakes = {
  /** The text that it sends comes back: as the body, or in a header. */
  echo: (where: Where, back: 'body' | { readonly header: string } = 'body'): Handshake => {
    const find = findAsked(where);
    return (call) => {
      const text = find(call);
      if (text === undefined) return undefined;
      return back === 'body' ? plain(text) : { status: 200, headers: { [back.header]: text }, body: '' };
    };
  },
  /** The text that it sends comes back in JSON, beside what only the owner of the secret can make of it. */
  challenge: ({ where, algorithm, encoding, answer }: ChallengeOptions): Handshake => {
    const find = findAsked(where);
    return (call, { secret }) => {
      const text = find(call);
      if (text === undefined) return undefined;
      const made = createHmac(algorithm, secret).update(text).digest(encoding);
      return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(answer(text, made)) };
    };
  },
} as const;

export interface ChallengeOptions extends Pick<HmacOptions, 'algorithm' | 'encoding'> {
  readonly where: Where;
  readonly answer: (text: string, signature: string) => Readonly<Record<string, string>>;
}

/** A question in the query comes with GET; an event may have a parameter of the same name. No header can hold a control character. */
function findAsked(where: Where): (call: WebhookCall) => string | undefined {
  const find = findIn(where);
  return (call) => {
    const text = 'query' in where && call.method !== 'GET' ? undefined : find(call);
    return text === undefined || /\p{Cc}/u.test(text) ? undefined : text;
  };
}

/** No browser may take it for a page: whoever calls chooses the text. */
function plain(body: string): WebhookAnswer {
  return {
    status: 200,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body,
  };
}
