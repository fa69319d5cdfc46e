import { type Dispatcher, errors } from 'undici';
import { type Clock, type EndWait, onAbort } from '../clock.ts';
import { CollectedBytes } from '../collected-bytes.ts';
import { countPiece, goOnInTurn, takeTurn } from '../pace.ts';
import { EgressError } from './error.ts';

export interface RawResponse {
  readonly status: number;
  /** Lower-case names; repeated headers joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface ExchangeLimits {
  readonly hostname: string;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly onExcess: 'fail' | 'cut';
  readonly failureBytes: number | undefined;
  readonly takeBytes: ((bytes: number) => boolean) | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Joining the pieces of a larger body takes milliseconds, so only one is joined per turn. */
const LARGE_BYTES = 1024 * 1024;

const NO_BYTES = Buffer.alloc(0);

type IncomingHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * One request with its response, collected in memory. It is the handler of the dispatcher itself, so that no call needs a stream. Response,
 * failure, time-out and abort can occur together; the first one decides.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly response: Promise<RawResponse>;
  readonly #limits: ExchangeLimits;
  readonly #settle: PromiseWithResolvers<RawResponse>;
  readonly #endWait: EndWait;
  readonly #ignoreAbort: (() => void) | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #failure: EgressError | undefined;
  #isComplete = false;
  #status = 0;
  /** Number of bytes after which the body is cut. If undefined, a longer body fails the call. */
  #cutAt: number | undefined;
  #headers: Readonly<Record<string, string>> = {};
  /** First piece of the body. Most bodies have only one. */
  #first: Buffer | undefined;
  #body: CollectedBytes | undefined;
  #size = 0;

  constructor(clock: Clock, limits: ExchangeLimits) {
    this.#limits = limits;
    this.#settle = Promise.withResolvers();
    this.response = this.#settle.promise;
    this.#endWait = clock.after(limits.timeoutMs, () => this.#failByTimeout());
    const { signal } = limits;
    this.#ignoreAbort = signal && onAbort(signal, () => this.#fail(aborted(signal.reason)));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Given up while it waited for a connection: then it is not sent at all.
    if (this.#failure !== undefined) controller.abort(this.#failure);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHeaders): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = joinHeaders(headers);
    const { maxBytes, onExcess, failureBytes } = this.#limits;
    const isSuccess = status >= 200 && status < 300;
    if (onExcess === 'cut') this.#cutAt = maxBytes;
    // A compressed body cannot be decoded without its end, so decode.ts cuts it afterwards.
    else if (!isSuccess && !isPacked(this.#headers)) this.#cutAt = failureBytes;
    if (this.#cutAt === undefined && Number(this.#headers['content-length']) > maxBytes) this.#failBySize();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { maxBytes, takeBytes } = this.#limits;
    const cutAt = this.#cutAt ?? Number.POSITIVE_INFINITY;
    const room = Math.min(cutAt, maxBytes) - this.#size;
    this.#size += chunk.length;
    if (this.#failure !== undefined || this.#isComplete) return;
    if (takeBytes?.(chunk.length) === false) this.#fail(noRoom(this.#limits));
    else if (this.#size >= cutAt) this.#cut(controller, chunk.subarray(0, room));
    else if (chunk.length > room) this.#failBySize();
    else {
      this.#add(chunk);
      countPiece(controller, chunk.length);
    }
  }

  #add(chunk: Buffer): void {
    if (this.#first === undefined) {
      this.#first = chunk;
      return;
    }
    if (this.#body === undefined) {
      this.#body = new CollectedBytes();
      this.#body.add(this.#first);
    }
    this.#body.add(chunk);
  }

  /** Ends the connection without waiting for the rest, because it cannot carry another call. */
  #cut(controller: Dispatcher.DispatchController, lastChunk: Buffer): void {
    this.#add(lastChunk);
    this.onResponseEnd();
    controller.abort(new EgressError('aborted', 'The rest of the response is not needed.'));
  }

  onResponseEnd(): void {
    if (this.#failure !== undefined) return;
    this.#isComplete = true;
    this.#release();
    if (this.#size > LARGE_BYTES) void takeTurn().then(() => this.#resolve());
    else this.#resolve();
  }

  #resolve(): void {
    const body = this.#body?.join() ?? this.#first ?? NO_BYTES;
    this.#settle.resolve({ status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(toEgressError(error, this.#limits.hostname));
  }

  #failByTimeout(): void {
    const { hostname, timeoutMs } = this.#limits;
    this.#fail(new EgressError('timeout', `${hostname} did not respond completely within ${timeoutMs} ms.`));
  }

  #failBySize(): void {
    this.#fail(tooLarge(this.#limits));
  }

  #fail(failure: EgressError): void {
    if (this.#isComplete || this.#failure !== undefined) return;
    this.#failure = failure;
    this.#body = undefined;
    this.#first = undefined;
    this.#release();
    void this.#giveUp(failure);
  }

  /**
   * Rejects the response in a turn of its own, because hundreds of calls can fail at the same moment: when their time is over, their
   * callers disconnect, or a server closes its connections.
   */
  async #giveUp(failure: EgressError): Promise<void> {
    await goOnInTurn();
    this.#settle.reject(failure);
    this.#controller?.abort(failure);
  }

  #release(): void {
    this.#endWait();
    this.#ignoreAbort?.();
  }
}

export function isPacked(headers: RawResponse['headers']): boolean {
  return headers['content-encoding'] !== undefined && !['', 'identity'].includes(getEncoding(headers));
}

export function getEncoding(headers: RawResponse['headers']): string {
  return headers['content-encoding']?.trim().toLowerCase() ?? '';
}

/** Returns how many bytes of a response with this status are kept; undefined for a success. */
export function getFailureBytes({ failureBytes }: ExchangeLimits, status: number): number | undefined {
  return status >= 200 && status < 300 ? undefined : failureBytes;
}

export function aborted(reason: unknown): EgressError {
  return new EgressError('aborted', 'The call was aborted.', reason);
}

export function tooLarge(limits: { readonly hostname: string; readonly maxBytes: number }): EgressError {
  return new EgressError('too-large', `${limits.hostname} sent more than ${limits.maxBytes} bytes.`);
}

export function noRoom({ hostname }: { readonly hostname: string }): EgressError {
  return new EgressError('no-room', `The service has no memory left for the response of ${hostname}.`);
}

export function joinHeaders(headers: IncomingHeaders): Record<string, string> {
  const joined: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) joined[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return joined;
}

export function joinChunks(chunks: readonly Buffer[]): Buffer {
  const first = chunks[0];
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
}

export function toEgressError(error: Error, hostname: string): EgressError {
  if (error instanceof EgressError) return error;
  if (error instanceof errors.ClientDestroyedError || error instanceof errors.ClientClosedError) {
    return new EgressError('aborted', 'Outgoing calls are being closed.', error);
  }
  if (error instanceof errors.InvalidArgumentError || error instanceof errors.NotSupportedError) {
    return new EgressError('invalid', 'The request cannot be sent as HTTP.', error);
  }
  if (isProtocolError(error)) return new EgressError('protocol', `${hostname} sent something that is not HTTP.`, error);
  return new EgressError('reset', `The connection to ${hostname} broke before its response was complete.`, error);
}

function isProtocolError(error: Error): boolean {
  return (
    error instanceof errors.HTTPParserError ||
    error instanceof errors.HeadersOverflowError ||
    error instanceof errors.ResponseContentLengthMismatchError
  );
}
