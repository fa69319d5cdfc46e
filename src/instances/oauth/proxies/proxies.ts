import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { encryptionContext } from '../../../db/encrypted-columns.ts';
import type { Keyring } from '../../../db/keyring.ts';
import { AppError, suggestName } from '../../../errors.ts';
import { isStorable, UNSTORABLE } from '../../storable.ts';
import { createProxyStore, type ProxyRow, type RedirectRules } from './proxy-store.ts';
import {
  appendProviderQuery,
  hasCommonParameter,
  parseQuery,
  parseRedirectUrl,
  readRedirectUrl,
  withoutQuery,
} from './redirect-url.ts';

/** Client credentials of an organization with a redirect URL of their own. */
export interface OAuthProxy extends Omit<ProxyRow, 'apiSecret'> {
  /** In clear. */
  readonly apiSecret: string;
  /** The redirect URL to register at the provider. */
  readonly proxyUrl: string;
}

export interface NewProxy {
  readonly name: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly configuration?: string | undefined;
}

interface Creator {
  readonly organizationId: number;
  readonly accountId: number;
}

/** Why a browser is not sent on. */
export type RedirectRefusal = 'unknownProxy' | 'noState' | 'severalStates' | 'notAllowed';

export type Redirect =
  | { readonly kind: 'redirect'; readonly url: string }
  | { readonly kind: 'refused'; readonly reason: RedirectRefusal };

/** OAuth proxies. Their tenant is the organization: all its accounts share them. */
export interface Proxies {
  /** @throws AppError REQUEST_INVALID; CONFLICT for a name that the organization has */
  readonly create: (creator: Creator, input: NewProxy) => Promise<OAuthProxy>;
  /** From old to new. */
  readonly list: (organizationId: number) => Promise<readonly OAuthProxy[]>;
  /** @throws AppError NOT_FOUND */
  readonly get: (organizationId: number, id: number) => Promise<OAuthProxy>;
  /** @throws AppError NOT_FOUND with the nearest name */
  readonly find: (organizationId: number, name: string) => Promise<OAuthProxy>;
  /** The proxy whose `proxyUrl` this is. */
  readonly findByUrl: (organizationId: number, callbackUrl: string) => Promise<OAuthProxy | undefined>;
  /** @throws AppError NOT_FOUND */
  readonly remove: (organizationId: number, id: number) => Promise<void>;
  /** Answers all URLs of the proxy; one that it has already is fine. @throws AppError NOT_FOUND, REQUEST_INVALID, CONFLICT */
  readonly addApplicationUrl: (organizationId: number, id: number, url: string) => Promise<readonly string[]>;
  /** Answers those that are left. @throws AppError NOT_FOUND, REQUEST_INVALID */
  readonly removeApplicationUrl: (organizationId: number, id: number, url: string) => Promise<readonly string[]>;
  /** For 24 hours the proxy redirects to exactly this URL. @throws AppError REQUEST_INVALID */
  readonly allowTarget: (proxy: Pick<OAuthProxy, 'accountId' | 'id'>, url: string) => Promise<void>;
  /** Where a browser goes that the provider sent to the proxy; `query` is what it came with, without the question mark. */
  readonly redirectTarget: (key: string, query: string) => Promise<Redirect>;
  /** Deletes targets that were named before that time, and answers how many. */
  readonly purgeTargets: (before: Date) => Promise<number>;
}

export interface ProxyPorts {
  readonly knex: Knex;
  readonly keyring: Pick<Keyring, 'encrypt' | 'decrypt'>;
  /** Cryptographically random bytes. */
  readonly random: (bytes: number) => Buffer;
  /** Without a slash at the end. */
  readonly publicUrl: () => string;
}

const KEY_BYTES = 24;
const KEY = /^[A-Za-z0-9_-]{32}$/;
const KEEP_TARGET_HOURS = 24;
const MAX_APPLICATION_URLS = 100;

