import { isUtf8 } from 'node:buffer';
import { CENSOR, combineRedactors, DOUBTFUL_CHARACTERS, isSecretName, type Redactor } from '../redaction.ts';
import type { WireContent, WireEntry, WireLog, WireMessage } from '../trace.ts';

/** Maximum size of one body in bytes. */
const MOST_BODY_BYTES = 64 * 1024;
/** Maximum size of all bodies of one request, so that a query of many pages does not use up all memory. */
const MOST_REQUEST_BYTES = 1024 * 1024;
const TEXT_TYPE = /^[^;]*(?:text\/|json|xml|x-www-form-urlencoded|javascript|yaml|graphql|csv)/i;

/** Memory limit for the kept headers and bodies of all requests of this process. */
interface WireRoom {
  readonly take: (bytes: number) => boolean;
  readonly give: (bytes: number) => void;
}

export function createWireRoom(mostBytes: number): WireRoom & { readonly heldBytes: () => number } {
  let held = 0;
  return {
    take: (bytes) => {
      if (held + bytes > mostBytes) return false;
      held += bytes;
      return true;
    },
    give: (bytes) => {
      held -= bytes;
    },
    heldBytes: () => held,
  };
}

export interface WireSecrets {
  /** Redacts the secrets of the caller and the instance. */
  readonly redactor: Redactor;
  /** Names of settings whose values are secrets. */
  readonly names: ReadonlySet<string>;
}

/** Keeps requests to providers and their responses, with secrets redacted by value and by name. */
export function createWireLog(room: WireRoom, secrets: WireSecrets): WireLog {
  let held = 0;
  let isClosed = false;

  function take(bytes: number): boolean {
    if (isClosed || held + bytes > MOST_REQUEST_BYTES || !room.take(bytes)) return false;
    held += bytes;
    return true;
  }

  function open(request: WireMessage, redactor: Redactor): WireEntry {
    const clean = createCleaner({ ...secrets, redactor: combineRedactors([secrets.redactor, redactor]) });
    const show = (body: Body) => showBody(body, clean.text, take);
    const content: { -readonly [Name in keyof WireContent]: WireContent[Name] } = {
      requestHeaders: clean.headers(request.headers),
    };
    const sent = show(describeSent(request));
    if (sent !== undefined) content.requestBody = sent;

    function keepHead({ headers }: WireMessage): void {
      content.responseHeaders = clean.headers(headers);
    }

    function keepBody(body: Body): void {
      const responseText = show(body);
      if (responseText !== undefined) content.responseBody = responseText;
    }

    return {
      content,
      noteResponse: (response) => {
        keepHead(response);
        keepBody(bodyOf(response.headers, response.body));
      },
      watch: (response) => {
        keepHead(response);
        return watchBody(response, keepBody);
      },
    };
  }

  return {
    open,
    close: () => {
      isClosed = true;
      room.give(held);
      held = 0;
    },
  };
}

/** Returns the same pieces. When they end, or are no longer read, `keep` receives the kept part. */
async function* watchBody(
  { headers, body }: WireMessage & { readonly body: AsyncIterable<Buffer> },
  keep: (body: Body) => void,
): AsyncGenerator<Buffer, void> {
  const isKept = isText(headers) && !isPacked(headers);
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let bytes = 0;
  try {
    for await (const piece of body) {
      bytes += piece.length;
      if (isKept && keptBytes < MOST_BODY_BYTES) {
        // A copy: a piece is a view of a larger buffer, which it would keep.
        const part = Buffer.from(piece.subarray(0, MOST_BODY_BYTES - keptBytes));
        kept.push(part);
        keptBytes += part.length;
      }
      yield piece;
    }
  } finally {
    keep(isKept ? { kept: Buffer.concat(kept), bytes } : { what: typeOf(headers), bytes });
  }
}

/** The beginning of a text, or what stands in place of what is none. */
type Body =
  | { readonly kept: Buffer; readonly bytes: number }
  | { readonly what: string; readonly bytes: number | undefined }
  | undefined;

function describeSent({ headers, body }: WireMessage): Body {
  if (body === undefined) return undefined;
  if (typeof body !== 'string' && !Buffer.isBuffer(body)) return { what: typeOf(headers), bytes: undefined };
  const bytes = Buffer.from(body);
  return isPacked(headers) ? { what: typeOf(headers), bytes: bytes.length } : bodyOf(headers, bytes);
}

function bodyOf(headers: WireMessage['headers'], body: Buffer): Body {
  if (body.length === 0) return undefined;
  const isShown = isText(headers) || (headers['content-type'] === undefined && isUtf8(body));
  if (!isShown) return { what: typeOf(headers), bytes: body.length };
  return { kept: body.subarray(0, MOST_BODY_BYTES), bytes: body.length };
}

function isText(headers: WireMessage['headers']): boolean {
  return TEXT_TYPE.test(headers['content-type'] ?? '');
}

function isPacked(headers: WireMessage['headers']): boolean {
  return (headers['content-encoding'] ?? 'identity') !== 'identity';
}

function typeOf(headers: WireMessage['headers']): string {
  const packed = isPacked(headers) ? `, ${headers['content-encoding']}` : '';
  return `${headers['content-type']?.split(';')[0] ?? 'no type'}${packed}`;
}

function showBody(body: Body, clean: (text: string) => string, take: (bytes: number) => boolean): string | undefined {
  if (body === undefined || body.bytes === 0) return undefined;
  if ('what' in body) return clean(`[${body.bytes === undefined ? 'a stream' : `${body.bytes} bytes`}: ${body.what}]`);
  const { kept, bytes } = body;
  if (!take(kept.length)) return `[${bytes} bytes, left out: the memory for traces is full]`;
  const text = clean(kept.toString('utf8'));
  return kept.length === bytes ? text : `${text.slice(0, -DOUBTFUL_CHARACTERS)}… [cut: of ${bytes} bytes]`;
}

/** Members of JSON, of forms and queries, of XML. A value that was cut ends with the text. */
const JSON_MEMBER = /"((?:[^"\\]|\\.){1,100})"(\s*:\s*)("(?:[^"\\]|\\.)*"?|[^\s,{}[\]"]+)/g;
const FORM_MEMBER = /(^|[?&;\s"'])([\w.%-]{1,100})=([^&;\s"'<>]*)/g;
const XML_MEMBER = /<((?:[\w-]{1,100}:)?([\w.-]{1,100})(?:\s[^<>]{0,1000})?)>([^<>]+)/g;

function createCleaner({ redactor, names }: WireSecrets) {
  const isSecret = (name: string) => names.has(name) || isSecretName(name);

  function text(given: string): string {
    return redactor
      .redact(given)
      .replace(JSON_MEMBER, (all, name: string, colon: string) =>
        isSecret(name) ? `"${name}"${colon}"${CENSOR}"` : all,
      )
      .replace(FORM_MEMBER, (all, before: string, name: string) =>
        isSecret(name) ? `${before}${name}=${CENSOR}` : all,
      )
      .replace(XML_MEMBER, (all, tag: string, name: string) => (isSecret(name) ? `<${tag}>${CENSOR}` : all));
  }

  return {
    text,
    headers: (headers: WireMessage['headers']) =>
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, isSecret(name) ? CENSOR : text(value)])),
  };
}
