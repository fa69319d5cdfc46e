import { createSecretKey, type KeyObject } from 'node:crypto';
import { statSync } from 'node:fs';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isHostName, isNetwork, normalHost } from './addresses.ts';

/** The format of a variable. `parse` returns undefined for an invalid value. */
export interface Format<Value> {
  readonly expected: string;
  readonly parse: (text: string) => Value | undefined;
}

/** Returns a default that does not depend on other variables. The documentation shows it as it is. */
export function always(text: string) {
  return { shownDefault: text, defaultText: () => text };
}

/** One key of ENCRYPTION_KEYS. */
export interface EncryptionKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** Parses `id:base64,…` as keys; the first one encrypts. Undefined if any part is malformed or an id is repeated. */
export function parseEncryptionKeys(text: string): readonly [EncryptionKey, ...EncryptionKey[]] | undefined {
  const keys: EncryptionKey[] = [];
  for (const part of text.split(',')) {
    const match = /^\s*([A-Za-z0-9_-]{1,64}):([A-Za-z0-9+/]{43}=)\s*$/.exec(part);
    if (match?.[1] === undefined || match[2] === undefined) return undefined;
    keys.push({ id: match[1], key: createSecretKey(Buffer.from(match[2], 'base64')) });
  }
  const [first, ...others] = keys;
  if (first === undefined || new Set(keys.map(({ id }) => id)).size < keys.length) return undefined;
  return [first, ...others];
}

export function integer(least: number, most: number): Format<number> {
  return {
    expected: `a whole number from ${least} to ${most}`,
    parse: (text) => {
      const value = Number(text);
      return /^\d{1,15}$/.test(text) && value >= least && value <= most ? value : undefined;
    },
  };
}

export function numberOrOff(least: number, most: number): Format<{ readonly number: number | undefined }> {
  const whole = integer(least, most);
  return {
    expected: `${whole.expected}, or to off`,
    parse: (text) => {
      if (text === 'off') return { number: undefined };
      const value = whole.parse(text);
      return value === undefined ? undefined : { number: value };
    },
  };
}

export function oneOf<const Value extends string>(values: readonly Value[]): Format<Value> {
  return { expected: `one of ${values.join(', ')}`, parse: (text) => values.find((value) => value === text) };
}

export function word(expected: string): Format<string> {
  return { expected, parse: (text) => (text.trim() === text ? text : undefined) };
}

interface ListFormat {
  readonly separator: string;
  readonly expected: string;
  readonly takes: (entry: string) => boolean;
}

function list({ separator, expected, takes }: ListFormat): Format<readonly string[]> {
  return {
    expected,
    parse: (text) => {
      const entries = text
        .split(separator)
        .map((part) => part.trim())
        .filter(Boolean);
      return entries.every(takes) ? entries : undefined;
    },
  };
}

export function networks(): Format<readonly string[]> {
  return list({
    separator: ',',
    expected: 'IP addresses and ranges (CIDR), separated by commas',
    takes: (entry) => isIP(entry) !== 0 || ipaddr.isValidCIDR(entry),
  });
}

export function networksAndHosts(): Format<readonly string[]> {
  return list({
    separator: ',',
    expected: 'IP addresses, ranges (CIDR) and host names, separated by commas',
    takes: (entry) => isNetwork(normalHost(entry)) || isHostName(normalHost(entry)),
  });
}

/** Format of a list of existing folders. Without this check, a mistyped name would only show when an element is missing. */
export function folders(separator: string): Format<readonly string[]> {
  return list({
    separator,
    expected: 'existing folders, separated as in PATH',
    takes: (entry) => statSync(entry, { throwIfNoEntry: false })?.isDirectory() === true,
  });
}

/** Name of an npm package with a connector. It ends with the key of the element. */
export const CONNECTOR_PACKAGE = /^(?:@[a-z0-9][a-z0-9._-]*\/)?causeway-connector-([a-z][a-z0-9]*)$/;

export function connectorPackages(): Format<readonly string[]> {
  return list({
    separator: ',',
    expected: 'npm packages named causeway-connector-<key>, with or without a scope, separated by commas',
    takes: (entry) => CONNECTOR_PACKAGE.test(entry),
  });
}

export function host(): Format<string> {
  return {
    expected: 'a host name or an IP address',
    parse: (text) => (isIP(text) !== 0 || isHostName(text.toLowerCase()) ? text : undefined),
  };
}