export function createProxies({ knex, keyring, random, publicUrl }: ProxyPorts): Proxies {
  const store = createProxyStore(knex);
  const proxyUrlOf = (key: string) => `${publicUrl()}/oauth/proxy/${key}`;

  function decode(row: ProxyRow): OAuthProxy {
    const apiSecret = keyring.decrypt(row.apiSecret, contextOf(row));
    return Object.freeze({ ...row, apiSecret, proxyUrl: proxyUrlOf(row.key) });
  }

  async function get(organizationId: number, id: number): Promise<OAuthProxy> {
    const row = await store.find(organizationId, { id });
    if (row === undefined) throw new AppError('NOT_FOUND', `There is no OAuth proxy ${id}.`);
    return decode(row);
  }

  return {
    create: async ({ organizationId, accountId }, input) => {
      const { configuration = '{}', apiKey, apiSecret } = input;
      const name = input.name.trim();
      assertAllStorable({ name, apiKey, configuration });
      assertJsonObject(configuration);
      const key = random(KEY_BYTES).toString('base64url');
      const row = { accountId, organizationId, id: await store.nextId(), key, name, apiKey, configuration };
      const inserted = await store.insert({ ...row, apiSecret: keyring.encrypt(apiSecret, contextOf(row)) });
      if (!inserted) throw new AppError('CONFLICT', `There is an OAuth proxy '${name}' already.`);
      return Object.freeze({ ...row, apiSecret, proxyUrl: proxyUrlOf(key), applicationUrls: [] });
    },

    list: async (organizationId) => (await store.list(organizationId)).map(decode),

    get,

    find: async (organizationId, name) => {
      // What no row can hold would be an error to PostgreSQL.
      const row = isStorable(name) ? await store.find(organizationId, { name: name.trim() }) : undefined;
      if (row !== undefined) return decode(row);
      const hint = suggestName(name, await store.names(organizationId));
      throw new AppError('NOT_FOUND', `There is no OAuth proxy '${name}'.${hint}`);
    },

    findByUrl: async (organizationId, callbackUrl) => {
      const key = URL.parse(callbackUrl)?.pathname.split('/').at(-1) ?? '';
      if (!KEY.test(key) || URL.parse(callbackUrl)?.href !== new URL(proxyUrlOf(key)).href) return undefined;
      const row = await store.find(organizationId, { key });
      return row === undefined ? undefined : decode(row);
    },

    remove: async (organizationId, id) => {
      if (!(await store.remove(organizationId, id))) throw new AppError('NOT_FOUND', `There is no OAuth proxy ${id}.`);
    },

    addApplicationUrl: async (organizationId, id, text) => {
      const url = readApplicationUrl(text);
      const added = await store.addApplicationUrl(organizationId, id, url, MAX_APPLICATION_URLS);
      if (added !== undefined) return added;
      const { applicationUrls } = await get(organizationId, id);
      if (applicationUrls.includes(url)) return applicationUrls;
      throw new AppError(
        'CONFLICT',
        `OAuth proxy ${id} has ${MAX_APPLICATION_URLS} application URLs; remove one first.`,
      );
    },

    removeApplicationUrl: async (organizationId, id, text) => {
      const url = readApplicationUrl(text);
      const left = await store.removeApplicationUrl(organizationId, id, url);
      if (left !== undefined) return left;
      const { applicationUrls } = await get(organizationId, id);
      const hint = suggestName(url, applicationUrls);
      throw new AppError('NOT_FOUND', `OAuth proxy ${id} has no application URL '${url}'.${hint}`);
    },

    allowTarget: async (proxy, url) => store.nameTarget(proxy, hashOf(readRedirectUrl(url, 'query.state'))),

    redirectTarget: async (key, query) => {
      if (!KEY.test(key)) return refused('unknownProxy');
      const states = parseQuery(query).getAll('state');
      const [state = ''] = states;
      if (state === '') return refused('noState');
      if (states.length > 1) return refused('severalStates');
      const url = parseRedirectUrl(state);
      if (url === undefined) return refused('notAllowed');
      const rules = await store.findRedirectRules(key, hashOf(url), KEEP_TARGET_HOURS);
      if (rules === undefined) return refused('unknownProxy');
      if (!isAllowed(rules, url, query)) return refused('notAllowed');
      return { kind: 'redirect', url: appendProviderQuery(url, query) };
    },

    purgeTargets: store.purgeTargets,
  };
}

/**
 * A registered application URL may come with any query, which is the application's own, save the names that the
 * provider sends: `state` is anybody's to write, and a `code` in it would stand before the provider's.
 */
function isAllowed({ named, applicationUrls }: RedirectRules, url: URL, query: string): boolean {
  return named || (applicationUrls.includes(withoutQuery(url)) && !hasCommonParameter(url, query));
}

function refused(reason: RedirectRefusal): Redirect {
  return { kind: 'refused', reason };
}

function readApplicationUrl(text: string): string {
  const url = readRedirectUrl(text, 'url');
  if (!url.href.includes('?')) return url.href;
  const message = 'url must have no query: the proxy redirects to the URL with any query.';
  throw new AppError('REQUEST_INVALID', message, { details: [{ path: 'url', message }] });
}

function hashOf(url: URL): Buffer {
  return createHash('sha256').update(url.href).digest();
}

function contextOf({ accountId, id }: Pick<ProxyRow, 'accountId' | 'id'>): string {
  return encryptionContext('oauth_proxy.api_secret', accountId, id);
}

function assertAllStorable(texts: Readonly<Record<string, string>>): void {
  const faults = Object.entries(texts)
    .filter(([, text]) => !isStorable(text))
    .map(([member]) => ({ path: `body.${member}`, message: `body.${member} ${UNSTORABLE}` }));
  const [first] = faults;
  if (first !== undefined) throw new AppError('REQUEST_INVALID', first.message, { details: faults });
}

function assertJsonObject(configuration: string): void {
  if (isJsonObject(configuration)) return;
  const message = 'body.configuration must be a text that holds a JSON object.';
  throw new AppError('REQUEST_INVALID', message, { details: [{ path: 'body.configuration', message }] });
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
