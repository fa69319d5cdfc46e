import { isIP, type LookupFunction } from 'node:net';
import { LRUCache } from 'lru-cache';
import { buildConnector } from 'undici';
import { atMost } from '../bounded.ts';
import { type AddressPolicy, isPublicAddress } from './address-policy.ts';
import { EgressError } from './error.ts';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Returns all addresses of a host name. */
export type AddressLookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export interface ConnectPorts {
  readonly policy: AddressPolicy;
  readonly lookup: AddressLookup;
  readonly connectTimeoutMs: number;
  readonly reach: Reach;
}

/** Counts connections by host name. */
interface Reach {
  readonly note: (hostname: string, addresses: readonly ResolvedAddress[]) => void;
  /** Returns whether all addresses of this name were public at every connection so far. */
  readonly isPublic: (hostname: string) => boolean;
}

const KEPT_HOSTS = 10_000;

/**
 * Creates the record of reached hosts. A name that led to a private address counts as private from then on, because a kept connection may
 * still go there.
 */
export function createReach(): Reach {
  const publicity = new LRUCache<string, boolean>(atMost(KEPT_HOSTS));
  return {
    note: (hostname, addresses) => {
      const isPublic = addresses.every(({ address }) => isPublicAddress(address));
      publicity.set(hostname, isPublic && publicity.get(hostname) !== false);
    },
    isPublic: (hostname) => publicity.get(withoutBrackets(hostname)) === true,
  };
}

/** @throws EgressError when one of the addresses may not be called. */
type Check = (hostname: string, addresses: readonly ResolvedAddress[]) => void;

type CreateCheck = (policy: AddressPolicy) => Check;

/** Checks by protocol. */
type Checks = ReadonlyMap<string, CreateCheck>;

interface Target {
  readonly protocol: string;
  readonly hostname: string;
}

const WITH_TLS: CreateCheck = (policy) => (hostname, addresses) => assertAcceptable(policy, hostname, addresses);
const WITHOUT_TLS: CreateCheck = (policy) => (hostname, addresses) => assertAllowed(policy, hostname, addresses);

const CHECKS: Checks = new Map([
  ['https:', WITH_TLS],
  ['http:', WITHOUT_TLS],
]);

/** Protocols of connections that a library opens itself, with the look-up of `createGuard`. */
const GUARDED: Checks = new Map([
  ['amqps:', WITH_TLS],
  ['amqp:', WITHOUT_TLS],
  ['smtps:', WITH_TLS],
  ['smtp:', WITHOUT_TLS],
]);

/** The look-up with which a library connects to checked addresses only. */
export interface ConnectionGuard {
  readonly lookup: LookupFunction;
}

/**
 * Returns the guard of a connection that a library opens itself.
 * @throws EgressError `refused`, `invalid`, or `connect` for a name without an address
 */
export async function createGuard(ports: ConnectPorts, target: Target): Promise<ConnectionGuard> {
  return { lookup: createCheckedLookup(ports.lookup, await checkNow(ports, GUARDED, target)) };
}

/**
 * Opens connections only to checked addresses. The check is between resolving and connecting, so a DNS response that changes later has no
 * effect. A connection that is kept alive needs no new check.
 */
export function createPinnedConnect(ports: ConnectPorts): buildConnector.connector {
  const connectors = new Map(
    [...CHECKS].map(([protocol, createCheck]) => {
      const check = createCheck(ports.policy);
      const checkAndNote: Check = (hostname, addresses) => {
        check(hostname, addresses);
        ports.reach.note(hostname, addresses);
      };
      return [protocol, buildPinned(ports, checkAndNote)];
    }),
  );

  return (options, callback) => {
    const connect = connectors.get(options.protocol);
    if (connect === undefined) throw noProtocolForCalls(options.protocol);
    connect(options, callback);
  };
}

/**
 * Checks whether a connection to the URL would be allowed now, to warn early when a URL is configured. It decides nothing for later,
 * because every new connection is checked again.
 * @throws EgressError `refused`, `invalid`, or `connect` for a name without an address
 */
export async function assertMayConnect(ports: ConnectPorts, target: Target): Promise<void> {
  await checkNow(ports, CHECKS, target);
}

