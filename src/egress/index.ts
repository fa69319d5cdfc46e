import dns from 'node:dns/promises';
import { Agent } from 'undici';
import { createAddressPolicy } from './address-policy.ts';
import { assertMayConnect, type ConnectPorts, createPinnedConnect, createReach, type Lookup } from './connect.ts';
import { ACCEPTED_ENCODINGS, decodeResponse } from './decode.ts';
import { EgressError } from './error.ts';
import { aborted, Exchange, type RawResponse } from './exchange.ts';
import { assertHeaders, parseTarget, type Target } from './outgoing.ts';
import { type EgressStream, type EgressStreamRequest, openStream } from './stream.ts';

export type { Lookup, ResolvedAddress } from './connect.ts';
export { EgressError, type EgressReason } from './error.ts';
export type { EgressStream, EgressStreamRequest } from './stream.ts';

export interface EgressOptions {
  /** CIDRs, addresses and host names that may be called beyond public addresses, and without TLS. */
  readonly allow: readonly string[];
  /** The origin of the simulators: calls `toSimulator` reach it whatever its address is, other calls only as they reach any. */
  readonly simulatorsUrl?: string | undefined;
  /** Default true. False: what is answered from an address that is not public is not `quotable`. */
  readonly quotesPrivate?: boolean;
  readonly lookup?: Lookup;
  /** Connections per scheme, host and port; calls beyond it wait for one. Default 1,024. */
  readonly connectionsPerOrigin?: number;
  /** Default 10,000. */
  readonly connectTimeoutMs?: number;
  /** How long an idle connection is kept when the server does not say. Default 30,000. */
  readonly keepAliveMs?: number;
}

export interface EgressRequest {
  /** Absolute. A URL object must come from a text without control characters: its parser drops some of them silently. */
  readonly url: string | URL;
  /** Default GET. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `accept-encoding` is added unless it is here. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** For the whole call, from waiting for a connection to the last byte. Default 30,000. */
  readonly timeoutMs?: number;
  /** Of the body, as sent and as decoded. Default 32 MB. */
  readonly maxBytes?: number;
  /**
   * What a longer body means. `cut`: the answer is complete after `maxBytes` of it, as sent (a compressed body is neither asked for
   * nor decoded), and the connection is closed; for whoever only looks at an answer. Default `fail`, with `too-large`.
   */
  readonly onExcess?: 'fail' | 'cut';
  /** About how much is kept of the body of an answer whose status is not 2xx; the rest is not waited for. Default: as of any other. */
  readonly failureBytes?: number;
  /** The URL is one of a simulator; anything else is refused. */
  readonly toSimulator?: boolean;
  /**
   * Asked before a part of the body is kept: as sent, and once more as decoded where it was packed. False gives the call
   * up with `no-room`.
   */
  readonly takeBytes?: (bytes: number) => boolean;
  readonly signal?: AbortSignal;
}

/** The body is decoded, unless `onExcess` is `cut`; the headers are as received. */
export interface EgressResponse extends RawResponse {
  /** The words of the answer may be shown to whoever caused the call. */
  readonly quotable: boolean;
}

export interface Egress {
  /** Redirects are not followed. @returns the answer, whatever its status. @throws EgressError and nothing else */
  readonly request: (request: EgressRequest) => Promise<EgressResponse>;
  /** As `request`, for a body that is passed on and not kept. Its length is the reader's to bound. */
  readonly stream: (request: EgressStreamRequest) => Promise<EgressStream>;
  /**
   * Resolves when a call to this URL would be allowed now. Nothing is connected. Every call is checked again, so this is for
   * telling early whoever configures a URL. @throws EgressError and nothing else.
   */
  readonly check: (url: string, signal?: AbortSignal) => Promise<void>;
  /** Waits for the calls under way, then closes every connection. */
  readonly close: () => Promise<void>;
}

const DEFAULT_TIMEOUT_MS = 30_000;
/** As many as pushes are made at a time: a host with many callback URLs, one of which hangs, must not lack connections for the others. */
const DEFAULT_CONNECTIONS_PER_ORIGIN = 1_024;
const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_BYTES = 32 * 1024 * 1024;

