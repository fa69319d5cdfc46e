import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Proxies whose forwarding headers are trusted for the address of a caller. */
export interface ProxyTrust {
  readonly trusts: (address: string) => boolean;
}

/** Maximum number of proxies in a row. A longer header is not read further. */
const MAX_HOPS = 16;
const UNKNOWN = 'unknown';

/** @param networks addresses and ranges (CIDR) of proxies, as the configuration has checked them */
export function createProxyTrust(networks: readonly string[]): ProxyTrust {
  const trusted = new BlockList();
  for (const entry of networks) {
    const [network, prefix] = ipaddr.parseCIDR(
      entry.includes('/') ? entry : `${entry}/${isIP(entry) === 4 ? 32 : 128}`,
    );
    trusted.addSubnet(network.toString(), prefix, network.kind());
  }
  return { trusts: (address) => isIP(address) !== 0 && trusted.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6') };
}

/**
 * Returns the address that sent the request: the other end of the connection or, if that is a trusted proxy, the address that it names.
 * Proxies append to `X-Forwarded-For`, so it is read from its end. Anything before the first address that is not trusted may be forged.
 */
export function addressOf(request: Pick<IncomingMessage, 'socket' | 'headers'>, proxies: ProxyTrust): string {
  let address = peerOf(request.socket);
  const forwarded = request.headers['x-forwarded-for'];
  if (forwarded === undefined || !proxies.trusts(address)) return address;
  const text = String(forwarded);
  let end = text.length;
  for (let hop = 0; hop < MAX_HOPS && end > 0 && proxies.trusts(address); hop++) {
    const start = text.lastIndexOf(',', end - 1) + 1;
    const named = plainAddress(withoutPort(text.slice(start, end).trim()));
    if (named === undefined) return address;
    address = named;
    end = start - 1;
  }
  return address;
}

const peers = new WeakMap<object, string>();

/** Returns the address of the other end of a connection. `unknown` when the connection ended before. */
export function peerOf(socket: Pick<Socket, 'remoteAddress'>): string {
  const known = peers.get(socket);
  if (known !== undefined) return known;
  const peer = plainAddress(socket.remoteAddress ?? '');
  if (peer !== undefined) peers.set(socket, peer);
  return peer ?? UNKNOWN;
}

/**
 * Returns the key by which limits per address count: an IPv4 address, or the first 64 bits of an IPv6 address.
 * Providers assign 64 bits to one customer, who can use any address below them.
 */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  return `${ipaddr.IPv6.parse(address)
    .parts.slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}

/** Returns an address in its usual form: without a zone, and IPv4 mapped into IPv6 as IPv4. Undefined for a text that is no address. */
function plainAddress(text: string): string | undefined {
  const [bare = ''] = text.split('%', 1);
  if (isIP(bare) === 0) return undefined;
  return isIP(bare) === 4 ? bare : ipaddr.process(bare).toString();
}

/** Some proxies write `192.0.2.1:4711` and `[2001:db8::1]:4711`. */
function withoutPort(text: string): string {
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d+)?$/.exec(text) ?? [];
  return bracketed ?? dotted ?? text;
}
