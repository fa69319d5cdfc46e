import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;

/** Parses an address as the kernel does; IPv4 mapped into IPv6 becomes IPv4. Undefined for an invalid address, or one with a zone. */
export function parseAddress(text: string): Address | undefined {
  if (isIP(text) === 4) return ipaddr.IPv4.parse(text);
  // ipaddr.js reads `::8.8.8.8` as a mapped address. The URL parser does not, and prints it without dots.
  const literal = isIP(text) === 6 ? URL.parse(`https://[${text}]/`)?.hostname : undefined;
  return literal === undefined ? undefined : ipaddr.process(literal.slice(1, -1));
}

/** Returns whether a text is an address or a range (CIDR). */
export function isNetwork(entry: string): boolean {
  return parseAddress(entry) !== undefined || (entry.includes('/') && ipaddr.isValidCIDR(entry));
}

export function isHostName(entry: string): boolean {
  return isIP(entry) === 0 && HOST_NAME.test(entry) && !/^[0-9.]+$/.test(entry);
}

/** Returns a host name in its normal form: trimmed, in lower case, and without the dot of the root. */
export function normalHost(hostname: string): string {
  const name = hostname.trim().toLowerCase();
  return name.endsWith('.') ? name.slice(0, -1) : name;
}