/** The only place that opens outgoing connections. */
export function createEgress(options: EgressOptions): Egress {
  const ports: ConnectPorts = {
    reach: createReach(),
    policy: createAddressPolicy(options.allow),
    lookup: options.lookup ?? ((hostname: string) => dns.lookup(hostname, { all: true })),
    connectTimeoutMs: options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
  };
  const agent = createAgent(options, createPinnedConnect(ports));
  const simulators = createAgent(options);
  const simulatorsOrigin = options.simulatorsUrl && new URL(options.simulatorsUrl).origin;
  let closing: Promise<void> | undefined;

  /** Where a request goes, and by what connections. */
  function route({ url, toSimulator }: Pick<EgressRequest, 'url' | 'toSimulator'>) {
    const target = parseTarget(url);
    if (toSimulator !== true) {
      const isQuotable = () => options.quotesPrivate !== false || ports.reach.isPublic(target.hostname);
      return [agent, target, isQuotable] as const;
    }
    if (target.origin === simulatorsOrigin) return [simulators, target, () => true] as const;
    throw new EgressError('refused', `${target.origin} is not where the simulators are.`);
  }

  async function request(given: EgressRequest): Promise<EgressResponse> {
    const [by, target, isQuotable] = route(given);
    const response = await send(by, given, target);
    return { ...response, quotable: isQuotable() };
  }

  async function stream(given: EgressStreamRequest): Promise<EgressStream> {
    const [by, target, isQuotable] = route(given);
    return openStream(by, given, target, isQuotable);
  }

  return {
    request,
    stream,
    check: (url, signal) => checkTarget(ports, url, signal),
    close: () => {
      closing ??= Promise.all([agent.close(), simulators.close()]).then(() => undefined);
      return closing;
    },
  };
}

function createAgent(options: EgressOptions, connect?: ReturnType<typeof createPinnedConnect>): Agent {
  return new Agent({
    ...(connect !== undefined && { connect }),
    connections: options.connectionsPerOrigin ?? DEFAULT_CONNECTIONS_PER_ORIGIN,
    keepAliveTimeout: options.keepAliveMs ?? 30_000,
    pipelining: 1,
    allowH2: false,
    // One timer for the whole call replaces both.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/** A look-up cannot be stopped, but it need not be waited for. */
async function checkTarget(ports: ConnectPorts, url: string, signal?: AbortSignal): Promise<void> {
  const target = parseTarget(url);
  if (signal?.aborted) throw aborted(signal.reason);
  const givenUp = Promise.withResolvers<never>();
  const abort = () => givenUp.reject(aborted(signal?.reason));
  const timer = setTimeout(() => givenUp.reject(unresolved(target)), ports.connectTimeoutMs);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    await Promise.race([assertMayConnect(ports, target), givenUp.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

function unresolved({ hostname }: Target): EgressError {
  return new EgressError('connect', `The host name ${hostname} could not be resolved in time.`);
}

async function send(agent: Agent, request: EgressRequest, target: Target): Promise<RawResponse> {
  const onExcess = request.onExcess ?? 'fail';
  const headers = { 'accept-encoding': onExcess === 'cut' ? 'identity' : ACCEPTED_ENCODINGS, ...request.headers };
  assertHeaders(headers);
  if (request.signal?.aborted) throw aborted(request.signal.reason);
  const limits = {
    hostname: target.hostname,
    timeoutMs: request.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    maxBytes: request.maxBytes ?? DEFAULT_MAX_BYTES,
    onExcess,
    failureBytes: request.failureBytes,
    takeBytes: request.takeBytes,
    signal: request.signal,
  };
  const exchange = new Exchange(limits);
  agent.dispatch(
    {
      origin: target.origin,
      path: target.path,
      method: request.method ?? 'GET',
      headers,
      body: request.body ?? null,
    },
    exchange,
  );
  const response = await exchange.response;
  return onExcess === 'cut' ? response : decodeResponse(response, limits);
}
