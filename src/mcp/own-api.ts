import type { Readable } from 'node:stream';
import { AppError } from '../errors.ts';
import type { SendInner } from '../http/inner-client.ts';
import { parseJson } from '../numbers/exact-json.ts';

/** A request of a tool to the API of this process, with the access key of the agent. */
export interface ToolRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path below the base path. Names in it are encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  /** Id of the instance. A key with one instance needs none. */
  readonly instance?: number | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

interface ToolResponse {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  readonly text: string;
  /** Whether the text was cut off because it is too long. */
  readonly isCut: boolean;
}

export type OwnApi = ReturnType<typeof createOwnApi>;

/** A response of the API that is no success, with its body as text. */
export class ApiRefusal extends Error {
  override readonly name = 'ApiRefusal';
  readonly status: number;
  readonly retryAfter: string | undefined;

  constructor({ status, header, text }: ToolResponse) {
    super(text);
    this.status = status;
    this.retryAfter = header('retry-after');
  }
}

interface OwnApiParts {
  readonly send: SendInner;
  readonly basePath: string;
  readonly authorization: string;
  readonly signal: AbortSignal;
}

/** Maximum number of characters of a path with its query. The rest of a request line with headers of 64 KB is for the headers. */
const LONGEST_PATH = 56 * 1024;
/** More than any page of 200 rows that the API returns. */
const MOST_CHARACTERS = 32 * 1024 * 1024;

/** Sends requests of tools. Each is limited and recorded like any request with the key. */
export function createOwnApi({ send: sendInner, basePath, authorization, signal }: OwnApiParts) {
  async function send(request: ToolRequest): Promise<ToolResponse> {
    const { method = 'GET', path, query = {}, body, instance, headers = {} } = request;
    const given = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as const],
    );
    const search =
      given.length === 0 ? '' : `${path.includes('?') ? '&' : '?'}${new URLSearchParams(Object.fromEntries(given))}`;
    const whole = basePath + path + search;
    if (whole.length > LONGEST_PATH) throw tooLong(whole.length);
    const response = await sendInner({
      method,
      path: whole,
      headers: {
        authorization,
        accept: 'application/json',
        ...(instance !== undefined && { 'elements-instance-id': String(instance) }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: Buffer.from(JSON.stringify(body)) }),
      signal,
    });
    const { text, isCut } = await readText(response.body);
    const header = (name: string) => response.headers[name]?.toString();
    return { status: response.status, header, text, isCut };
  }
  return {
    /** Returns a response of any status. */
    send,
    /**
     * Returns the body of a response. Numbers in it keep all their digits.
     * @throws ApiRefusal for a response that is no success; AppError REQUEST_INVALID for a request that is too long
     */
    json: async (request: ToolRequest) => {
      const response = await send(request);
      if (response.status < 200 || response.status > 299) throw new ApiRefusal(response);
      return { body: response.text === '' ? undefined : parseJson(response.text), header: response.header };
    },
  };
}

function tooLong(length: number): AppError {
  return new AppError(
    'REQUEST_INVALID',
    `The arguments make a request line of ${length} characters; the maximum is ${LONGEST_PATH}. Shorten where, or name fewer fields.`,
  );
}

async function readText(body: Readable): Promise<{ readonly text: string; readonly isCut: boolean }> {
  body.setEncoding('utf8');
  let text = '';
  for await (const piece of body) {
    text += String(piece);
    // Leaving the loop destroys the stream.
    if (text.length > MOST_CHARACTERS) return { text: text.slice(0, MOST_CHARACTERS), isCut: true };
  }
  return { text, isCut: false };
}
