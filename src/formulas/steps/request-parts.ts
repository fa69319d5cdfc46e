import { isJsonObject, parseJson } from '../../numbers/exact-json.ts';
import { toText } from '../references.ts';
import { matchesCodes } from '../status-codes.ts';
import { StepFault } from './outcome.ts';
import { type Properties, readJson } from './properties.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
type Method = (typeof METHODS)[number];

/** A body with its media type. */
export interface RequestBody {
  readonly bytes: Buffer;
  readonly contentType: string;
  /** The body as the values of the step show it. */
  readonly shown: unknown;
}

/** Shown in place of the value of a header with a secret. */
const MASK = '********';
const SECRET_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'api-key',
]);

/** @throws StepFault */
export function readMethod(properties: Properties, name = 'method'): Method {
  const given = properties.text(name).toUpperCase();
  const method = METHODS.find((known) => known === given);
  if (method === undefined) throw new StepFault(`The property '${name}' must be one of ${METHODS.join(', ')}.`);
  return method;
}

/** Header names are in lower case. @throws StepFault */
export function readHeaders(properties: Properties, name = 'headers'): Record<string, string> {
  const entries = Object.entries(properties.members(name)).map(
    ([key, value]) => [key.toLowerCase(), toText(value)] as const,
  );
  const wrong = entries.find(([key, value]) => !/^[\w!#$%&'*+.^`|~-]+$/.test(key) || /[\0\r\n]/.test(value));
  if (wrong !== undefined)
    throw new StepFault(`The header '${wrong[0].slice(0, 100)}' has characters that headers cannot have.`);
  return Object.fromEntries(entries);
}

/** The query as members, and as the text of a URL. */
export function readQuery(properties: Properties, name = 'query') {
  const value = readJson(properties.value(name));
  const pairs = isJsonObject(value)
    ? Object.entries(value).flatMap(([key, member]) =>
        member === undefined || member === null ? [] : [[key, toText(member)] as const],
      )
    : [...new URLSearchParams(toText(value))];
  return {
    shown: Object.fromEntries(pairs),
    text: new URLSearchParams(Object.fromEntries(pairs)).toString(),
  };
}

/** @throws StepFault */
export function readBody(properties: Properties): RequestBody | undefined {
  const value = properties.value('body');
  const parts = readJson(value);
  if (isJsonObject(parts) && parts.type === 'workflow-multipart' && Array.isArray(parts.parts))
    return toOldForm(parts.parts);
  const form = readJson(properties.value('form'));
  if (isJsonObject(form) && Object.keys(form).length > 0) return toForm(form);
  if (value === undefined || value === null || value === '') return undefined;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { bytes: Buffer.from(text), contentType: 'application/json', shown: value };
}

interface FormPart {
  readonly name: string;
  readonly content: string;
  readonly filename?: string;
  readonly contentType?: string;
}

/** Parts by name: `{ "value", "options": { "filename", "contentType" } }`, or the value alone. */
function toForm(form: Readonly<Record<string, unknown>>): RequestBody {
  const parts = Object.entries(form).map(([name, given]): FormPart => {
    if (!isJsonObject(given)) return { name, content: toText(given) };
    const options = isJsonObject(given.options) ? given.options : {};
    return { name, content: toText(given.value), ...fileOf(options.filename, options.contentType) };
  });
  return encodeForm(parts, form);
}

function toOldForm(given: readonly unknown[]): RequestBody {
  const parts = given.filter(isJsonObject).map(
    (part): FormPart => ({
      name: toText(part.name),
      content: toText(part.content),
      ...fileOf(part.filename, part['Content-Type']),
    }),
  );
  return encodeForm(parts, given);
}

function fileOf(filename: unknown, contentType: unknown): Pick<FormPart, 'filename' | 'contentType'> {
  return {
    ...(filename !== undefined && filename !== null && { filename: toText(filename) }),
    ...(contentType !== undefined && contentType !== null && { contentType: toText(contentType) }),
  };
}

/** Encodes a form (RFC 7578). The boundary occurs in no part. */
function encodeForm(parts: readonly FormPart[], shown: unknown): RequestBody {
  const boundary = boundaryFor(parts);
  const quote = (text: string) => text.replace(/["\r\n]/g, encodeURIComponent);
  const pieces = parts.map(({ name, content, filename, contentType }) => {
    const file = filename === undefined ? '' : `; filename="${quote(filename)}"`;
    const type = contentType === undefined ? '' : `\r\nContent-Type: ${contentType.replace(/[\r\n]/g, ' ')}`;
    return `--${boundary}\r\nContent-Disposition: form-data; name="${quote(name)}"${file}${type}\r\n\r\n${content}\r\n`;
  });
  return {
    bytes: Buffer.from(`${pieces.join('')}--${boundary}--\r\n`),
    contentType: `multipart/form-data; boundary=${boundary}`,
    shown,
  };
}

function boundaryFor(parts: readonly FormPart[]): string {
  let boundary = 'causeway-formula-part';
  while (parts.some(({ content }) => content.includes(boundary))) boundary += '-x';
  return boundary;
}

/** Headers as the values of a step show them: secrets are masked, by the names of their headers. */
export function showHeaders(headers: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, SECRET_HEADERS.has(name.toLowerCase()) ? MASK : value]),
  );
}

/** Largest file that the values of a step hold, in bytes. */
const TEXT_TYPES =
  /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml)|application\/x-(?:ndjson|www-form-urlencoded))/i;

/** Reads the body of a response: JSON as a value, other text as text, and anything else as a file in base64. */
export function showBody(bytes: Buffer, headers: Readonly<Record<string, unknown>>): unknown {
  if (bytes.length === 0) return undefined;
  const type = toText(headers['content-type']);
  const text = bytes.toString('utf8');
  if (/json/i.test(type) && !/ndjson/i.test(type)) {
    try {
      return parseJson(text);
    } catch {
      return text;
    }
  }
  if (type === '' || TEXT_TYPES.test(type)) return text;
  const [, quoted, plain] = /filename="([^"]*)"|filename=([^;]*)/i.exec(toText(headers['content-disposition'])) ?? [];
  return { filename: quoted ?? plain?.trim() ?? '', type, content: bytes.toString('base64') };
}

/** The retries of a request step. */
interface RetryRule {
  /** Maximum number of retries; 0 without `retry`. */
  readonly attempts: number;
  readonly delayMs: number;
  /** Status codes that are retried. Undefined: 5xx, and requests without a response. */
  readonly codes: string | undefined;
}

const DEFAULT_ATTEMPTS = 3;
const DEFAULT_DELAY_MS = 1_000;
const MOST_DELAY_MS = 60_000;

export function readRetryRule(properties: Properties): RetryRule {
  const codes = properties.filled('retryStatusCodes').trim();
  return {
    attempts: properties.flag('retry')
      ? properties.number('retryAttempts', { least: 1, most: 5, otherwise: DEFAULT_ATTEMPTS })
      : 0,
    delayMs: properties.number('retryDelay', { least: 0, most: MOST_DELAY_MS, otherwise: DEFAULT_DELAY_MS }),
    codes: codes === '' ? undefined : codes,
  };
}

/** @param status undefined: there was no response */
export function mayRetry(rule: RetryRule, status: number | undefined, retries: number): boolean {
  if (retries >= rule.attempts) return false;
  if (rule.codes === undefined) return status === undefined || status >= 500;
  return status !== undefined && matchesCodes(rule.codes, status);
}
