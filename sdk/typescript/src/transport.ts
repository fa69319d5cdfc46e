import { ApiError, errorOf, NetworkError, TimeoutError } from './errors.js';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 8_000;
const MB = 1_048_576;
/** What timers count to. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;
const RETRIED_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** Twice comes to the same as once. */
const IDEMPOTENT_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE']);

export interface TransportSettings {
  /** For one attempt, from the request to the end of the answer; of a stream from one part to the next. A form has it again for each MB. */
  readonly timeoutMs: number;
  /** Attempts after the first one. */
  readonly retries: number;
  /** No attempt begins later than this after the first one. */
  readonly retryForMs: number;
  readonly fetch: typeof fetch;
}

/** What a transport knows of time and chance; tests have their own. */
export interface Surroundings {
  readonly now: () => number;
  readonly random: () => number;
  /** @throws the reason of the signal when it is aborted */
  readonly sleep: (ms: number, signal?: AbortSignal | null) => Promise<void>;
}

export const SURROUNDINGS: Surroundings = { now: Date.now, random: Math.random, sleep };

/** An answer whose body is still to be read, or closed. */
export interface OpenAnswer {
  readonly response: Response;
  readonly close: () => void;
  /** @throws NetworkError, TimeoutError */
  readonly chunks: () => AsyncGenerator<Uint8Array, void>;
}

/** Sends requests: each attempt ends in time, and what may be sent again is sent again. */
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

  /** @returns the answer with its whole body. @throws ApiError, NetworkError, TimeoutError, the reason of `init.signal` */
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

  /** @returns the answer as soon as it begins. @throws like `send` */
  open(url: string, init: RequestInit): Promise<OpenAnswer> {
    return this.#retrying(init, () => this.#open(url, init));
  }

  /** @returns the answer, whatever its status, to a request that is sent once. @throws NetworkError, TimeoutError, the reason of `init.signal` */
  async sendOnce(url: string, init: RequestInit): Promise<Response> {
    const attempt = new Attempt(this.#settings.timeoutMs, init.signal);
    return this.#fetch(url, init, attempt).finally(() => attempt.end());
  }

  /** The time in milliseconds, as pauses let it pass. */
  now(): number {
    return this.#surroundings.now();
  }

  /** Waits as before the attempt of this number, from 1, and at most the given time. */
  pause(attempt: number, signal?: AbortSignal | null, atMostMs = Number.POSITIVE_INFINITY): Promise<void> {
    return this.#surroundings.sleep(Math.min(this.#pauseMs(attempt), atMostMs), signal);
  }

  async #retrying<Answer>(init: RequestInit, run: () => Promise<Answer>): Promise<Answer> {
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

  async #open(url: string, init: RequestInit): Promise<OpenAnswer> {
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

/** One try of a request, which ends when it takes too long or the caller wants it no more. */
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

  /** The time begins anew. */
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

/** What may have to be sent to another place is kept whole by Node.js while it is sent, and the file of a form may be large. */
function redirectOf({ body }: RequestInit): RequestInit {
  return body instanceof FormData ? { redirect: 'error' } : {};
}

/** Nobody tells how much of a form is sent, so that a large one has more time. */
function timeoutFor({ body }: RequestInit, timeoutMs: number): number {
  if (!(body instanceof FormData)) return timeoutMs;
  let bytes = 0;
  for (const part of body.values()) bytes += typeof part === 'string' ? part.length : part.size;
  return Math.min(timeoutMs * (1 + Math.floor(bytes / MB)), LONGEST_TIMEOUT_MS);
}

/** The service keeps the outcome of a POST by its key, so that it can be sent again; it takes no key with a form. */
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
  // What is refused for its pace has not begun. An earlier attempt of the same key may still be under way.
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
