import { can, codec, type FieldSpec } from '#connector';

/**
 * Reads a date of RFC 2822, such as `Fri, 24 May 2019 17:44:46 +0000`. Another value stays unchanged, and the core reports that it is no
 * time.
 */
function readMailDate(native: unknown): unknown {
  if (typeof native !== 'string' || !MAIL_DATE.test(native)) return native;
  const ms = Date.parse(native);
  return Number.isNaN(ms) ? native : `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

const MAIL_DATE = /^[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} [+-]\d{4}$/;

/** The days that a parameter can hold, including the day after the last one. */
const DOMAIN = { step: 'second', first: '1970-01-01', last: '9998-12-31' } as const;

const INSTANT = {
  type: 'datetime',
  domain: DOMAIN,
  read: codec.blank({ read: readMailDate, write: String }).read,
} as const;
const EQUAL = can.only('superset', '=');

export const TEXT = { type: 'string' } as const;
export const INTEGER = { type: 'integer', ...codec.blank(codec.integer) } as const;
export const DECIMAL = { type: 'number', ...codec.blank(codec.decimal) } as const;
export const OBJECT = { type: 'object' } as const;

/** A time, and a time by whose day Twilio can filter. */
export const instant = (native: string) => ({ ...INSTANT, native }) satisfies FieldSpec;
export const day = (native: string) =>
  ({ ...INSTANT, native, filter: { ...EQUAL, ...can.order('superset') } }) satisfies FieldSpec;

/** An id (SID) of Twilio: a prefix such as `CA` and 32 hexadecimal digits. */
export const sid = (native: string, prefix: string) =>
  ({ ...TEXT, native, format: 'sid', domain: { text: { possible: sidOf(prefix) } } }) satisfies FieldSpec;
export const asked = (field: FieldSpec) => ({ ...field, filter: EQUAL }) satisfies FieldSpec;

function sidOf(prefix: string): (text: string) => boolean {
  const form = new RegExp(`^(?:${prefix})[0-9a-fA-F]{32}$`);
  return (text) => form.test(text);
}

/**
 * A sender or receiver: a phone number (E.164), a short code, a sender's name, or an address such as `whatsapp:+15552229999`. Filters
 * contain no other forms, because Twilio does not document their results.
 */
export const PARTY = {
  ...TEXT,
  filter: EQUAL,
  domain: { text: { askable: (text) => /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) } },
} as const satisfies FieldSpec;

/** Fields of all resources. */
export const OWN = {
  accountSid: sid('account_sid', 'AC'),
  apiVersion: { ...TEXT, native: 'api_version' },
  uri: { ...TEXT, label: 'Path of the resource at Twilio' },
  related: { ...OBJECT, native: 'subresource_uris', label: 'Paths of related resources at Twilio' },
} as const satisfies Readonly<Record<string, FieldSpec>>;

/** Returns a field that only a creation accepts, and that no response contains. */
export const input = (native: string, label: string) =>
  ({ ...TEXT, native, label, createable: true }) satisfies FieldSpec;
