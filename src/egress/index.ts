import dns from 'node:dns/promises';
import { Agent } from 'undici';
import { type Clock, SYSTEM_CLOCK } from '../clock.ts';
import { createAddressPolicy } from './address-policy.ts';
import {
  type AddressLookup,
  assertMayConnect,
  type ConnectionGuard,
  type ConnectPorts,
  createGuard,
  createPinnedConnect,
  createReach,
} from './connect.ts';
import { ACCEPTED_ENCODINGS, decodeResponse } from './decode.ts';
import { EgressError } from './error.ts';
import { aborted, Exchange, isPacked, type RawResponse } from './exchange.ts';
import { completeHeaders, type EgressTarget, parseTarget } from './outgoing.ts';
import { type EgressStream, type EgressStreamRequest, openStream } from './stream.ts';

export type { AddressLookup, ResolvedAddress } from './connect.ts';
export { EgressError, type EgressReason } from './error.ts';
export type { EgressStream, EgressStreamRequest } from './stream.ts';

export interface EgressOptions {
  /** CIDRs, addresses and host names that may be called although they are not public, and without TLS. */
  readonly allow: readonly string[];
  /**
   * Origin of the simulators. Calls with `toSimulator` reach it whatever its address is. For other calls it is an address like any other.
   */
  readonly simulatorsUrl?: string | undefined;
  /** Whether responses from addresses that are not public are `quotable`. Default true. */
  readonly quotesPrivate?: boolean;
  readonly lookup?: AddressLookup;
  /** The clock. Default: the system's. */
  readonly clock?: Clock;
  /** Maximum number of connections per scheme, host and port. Further calls wait. Default 1,024. */
  readonly connectionsPerOrigin?: number;
  /** Time limit for a connection in milliseconds. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /** Milliseconds for which an idle connection is kept, unless the server reports another time. Default 30,000. */
  readonly keepAliveMs?: number;
}

export interface EgressRequest {
  /** Absolute URL. Create a URL object only from a text without control characters, because its parser drops some of them silently. */
  readonly url: string | URL;
  /** Method. Default GET. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Request headers. `accept-encoding` is added if it is absent. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Time limit of the whole call in milliseconds, from waiting for a connection to the last byte. Default 30,000. */
  readonly timeoutMs?: number;
  /** Maximum size of the body, both as sent and as decoded. Default 32 MB. */
  readonly maxBytes?: number;
  /**
   * The treatment of a longer body. `cut`: the response is complete after `maxBytes` as sent, and the connection is closed. A compressed
   * body is then neither requested nor decoded. Use it to look at a response only. `fail` (the default): the call fails with `too-large`.
   */
  readonly onExcess?: 'fail' | 'cut';
  /**
   * Approximate number of bytes that are kept of the body of a response with a status other than 2xx. The rest is not read. Default: the
   * same as for a success.
   */
  readonly failureBytes?: number;
  /** Whether the URL belongs to a simulator. Any other URL is then rejected. */
  readonly toSimulator?: boolean;
  /**
   * Called before a part of the body is kept: as sent, and again as decoded where it was compressed. If it returns false, the call fails
   * with `no-room`.
   */
  readonly takeBytes?: (bytes: number) => boolean;
  readonly signal?: AbortSignal;
}

/** A response. Its body is decoded, unless `onExcess` is `cut`. The headers are as received. */
export interface EgressResponse extends RawResponse {
  /** Whether the words of the response may be shown to the caller. */
  readonly quotable: boolean;
}

export interface Egress {
  /**
   * Sends a request and returns the response, whatever its status is. It does not follow redirects.
   * @throws EgressError and nothing else
   */
  readonly request: (request: EgressRequest) => Promise<EgressResponse>;
  /** Sends a request as `request` does, for a body that is passed on and not kept. The reader must limit its length. */
  readonly stream: (request: EgressStreamRequest) => Promise<EgressStream>;
  /**
   * Checks whether a call to this URL would be allowed now, without connecting. Every call is checked again, so use it only to warn early
   * when a URL is configured.
   * @throws EgressError and nothing else
   */
  readonly check: (url: string, signal?: AbortSignal) => Promise<void>;
  /**
   * Checks the host of a URL of AMQP or SMTP, and returns the look-up with which a library must connect: it finds checked addresses only.
   * @throws EgressError and nothing else
   */
  readonly guard: (url: string) => Promise<ConnectionGuard>;
  /** Waits for calls in progress, then closes every connection. */
  readonly close: () => Promise<void>;
}

