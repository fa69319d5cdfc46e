import { ApiError, errorOf, NetworkError, TimeoutError } from './errors.js';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 8_000;
const MB = 1_048_576;
/** Maximum delay of timers in milliseconds. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;
const RETRIED_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** Methods that have the same effect when a request is sent twice. */
const IDEMPOTENT_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE']);

export interface TransportSettings {
  /**
   * Time limit of one attempt in milliseconds, from the request to the end of the response; for a stream, between two parts. A form gets it
   * again for each MB.
   */
  readonly timeoutMs: number;
  /** Maximum number of attempts after the first one. */
  readonly retries: number;
  /** Milliseconds after the first attempt in which further attempts may start. */
  readonly retryForMs: number;
  readonly fetch: typeof fetch;
}

/** Time and randomness of a transport, which tests replace. */
export interface Surroundings {
  readonly now: () => number;
  readonly random: () => number;
  /**
   * Waits.
   * @throws the reason of the signal when it aborts
   */
  readonly sleep: (ms: number, signal?: AbortSignal | null) => Promise<void>;
}

export const SURROUNDINGS: Surroundings = { now: Date.now, random: Math.random, sleep };

/** A response whose body must still be read or closed. */
export interface OpenResponse {
  readonly response: Response;
  readonly close: () => void;
  /**
   * Reads the rest of the body.
   * @throws NetworkError, TimeoutError
   */
  readonly chunks: () => AsyncGenerator<Uint8Array, void>;
}

/** Sends requests. Each attempt has a time limit, and requests that can safely be repeated are retried. */
export class Transport {
  readonly #settings: TransportSettings;
  readonly #surroundings: Surroundings;

  constructor(settings: TransportSettings, surroundings: Surroundings = SURROUNDINGS) {
    this.#settings = settings;
    this.#surroundings = surroundings;
  }

  get retries(): number {
    return this.#settings.retries;
  }

  /**
   * Sends a request.
   * @returns the response with its whole body
   * @throws ApiError, NetworkError, TimeoutError, the reason of `init.signal`
   */
  async send(url: string, init: RequestInit): Promise<Response> {
    const keyed = withIdempotencyKey(init);
    return this.#retrying(keyed, async () => {
      const { response, chunks } = await this.#open(url, keyed);
      const parts: Uint8Array[] = [];
      for await (const part of chunks()) parts.push(part);
      const { status, statusText, headers } = response;
      return new Response(status === 304 || status === 204 ? null : joined(parts), { status, statusText, headers });
    });
  }

  /**
   * Sends a request.
   * @returns the response as soon as it begins
   * @throws the errors of `send`
   */
  open(url: string, init: RequestInit): Promise<OpenResponse> {
    return this.#retrying(init, () => this.#open(url, init));
  }

  /**
   * Sends a request once.
   * @returns the response, whatever its status is
   * @throws NetworkError, TimeoutError, the reason of `init.signal`
   */
  async sendOnce(url: string, init: RequestInit): Promise<Response> {
    const attempt = new Attempt(this.#settings.timeoutMs, init.signal);
    return this.#fetch(url, init, attempt).finally(() => attempt.end());
  }

  /** Returns the time in milliseconds on the clock that `sleep` uses. */
  now(): number {
    return this.#surroundings.now();
  }

  /** Waits as long as before the attempt with this number, counted from 1, but at most the given time. */
  pause(attempt: number, signal?: AbortSignal | null, atMostMs = Number.POSITIVE_INFINITY): Promise<void> {
    return this.#surroundings.sleep(Math.min(this.#pauseMs(attempt), atMostMs), signal);
  }

  async #retrying<Result>(init: RequestInit, run: () => Promise<Result>): Promise<Result> {
    const { retries, retryForMs } = this.#settings;
    const { now, sleep } = this.#surroundings;
    const start = now();
    for (let attempt = 1; ; attempt++) {
      try {
        return await run();
      } catch (error) {
        if (attempt > retries || !isWorthAnotherTry(error, init, attempt)) throw error;
        const asked = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
        const pauseMs = asked + this.#pauseMs(attempt);
        if (now() + pauseMs > start + retryForMs) throw error;
        await sleep(pauseMs, init.signal);
      }
    }
  }

  #pauseMs(attempt: number): number {
    return this.#surroundings.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1));
  }

  async #open(url: string, init: RequestInit): Promise<OpenResponse> {
    const attempt = new Attempt(timeoutFor(init, this.#settings.timeoutMs), init.signal);
    try {
      const response = await this.#fetch(url, init, attempt);
      if (response.ok || response.status === 304) {
        return { response, chunks: () => readChunks(response, attempt), close: () => attempt.abort() };
      }
      throw await errorOf(response, this.#surroundings.now()).catch((error) => {
        throw attempt.failureOf(error);
      });
    } catch (error) {
      attempt.end();
      throw error;
    }
  }

  async #fetch(url: string, init: RequestInit, attempt: Attempt): Promise<Response> {
    try {
      return await this.#settings.fetch(url, { ...init, ...redirectOf(init), signal: attempt.signal });
    } catch (error) {
      throw attempt.failureOf(error);
    }
  }
}

