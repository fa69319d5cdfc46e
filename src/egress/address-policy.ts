import ipaddr from 'ipaddr.js';
import { type Address, isHostName, isNetwork, normalHost, parseAddress } from '../config/addresses.ts';

type Network = [Address, number];

export interface AddressPolicy {
  /** Returns whether the operator allows this host name, whatever address it resolves to. */
  readonly allowsHost: (hostname: string) => boolean;
  /** Returns whether an address or CIDR of the operator covers this address. */
  readonly allowsAddress: (address: string) => boolean;
}

/**
 * Creates the policy.
 * @throws Error that names every entry that is neither a CIDR nor an address nor a host name
 */
export function createAddressPolicy(allow: readonly string[]): AddressPolicy {
  const entries = allow.map(normalHost);
  const wrong = entries.filter((entry) => !isNetwork(entry) && !isHostName(entry));
  if (wrong.length > 0) {
    throw new Error(`Not a CIDR, an address or a host name in the list of allowed addresses: ${wrong.join(', ')}`);
  }
  const networks = entries.filter(isNetwork).map(parseNetwork);
  const hosts = new Set(entries.filter(isHostName));
  return {
    allowsHost: (hostname) => hosts.has(normalHost(hostname)),
    allowsAddress: (address) => isInNetworks(parseAddress(address), networks),
  };
}

// The space of global unicast addresses; what is outside is not routed, and ipaddr.js calls some of it "unicast" too.
const GLOBAL_UNICAST: Network = [ipaddr.IPv6.parse('2000::'), 3];

// RFC 6052: what stands here reaches the IPv4 address in the last 32 bits. Networks without IPv4 (DNS64) depend on it.
const NAT64: Network = [ipaddr.IPv6.parse('64:ff9b::'), 96];

// Azure serves metadata at an address in a public range.
const PLATFORM_ADDRESSES: readonly Network[] = [[ipaddr.IPv4.parse('168.63.129.16'), 32]];

/**
 * Returns whether an address is a unicast address of the public internet. These are not: private, loopback, link-local (with the metadata
 * address), carrier-grade NAT, documentation, benchmarking, reserved, multicast, 6to4 (RFC 7526), Teredo, and local NAT64 (RFC 8215). IPv4
 * inside IPv6 (mapped, NAT64) is judged as the IPv4 address that it reaches.
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parseAddress(address);
  return parsed !== undefined && isPublic(parsed);
}

function isPublic(address: Address): boolean {
  if (isInNetworks(address, PLATFORM_ADDRESSES)) return false;
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast';
  if (address.match(NAT64)) return isPublic(new ipaddr.IPv4(address.toByteArray().slice(12)));
  return address.match(GLOBAL_UNICAST) && address.range() === 'unicast';
}

function isInNetworks(address: Address | undefined, networks: readonly Network[]): boolean {
  if (address === undefined) return false;
  return networks.some(([network, prefix]) => network.kind() === address.kind() && address.match(network, prefix));
}

function parseNetwork(entry: string): Network {
  if (entry.includes('/')) return ipaddr.parseCIDR(entry);
  const address = parseAddress(entry);
  if (address === undefined) throw new Error(`Not an address: ${entry}`);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}