const DEFAULT_TIMEOUT_MS = 30_000;
/**
 * Maximum number of connections per origin, the same as of concurrent pushes. A host with many callback URLs, one of which hangs, must not
 * lack connections for the others.
 */
const DEFAULT_CONNECTIONS_PER_ORIGIN = 1_024;
const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_BYTES = 32 * 1024 * 1024;

/** Creates the egress, the only part of the service that opens outgoing connections. */
export function createEgress(options: EgressOptions): Egress {
  const ports = {
    clock: options.clock ?? SYSTEM_CLOCK,
    reach: createReach(),
    policy: createAddressPolicy(options.allow),
    lookup: options.lookup ?? ((hostname: string) => dns.lookup(hostname, { all: true })),
    connectTimeoutMs: options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
  } satisfies CheckPorts;
  const agent = createAgent(options, createPinnedConnect(ports));
  const simulators = createAgent(options);
  const simulatorsOrigin = options.simulatorsUrl && new URL(options.simulatorsUrl).origin;
  let closing: Promise<void> | undefined;

  /**
   * Returns the connections that a request uses.
   * @throws EgressError `refused`
   */
  function agentFor(toSimulator: boolean | undefined, { origin }: EgressTarget): Agent {
    if (toSimulator !== true) return agent;
    if (origin === simulatorsOrigin) return simulators;
    throw new EgressError('refused', `${origin} is not the address of the simulators.`);
  }

  /** Returns whether the response may be quoted. This is known once there is a connection. */
  function isQuotable(toSimulator: boolean | undefined, { hostname }: EgressTarget): boolean {
    return toSimulator === true || options.quotesPrivate !== false || ports.reach.isPublic(hostname);
  }

  async function request(given: EgressRequest): Promise<EgressResponse> {
    const { method = 'GET', body = null, onExcess = 'fail', toSimulator, signal } = given;
    const target = parseTarget(given.url);
    const by = agentFor(toSimulator, target);
    const headers = completeHeaders(given.headers ?? {}, onExcess === 'cut' ? 'identity' : ACCEPTED_ENCODINGS);
    if (signal?.aborted) throw aborted(signal.reason);
    const limits = {
      hostname: target.hostname,
      timeoutMs: given.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      maxBytes: given.maxBytes ?? DEFAULT_MAX_BYTES,
      onExcess,
      failureBytes: given.failureBytes,
      takeBytes: given.takeBytes,
      signal,
    };
    const exchange = new Exchange(ports.clock, limits);
    by.dispatch({ origin: target.origin, path: target.path, method, headers, body }, exchange);
    const received = await exchange.response;
    const isDecoded = onExcess === 'cut' || !isPacked(received.headers);
    const response = isDecoded ? received : await decodeResponse(received, limits);
    return { ...response, quotable: isQuotable(toSimulator, target) };
  }

  async function stream(given: EgressStreamRequest): Promise<EgressStream> {
    const target = parseTarget(given.url);
    const response = await openStream(
      { agent: agentFor(given.toSimulator, target), clock: ports.clock },
      given,
      target,
    );
    return { ...response, quotable: isQuotable(given.toSimulator, target) };
  }

  return {
    request,
    stream,
    check: (url, signal) => checkTarget(ports, url, signal),
    guard: async (url) => {
      const target = URL.parse(url);
      if (target === null) throw new EgressError('invalid', 'The URL is not an absolute URL.');
      return createGuard(ports, target);
    },
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

interface CheckPorts extends ConnectPorts {
  readonly clock: Clock;
}

/** A look-up cannot be stopped, but it need not be waited for. */
async function checkTarget(ports: CheckPorts, url: string, signal?: AbortSignal): Promise<void> {
  const target = parseTarget(url);
  if (signal?.aborted) throw aborted(signal.reason);
  const givenUp = Promise.withResolvers<never>();
  const abort = () => givenUp.reject(aborted(signal?.reason));
  const endWait = ports.clock.after(ports.connectTimeoutMs, () => givenUp.reject(unresolved(target)));
  signal?.addEventListener('abort', abort, { once: true });
  try {
    await Promise.race([assertMayConnect(ports, target), givenUp.promise]);
  } finally {
    endWait();
    signal?.removeEventListener('abort', abort);
  }
}

function unresolved({ hostname }: EgressTarget): EgressError {
  return new EgressError('connect', `The host name ${hostname} could not be resolved in time.`);
}