/** A single attempt of a request. It ends when it takes too long or the caller aborts it. */
class Attempt {
  readonly #controller = new AbortController();
  readonly #timeoutMs: number;
  readonly #caller: AbortSignal | null | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(timeoutMs: number, caller: AbortSignal | null | undefined) {
    caller?.throwIfAborted();
    this.#timeoutMs = timeoutMs;
    this.#caller = caller;
    caller?.addEventListener('abort', this.#abortWithCaller);
    this.renew();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Restarts the time limit. */
  renew(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#controller.abort(new TimeoutError(`The service did not respond within ${this.#timeoutMs} ms.`));
    }, this.#timeoutMs);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener('abort', this.#abortWithCaller);
  }

  abort(): void {
    this.end();
    this.#controller.abort();
  }

  failureOf(error: unknown): unknown {
    if (this.#controller.signal.aborted) return this.#controller.signal.reason;
    return new NetworkError('The connection to the service failed or was interrupted.', { cause: error });
  }

  readonly #abortWithCaller = (): void => this.#controller.abort(this.#caller?.reason);
}

async function* readChunks({ body }: Response, attempt: Attempt): AsyncGenerator<Uint8Array, void> {
  const reader = body?.getReader();
  let isRead = reader === undefined;
  try {
    while (reader !== undefined && !isRead) {
      attempt.renew();
      const { done, value } = await reader.read().catch((error) => {
        throw attempt.failureOf(error);
      });
      isRead = done;
      if (value !== undefined) yield value;
    }
  } finally {
    attempt.end();
    if (!isRead) await reader?.cancel().catch(() => undefined);
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/**
 * Returns how redirects are handled. Node.js keeps a body in memory while a redirect may repeat it, and the file of a form can be large.
 */
function redirectOf({ body }: RequestInit): RequestInit {
  return body instanceof FormData ? { redirect: 'error' } : {};
}

/** Returns the time limit for a request. A large form has more time, because its progress is unknown. */
function timeoutFor({ body }: RequestInit, timeoutMs: number): number {
  if (!(body instanceof FormData)) return timeoutMs;
  let bytes = 0;
  for (const part of body.values()) bytes += typeof part === 'string' ? part.length : part.size;
  return Math.min(timeoutMs * (1 + Math.floor(bytes / MB)), LONGEST_TIMEOUT_MS);
}

/** Adds an idempotency key to a POST, so that it can be sent again. The service rejects a key with a form. */
function withIdempotencyKey(init: RequestInit): RequestInit {
  if (init.method !== 'POST' || !(init.body === undefined || typeof init.body === 'string')) return init;
  const headers = new Headers(init.headers);
  if (!headers.has('Idempotency-Key')) headers.set('Idempotency-Key', crypto.randomUUID());
  return { ...init, headers };
}

function isWorthAnotherTry(error: unknown, { method = 'GET', headers, body }: RequestInit, attempt: number): boolean {
  if (body instanceof ReadableStream) return false;
  const isKeyed = new Headers(headers).has('Idempotency-Key');
  const isRepeatable = isKeyed || IDEMPOTENT_METHODS.has(method);
  if (error instanceof NetworkError || error instanceof TimeoutError) return isRepeatable;
  if (!(error instanceof ApiError)) return false;
  // A rate-limited request had no effect. With a conflict, an earlier attempt with the same key may still be in progress.
  if (error.status === 429) return true;
  if (error.status === 409) return isKeyed && attempt > 1;
  return isRepeatable && RETRIED_STATUSES.has(error.status);
}

function sleep(ms: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    if (signal?.aborted === true) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
