import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import { EgressError } from './error.ts';
import { aborted, joinHeaders, toEgressError } from './exchange.ts';
import { completeHeaders, type EgressTarget } from './outgoing.ts';

export interface EgressStreamRequest {
  readonly url: string | URL;
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Request headers. `accept-encoding` is `identity` unless it is given, because nothing is decoded. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | AsyncIterable<Buffer>;
  /** Length of `body` in bytes, if known. Otherwise the body is sent in chunks. */
  readonly bodyLength?: number | undefined;
  /** Maximum time in milliseconds without data in either direction. After it the call is aborted. */
  readonly silenceMs: number;
  /** Whether the URL belongs to a simulator. Any other URL is then rejected. */
  readonly toSimulator?: boolean;
  readonly signal: AbortSignal;
}

export interface EgressStream {
  readonly status: number;
  /** Lower-case names; repeated headers joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Body as received, not decoded.
   * @throws EgressError and nothing else
   */
  readonly body: AsyncIterable<Buffer>;
  /** Ends the response. Call it when the body is not read. */
  readonly cancel: () => void;
  /** Whether the words of the response may be shown to the caller. */
  readonly quotable: boolean;
}

/** Sends a request and streams the response, keeping none of it in memory. */
export async function openStream(
  { agent, clock }: { readonly agent: Dispatcher; readonly clock: Clock },
  request: EgressStreamRequest,
  target: EgressTarget,
): Promise<Omit<EgressStream, 'quotable'>> {
  const headers = completeHeaders(request.headers ?? {}, 'identity');
  const patience = createPatience(clock, request, target.hostname);
  try {
    const response = await agent.request({
      origin: target.origin,
      path: target.path,
      method: request.method ?? 'GET',
      headers: { ...headers, ...(request.bodyLength !== undefined && { 'content-length': `${request.bodyLength}` }) },
      body: bodyOf(request, patience),
      signal: patience.signal,
    });
    // Reported to the reader. There may be none yet, or none any more.
    response.body.on('error', () => {});
    return {
      status: response.statusCode,
      headers: joinHeaders(response.headers),
      body: readBody(response.body, patience, target.hostname),
      cancel: () => patience.give(aborted('The response is not needed.')),
    };
  } catch (error) {
    patience.end();
    throw toEgressError(Object(error), target.hostname);
  }
}

function bodyOf({ body }: EgressStreamRequest, patience: Patience): Buffer | Readable | null {
  if (body === undefined || Buffer.isBuffer(body)) return body ?? null;
  return Readable.from(patience.watch(body), { objectMode: false });
}

async function* readBody(body: Readable, patience: Patience, hostname: string): AsyncGenerator<Buffer, void> {
  try {
    yield* patience.watch(body);
  } catch (error) {
    throw toEgressError(Object(error), hostname);
  } finally {
    patience.end();
  }
}

interface Patience {
  readonly signal: AbortSignal;
  /** Returns the same pieces. Each of them restarts the time limit. */
  readonly watch: (pieces: AsyncIterable<Buffer>) => AsyncGenerator<Buffer, void>;
  readonly give: (reason: EgressError) => void;
  readonly end: () => void;
}

function createPatience(clock: Clock, { silenceMs, signal }: EgressStreamRequest, hostname: string): Patience {
  const controller = new AbortController();
  let movedAtMs = clock.steady();
  let endWait = clock.after(silenceMs, judgeSilence);

  /** There are many pieces, so that they only say when they came, and how long it has been silent is seen when it may be too long. */
  function judgeSilence(): void {
    const leftMs = movedAtMs + silenceMs - clock.steady();
    if (leftMs > 0) endWait = clock.after(leftMs, judgeSilence);
    else give(new EgressError('timeout', `No data was sent to or received from ${hostname} for ${silenceMs} ms.`));
  }

  function give(reason: EgressError): void {
    end();
    controller.abort(reason);
  }

  function giveUp(): void {
    give(aborted(signal.reason));
  }

  function end(): void {
    endWait();
    signal.removeEventListener('abort', giveUp);
  }

  async function* watch(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
    for await (const piece of pieces) {
      movedAtMs = clock.steady();
      yield piece;
    }
  }

  if (signal.aborted) giveUp();
  else signal.addEventListener('abort', giveUp, { once: true });
  return { signal: controller.signal, watch, give, end };
}
