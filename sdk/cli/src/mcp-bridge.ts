import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

export interface Bridge {
  /** Messages of JSON-RPC, one a line. */
  readonly input: Readable;
  /** Writes a message of the service. */
  readonly write: (line: string) => void;
  /** URL of the service's `/mcp`. */
  readonly url: URL;
  readonly key: string;
  readonly signal: AbortSignal;
}

type Id = string | number;

interface Message {
  readonly id?: Id;
  readonly method?: string;
  readonly params?: { readonly requestId?: Id; readonly protocolVersion?: string };
  readonly result?: { readonly protocolVersion?: string };
}

const PROTOCOL_HEADER = 'mcp-protocol-version';
/** The code of JSON-RPC for a failure of the server. */
const FAILED = -32603;
const NOT_JSON = -32700;

/**
 * Forwards messages between an agent and the service until the input ends, and waits for the responses that are missing. Each request is one HTTP
 * request, so a call is cancelled by closing its connection.
 */
export async function forwardMessages(bridge: Bridge): Promise<void> {
  const running = new Map<Id, AbortController>();
  const pending = new Set<Promise<void>>();
  let version: string | undefined;

  const forward = async (line: string, message: Message): Promise<void> => {
    const { id, method, params } = message;
    if (method === 'notifications/cancelled' && params?.requestId !== undefined) {
      running.get(params.requestId)?.abort();
      return;
    }
    const controller = new AbortController();
    if (id !== undefined) running.set(id, controller);
    try {
      const signal = AbortSignal.any([controller.signal, bridge.signal]);
      for await (const answer of send(bridge, { line, version, signal })) {
        if (method === 'initialize') version = readMessage(answer)?.result?.protocolVersion ?? version;
        bridge.write(answer);
      }
    } catch (error) {
      if (!controller.signal.aborted && id !== undefined) bridge.write(failure(id, error));
    } finally {
      if (id !== undefined) running.delete(id);
    }
  };

  const lines = createInterface({ input: bridge.input, crlfDelay: Number.POSITIVE_INFINITY, signal: bridge.signal });
  for await (const line of lines) {
    if (line.trim() === '') continue;
    const message = readMessage(line);
    if (message === undefined) {
      bridge.write(
        JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: NOT_JSON, message: 'This is not JSON.' } }),
      );
      continue;
    }
    const work: Promise<void> = forward(line, message).finally(() => pending.delete(work));
    pending.add(work);
    // The version that the service chose belongs into all later requests.
    if (message.method === 'initialize') await work;
  }
  await Promise.all(pending);
}

interface Sent {
  readonly line: string;
  readonly version: string | undefined;
  readonly signal: AbortSignal;
}

/** Sends a message. @returns the messages of the response, one or a stream of them */
async function* send({ url, key }: Bridge, { line, version, signal }: Sent): AsyncGenerator<string, void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(version !== undefined && { [PROTOCOL_HEADER]: version }),
    },
    body: line,
    signal,
  });
  if (response.status === 202) return;
  const type = response.headers.get('content-type') ?? '';
  if (response.ok && type.startsWith('text/event-stream') && response.body !== null) {
    yield* eventsOf(response.body);
    return;
  }
  const text = await response.text();
  const message = readMessage(text);
  if (message === undefined || !('jsonrpc' in message)) throw new Error(problemText(response.status, message));
  yield JSON.stringify(message);
}

/** Returns the data of the events of a stream. */
async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let text = '';
  const reader = body.getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    text += decoder.decode(piece.value, { stream: true });
    const events = text.split(/\r?\n\r?\n/);
    text = events.pop() ?? '';
    for (const event of events) {
      const data = event
        .split(/\r?\n/)
        .flatMap((each) => (each.startsWith('data:') ? [each.slice(5).trimStart()] : []));
      if (data.length > 0) yield data.join('\n');
    }
  }
}

function readMessage(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the text of an error response of the API. */
function problemText(status: number, body: object | undefined): string {
  const message = body === undefined ? undefined : Reflect.get(body, 'message');
  return typeof message === 'string' ? message : `The service responded with the status ${status}.`;
}

function failure(id: Id, error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  const message = `${error instanceof Error ? error.message : String(error)}${cause}`;
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: FAILED, message } });
}