export function origins(): Format<readonly string[]> {
  return list({
    separator: ',',
    expected: 'origins like https://app.example.com, without a path, separated by commas',
    takes: (entry) => /^https?:[^*]*$/.test(entry) && URL.parse(entry)?.origin === entry,
  });
}

export function urlOf(protocols: readonly string[], expected: string): Format<string> {
  return {
    expected,
    parse: (text) => {
      const url = URL.parse(text);
      return url !== null && protocols.includes(url.protocol) ? text : undefined;
    },
  };
}

export function httpUrl(): Format<string> {
  const { expected, parse } = urlOf(['http:', 'https:'], 'an http or https URL without query and fragment');
  return { expected, parse: (text) => (/[?#]/.test(text) ? undefined : parse(text)?.replace(/\/+$/, '')) };
}

/** Format of a secret whose characters the Authorization header can contain without quotes. */
export function platformSecret(): Format<string> {
  return {
    expected: 'at least 16 letters, digits or any of -._~+/=',
    parse: (text) => (/^[A-Za-z0-9._~+/=-]{16,512}$/.test(text) ? text : undefined),
  };
}

export function encryptionKeys(): Format<string> {
  return {
    expected: 'keys of the form id:base64 of 32 bytes, separated by commas, each id once',
    parse: (text) => (parseEncryptionKeys(text) === undefined ? undefined : text),
  };
}

/** Format of the URL of a collector. It must not contain a user, because log lines contain the URL. */
export function collectorUrl(): Format<string> {
  const { parse } = httpUrl();
  return {
    expected: 'an http or https URL without user, query and fragment',
    parse: (text) => (URL.parse(text)?.username === '' ? parse(text) : undefined),
  };
}

/** Format of pairs as OpenTelemetry defines it (W3C Baggage without its properties): `name=value,…`, with percent-encoded values. */
export function keyValues(): Format<Readonly<Record<string, string>>> {
  return {
    expected: 'pairs of the form name=value, separated by commas, with percent-encoded values',
    parse: (text) => {
      const pairs = text.split(',').flatMap((part) => (part.trim() === '' ? [] : [readPair(part)]));
      return pairs.every((pair) => pair !== undefined) ? Object.fromEntries(pairs) : undefined;
    },
  };
}

function readPair(part: string): readonly [string, string] | undefined {
  const [, name, value] = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=\s*(.*?)\s*$/.exec(part) ?? [];
  if (name === undefined || value === undefined) return undefined;
  try {
    return [name, decodeURIComponent(value)];
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

export function share(): Format<number> {
  return {
    expected: 'a number from 0 to 1',
    parse: (text) => (/^(?:0|1|[01]?\.\d{1,12}|1\.0*)$/.test(text) && Number(text) <= 1 ? Number(text) : undefined),
  };
}

/** Format of a truth value as OpenTelemetry defines it: everything except `true`, in any case, is false. */
export function trueOrNot(): Format<boolean> {
  return { expected: 'true or false', parse: (text) => text.trim().toLowerCase() === 'true' };
}

export function hostPatterns(): Format<readonly string[]> {
  return list({
    separator: ',',
    expected: 'host names, or *. followed by a domain, separated by commas',
    takes: (entry) => isIP(entry) !== 0 || isHostPattern(entry),
  });
}

function isHostPattern(text: string): boolean {
  return isHostName(normalHost(text.startsWith('*.') ? text.slice(2) : text));
}

/** An additional host that an element may call. */
export interface ProviderHost {
  readonly element: string;
  /** A host name, or `*.` and a domain for exactly one label in front of it. */
  readonly host: string;
}

export function providerHosts(): Format<readonly ProviderHost[]> {
  const entries = list({
    separator: ',',
    expected: 'elements and hosts such as servicenow=support.example.com, separated by commas',
    takes: (entry) => /^[a-z][a-z0-9]*=./.test(entry) && isHostPattern(entry.slice(entry.indexOf('=') + 1)),
  });
  const split = (entry: string) => ({
    element: entry.slice(0, entry.indexOf('=')),
    host: entry.slice(entry.indexOf('=') + 1).toLowerCase(),
  });
  return { expected: entries.expected, parse: (text) => entries.parse(text)?.map(split) };
}