/** Returns the check of the protocol, after the target has passed it. */
async function checkNow(ports: ConnectPorts, checks: Checks, target: Target): Promise<Check> {
  const check = checks.get(target.protocol)?.(ports.policy);
  if (check === undefined) throw noProtocolForCalls(target.protocol);
  const hostname = withoutBrackets(target.hostname);
  const family = isIP(hostname);
  if (family === 0) await resolveChecked(ports.lookup, check, hostname);
  else check(hostname, [{ address: hostname, family }]);
  return check;
}

/** Removes the brackets of an IPv6 address in a URL. */
function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

function noProtocolForCalls(protocol: string): EgressError {
  return new EgressError('invalid', `The protocol ${protocol} is not supported: use https.`);
}

function buildPinned(ports: ConnectPorts, check: Check): buildConnector.connector {
  const connect = buildConnector({
    allowH2: false,
    timeout: ports.connectTimeoutMs,
    lookup: createCheckedLookup(ports.lookup, check),
  });
  return (options, callback) => {
    // Node.js calls the lookup for names only, so an address in the URL is checked here.
    const refusal = checkLiteral(options.hostname, check);
    if (refusal !== undefined) {
      process.nextTick(callback, refusal, null);
      return;
    }
    connect(options, (error, socket) => {
      if (error === null) callback(null, socket);
      else callback(toConnectError(error, options.hostname), null);
    });
  };
}

function checkLiteral(hostname: string, check: Check): EgressError | undefined {
  const family = isIP(hostname);
  if (family === 0) return undefined;
  try {
    check(hostname, [{ address: hostname, family }]);
    return undefined;
  } catch (error) {
    if (error instanceof EgressError) return error;
    throw error;
  }
}

function createCheckedLookup(lookup: AddressLookup, check: Check): LookupFunction {
  return (hostname, options, callback) => {
    resolveChecked(lookup, check, hostname).then(
      (addresses) => {
        if (options.all) callback(null, [...addresses]);
        else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
      },
      (error) => callback(error, []),
    );
  };
}

async function resolveChecked(
  lookup: AddressLookup,
  check: Check,
  hostname: string,
): Promise<readonly ResolvedAddress[]> {
  const addresses = await resolve(lookup, hostname);
  check(hostname, addresses);
  return addresses;
}

async function resolve(lookup: AddressLookup, hostname: string): Promise<readonly ResolvedAddress[]> {
  const addresses = await lookup(hostname).catch((cause: unknown) => {
    throw new EgressError('connect', `The host name ${hostname} could not be resolved.`, cause);
  });
  if (addresses.length === 0) throw new EgressError('connect', `The host name ${hostname} has no address.`);
  return addresses;
}

/** Every address must do: the one that is tried first is not ours to choose. */
function assertAcceptable(policy: AddressPolicy, hostname: string, addresses: readonly ResolvedAddress[]): void {
  if (policy.allowsHost(hostname)) return;
  if (addresses.every(({ address }) => policy.allowsAddress(address) || isPublicAddress(address))) return;
  throw new EgressError('refused', `${hostname} has an address that is neither public nor allowed here.`);
}

/** Asserts that the policy allows the addresses. Connections without TLS go only to addresses that the operator allows explicitly. */
function assertAllowed(policy: AddressPolicy, hostname: string, addresses: readonly ResolvedAddress[]): void {
  if (policy.allowsHost(hostname)) return;
  if (addresses.every(({ address }) => policy.allowsAddress(address))) return;
  assertAcceptable(policy, hostname, addresses);
  throw new EgressError('refused', `${hostname} may not be called without TLS: use https.`);
}

const TLS_FAILURE = /^(ERR_TLS|ERR_SSL|EPROTO|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH)/;

function toConnectError(error: Error, hostname: string): EgressError {
  if (error instanceof EgressError) return error;
  if ('code' in error && TLS_FAILURE.test(String(error.code))) {
    return new EgressError('tls', `The service could not establish a trusted TLS connection to ${hostname}.`, error);
  }
  return new EgressError('connect', `The service could not connect to ${hostname}.`, error);
}
