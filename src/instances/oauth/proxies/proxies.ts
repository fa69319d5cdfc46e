import type { Knex } from 'knex';
import type { Connector } from '../../../connector/contract.ts';
import { type BoundCell, decryptBound, encryptBound } from '../../../db/bound-values.ts';
import { type ChangeNote, changeInTurn, differences } from '../../../db/change.ts';
import { DecryptionError } from '../../../db/keyring.ts';
import { listPage, type PageQuery } from '../../../db/listing.ts';
import { assertAllStorable, isStorable } from '../../../db/storable.ts';
import { AppError, cutText, suggestName } from '../../../errors.ts';
import type { Platform } from '../../../platform.ts';
import { changedMeanwhile, missing } from '../../../shared-errors.ts';
import { MASK } from '../../configuration.ts';
import { CALLBACK_PATH, readRedirectUrl } from '../addresses.ts';
import {
  assertFixed,
  assertSecretMayStay,
  type NewProxy,
  type OAuthProxy,
  type ProxyChanges,
  readChanges,
  readTokenOrigins,
} from './proxy.ts';
import { createProxyStore, FILTERABLE_PROXY, type ProxyCaller, type ProxyRow, type ProxyStore } from './proxy-store.ts';
import { judgeRedirect, readTarget, refused, withoutQuery } from './redirect.ts';

/** A proxy with its secret, for immediate use. */
export interface ProxyClient extends OAuthProxy {
  /** The client secret in clear text. */
  readonly apiSecret: string;
  /** Origins of token endpoints, for elements whose host is a setting. The secret is sent to no others. */
  readonly tokenOrigins: readonly string[];
}

/**
 * OAuth proxies. The account that created a proxy sees, uses and changes it. All accounts of the organization see and use a shared proxy.
 * For other accounts, a proxy that is not shared does not exist.
 */
export type Proxies = ReturnType<typeof createProxies>;

const KEY_BYTES = 24;
const KEY = /^[A-Za-z0-9_-]{32}$/;
const KEEP_TARGET_HOURS = 24;
const MAX_APPLICATION_URLS = 100;

/**
 * Creates the service for OAuth proxies.
 * @param publicUrl public URL without a slash at the end
 */
export function createProxies(
  { knex, shares, keyring, keys, random }: Pick<Platform, 'knex' | 'shares' | 'keyring' | 'keys' | 'random'>,
  publicUrl: () => string,
) {
  const store = createProxyStore(knex);
  const proxyUrlOf = (key: string) => `${publicUrl()}/oauth/proxy/${key}`;

  function decode({ apiSecret, ...row }: ProxyRow): OAuthProxy {
    return Object.freeze({ ...row, sealedSecret: apiSecret, proxyUrl: proxyUrlOf(row.key) });
  }

  function open(proxy: OAuthProxy) {
    try {
      return decryptBound(keyring, proxy.sealedSecret, cellOf(proxy));
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      const message = `The OAuth proxy '${proxy.name}' cannot be used: its stored data cannot be read, or was changed outside of the service. Delete the proxy and create it again.`;
      throw new AppError('CONFLICT', message, { cause: error });
    }
  }

  /** The callback of this service forwards nothing. It accepts a code only from the browser that began. */
  function isOwnCallback(url: URL): boolean {
    return withoutQuery(url) === withoutQuery(new URL(publicUrl() + CALLBACK_PATH));
  }

  /** URLs contain data of users. With an unkeyed hash, a reader of the table could test guesses. */
  function hashOf(url: URL): Buffer {
    return keys.digest(url.href, 'oauth_proxy_target.url_hash');
  }

  async function get(caller: ProxyCaller, id: number, via = knex): Promise<OAuthProxy> {
    const row = await createProxyStore(via).find(caller, { id });
    if (row === undefined) throw notFound(id);
    return decode(row);
  }

  /**
   * Changes an existing proxy. `work` returns whether its secret is new.
   * @throws AppError NOT_FOUND, FORBIDDEN
   */
  async function changeProxy(
    caller: ProxyCaller,
    id: number,
    work: (store: ProxyStore, proxy: OAuthProxy) => Promise<{ readonly isSecretNew: boolean }>,
  ): Promise<OAuthProxy> {
    const step = async (via: Knex): Promise<Step & { readonly after: OAuthProxy }> => {
      const before = await get(caller, id, via);
      assertMayChange(caller, before);
      const { isSecretNew } = await work(createProxyStore(via), before);
      return { before, after: await get(caller, id, via), isSecretNew };
    };
    return (await changeInTurn(knex, step, noteOf)).after;
  }

  return {
    /**
     * Creates a proxy.
     * @throws AppError REQUEST_INVALID; CONFLICT for a name that exists in the account or, for a shared proxy, in the organization
     */
    create: async (caller: ProxyCaller, input: NewProxy) => {
      const { organizationId, accountId } = caller;
      const { configuration = '{}', apiKey, apiSecret, shared = false } = input;
      const name = input.name.trim();
      assertAllStorable({ name, apiKey, configuration });
      const tokenOrigins = readTokenOrigins(configuration, '/body/configuration');
      const key = random.bytes(KEY_BYTES).toString('base64url');
      const row = { accountId, organizationId, id: await store.nextId(), key, name, apiKey, configuration, shared };
      const sealedSecret = encryptBound(keyring, apiSecret, cellOf(row));
      const insert = async (via: Knex): Promise<Step> => {
        const isInserted = await createProxyStore(via).insert({ ...row, apiSecret: sealedSecret });
        if (!isInserted) throw nameTaken(name);
        return { after: await get(caller, row.id, via), isSecretNew: true };
      };
      await changeInTurn(knex, insert, noteOf);
      const proxyUrl = proxyUrlOf(key);
      return Object.freeze({ ...row, apiSecret, sealedSecret, tokenOrigins, proxyUrl, applicationUrls: [] });
    },

    /**
     * Lists proxies from old to new.
     * @throws AppError WHERE_SYNTAX, WHERE_INVALID
     */
    list: async (caller: ProxyCaller, query: PageQuery) => {
      const { rows, last } = await listPage(FILTERABLE_PROXY, query, (selection) =>
        shares.list(caller.accountId, (via) => createProxyStore(via).list(caller, selection)),
      );
      return { rows: rows.map(decode), last };
    },

    /**
     * Returns a proxy.
     * @throws AppError NOT_FOUND
     */
    get,

    /**
     * Returns the proxy with a name. If two have it, the account's own comes first.
     * @throws AppError NOT_FOUND that names the nearest name
     */
    find: async (caller: ProxyCaller, name: string) => {
      // PostgreSQL would report an error for a text that it cannot store.
      const row = isStorable(name) ? await store.find(caller, { name: name.trim() }) : undefined;
      if (row !== undefined) return decode(row);
      throw missing('OAuth proxy', name, await store.names(caller));
    },

    /** Returns the proxy with this `proxyUrl`. */
    findByUrl: async (caller: ProxyCaller, callbackUrl: string) => {
      const key = URL.parse(callbackUrl)?.pathname.split('/').at(-1) ?? '';
      if (!KEY.test(key) || URL.parse(callbackUrl)?.href !== new URL(proxyUrlOf(key)).href) return undefined;
      const row = await store.find(caller, { key });
      return row === undefined ? undefined : decode(row);
    },

    /**
     * Returns a proxy with its secret.
     * @throws AppError CONFLICT when it was changed outside of the service
     */
    openClient: (proxy: OAuthProxy) => {
      const { plain: apiSecret, isBound } = open(proxy);
      // A row of an earlier release, which had no origins: its configuration cannot have set any.
      const tokenOrigins = isBound ? readTokenOrigins(proxy.configuration, '/body/configuration') : [];
      return Object.freeze({ ...proxy, apiSecret, tokenOrigins });
    },

    /**
     * Changes a proxy. Instances and authorizations with the previous client keep it.
     * @throws AppError NOT_FOUND, FORBIDDEN, REQUEST_INVALID; CONFLICT for a name as in `create`, for concurrent changes, and for a proxy
     * that was changed outside of the service
     */
    update: (caller: ProxyCaller, id: number, changes: ProxyChanges) =>
      changeProxy(caller, id, async (stored, proxy) => {
        assertFixed(proxy, changes);
        const given = readChanges(changes);
        const { plain, isBound } = open(proxy);
        // A configuration that an earlier release stored was not in force.
        assertSecretMayStay(isBound ? proxy : { ...proxy, configuration: '{}' }, given, proxy.configuration);
        const { name, apiKey, configuration, shared, apiSecret } = { ...proxy, apiSecret: plain, ...given };
        const cell = cellOf({ ...proxy, apiKey, configuration });
        const row = { name, apiKey, configuration, shared, apiSecret: encryptBound(keyring, apiSecret, cell) };
        switch (await stored.update(proxy, row)) {
          case 'updated':
            return { isSecretNew: apiSecret !== plain };
          case 'nameTaken':
            throw nameTaken(name);
          case 'changed':
            throw (await stored.find(caller, { id })) === undefined
              ? notFound(id)
              : changedMeanwhile(`OAuth proxy ${id}`);
        }
      }),

    /**
     * Deletes a proxy.
     * @throws AppError NOT_FOUND, FORBIDDEN
     */
    remove: async (caller: ProxyCaller, id: number) => {
      const remove = async (via: Knex): Promise<Step> => {
        const before = await get(caller, id, via);
        assertMayChange(caller, before);
        if (!(await createProxyStore(via).remove(caller, id))) throw notFound(id);
        return { before, isSecretNew: false };
      };
      await changeInTurn(knex, remove, noteOf);
    },

    /**
     * Adds an application URL. One that exists already is no fault.
     * @returns all URLs of the proxy
     * @throws AppError NOT_FOUND, FORBIDDEN, REQUEST_INVALID, CONFLICT
     */
    addApplicationUrl: async (caller: ProxyCaller, id: number, text: string) => {
      const { applicationUrls } = await changeProxy(caller, id, async (stored) => {
        const url = readApplicationUrl(text);
        const added = await stored.addApplicationUrl(caller, id, url, MAX_APPLICATION_URLS);
        if (added === undefined) assertHasUrl(await stored.find(caller, { id }), url);
        return { isSecretNew: false };
      });
      return applicationUrls;
    },

    /**
     * Removes an application URL.
     * @returns the URLs that are left
     * @throws AppError NOT_FOUND, FORBIDDEN, REQUEST_INVALID
     */
    removeApplicationUrl: async (caller: ProxyCaller, id: number, text: string) => {
      const { applicationUrls } = await changeProxy(caller, id, async (stored, proxy) => {
        const url = readApplicationUrl(text);
        const left = await stored.removeApplicationUrl(caller, id, url);
        if (left === undefined) throw noSuchUrl(proxy, url);
        return { isSecretNew: false };
      });
      return applicationUrls;
    },

    /**
     * Allows a redirect to a URL. For 24 hours, the proxy redirects to exactly this URL if its own account names it. For other accounts,
     * the URL must be an application URL, which the proxy's account allowed permanently. A browser that returns brings only the URL, so a
     * caller who could name any URL could get the codes of all users.
     * @throws AppError REQUEST_INVALID, FORBIDDEN
     */
    allowTarget: async (caller: ProxyCaller, proxy: OAuthProxy, text: string) => {
      const url = readRedirectUrl(text, '/query/state');
      if (mayChange(caller, proxy) || isOwnCallback(url)) return store.nameTarget(proxy, hashOf(url));
      if (proxy.applicationUrls.includes(withoutQuery(url))) return;
      throw foreignTarget(proxy);
    },

    /** Returns the redirect of a browser that the provider sent to the proxy. `query` is its query without the question mark. */
    redirectTarget: async (key: string, query: string) => {
      if (!KEY.test(key)) return refused('unknownProxy');
      const target = readTarget(query);
      if (target.kind === 'refused') return target;
      return judgeRedirect(
        await store.findRedirectRules(key, hashOf(target.url), KEEP_TARGET_HOURS),
        target.url,
        query,
      );
    },

    /**
     * Deletes targets that were named before a time.
     * @returns their number
     */
    purgeTargets: store.purgeTargets,
  };
}

/** Only the account that created a proxy may change it. No other code decides this. */
function mayChange({ accountId }: ProxyCaller, proxy: Pick<OAuthProxy, 'accountId'>): boolean {
  return accountId === proxy.accountId;
}

/** @throws AppError FORBIDDEN that names the account, which belongs to the caller's organization */
function assertMayChange(caller: ProxyCaller, proxy: OAuthProxy): void {
  if (mayChange(caller, proxy)) return;
  const message = `OAuth proxy ${proxy.id} belongs to account ${proxy.accountId} of your organization: only that account may change or delete it.`;
  throw new AppError('FORBIDDEN', message);
}

function foreignTarget({ id, name, accountId }: OAuthProxy): AppError {
  const message = `The OAuth proxy '${name}' belongs to account ${accountId} of your organization. From other accounts, state must be one of its application URLs, which account ${accountId} adds with POST /elements/oauthProxies/${id}/applicationUrls.`;
  return new AppError('FORBIDDEN', message, {
    details: [{ path: '/query/state', message: 'is not an application URL of the proxy' }],
  });
}

/** The use of a proxy's secret for a token request. */
interface ProxyUse {
  readonly caller: ProxyCaller;
  readonly connector: Connector;
  /** The origin of the token endpoint. */
  readonly origin: string;
  /** Whether a code is exchanged whose authorization only a user of the caller's account can have begun. */
  readonly isOfAccount: boolean;
}

/**
 * Asserts that a caller who does not know the secret may use it. The secret is sent to the provider only, and another account than the
 * proxy's gets only grants of authorizations that it began itself.
 * @throws AppError FORBIDDEN, REQUEST_INVALID
 */
export function assertProxyMayServe(client: ProxyClient, { caller, connector, origin, isOfAccount }: ProxyUse): void {
  const { name, accountId, tokenOrigins } = client;
  if (!mayChange(caller, client) && !isOfAccount) {
    const message = `The OAuth proxy '${name}' belongs to account ${accountId} of your organization. From other accounts, it accepts a code only of an authorization that the caller started with GET /elements/${connector.key}/oauth/url in the last 15 minutes, or oauth.api.secret.`;
    throw new AppError('FORBIDDEN', message);
  }
  if (typeof connector.hosts !== 'function' || tokenOrigins.includes(origin)) return;
  const path = '/body/configuration/oauth.api.secret';
  const message = `'oauth.api.secret' is missing: the settings lead to ${origin}, and the OAuth proxy '${name}' sends its secret only where "tokenOrigins" of its configuration says.`;
  throw new AppError('REQUEST_INVALID', message, { details: [{ path, message }] });
}

/** A proxy before and after a change. */
interface Step {
  readonly before?: OAuthProxy;
  readonly after?: OAuthProxy;
  readonly isSecretNew: boolean;
}

/** Returns the changes for the audit log. */
function noteOf({ before, after, isSecretNew }: Step): ChangeNote {
  const secret = { ...(before !== undefined && { from: MASK }), to: MASK };
  const changes = { ...differences(toAudit(before), toAudit(after)), ...(isSecretNew && { apiSecret: secret }) };
  return { targetId: String((after ?? before)?.id), changes };
}

function toAudit(proxy: OAuthProxy | undefined): Readonly<Record<string, unknown>> {
  if (proxy === undefined) return {};
  const { id, name, apiKey, configuration, shared, applicationUrls } = proxy;
  return { id, name, apiKey, configuration, shared, applicationUrls };
}

/** @throws AppError CONFLICT for a URL that was not added because there are too many */
function assertHasUrl(proxy: Pick<ProxyRow, 'id' | 'applicationUrls'> | undefined, url: string): void {
  if (proxy === undefined || proxy.applicationUrls.includes(url)) return;
  const message = `OAuth proxy ${proxy.id} has ${MAX_APPLICATION_URLS} application URLs, the maximum. Remove one first.`;
  throw new AppError('CONFLICT', message);
}

function noSuchUrl({ id, applicationUrls }: OAuthProxy, url: string): AppError {
  const hint = suggestName(url, applicationUrls);
  return new AppError('NOT_FOUND', `OAuth proxy ${id} has no application URL '${cutText(url)}'.${hint}`);
}

function nameTaken(name: string): AppError {
  return new AppError('CONFLICT', `An OAuth proxy '${name}' already exists. Choose another name.`);
}

function notFound(id: number): AppError {
  return missing('OAuth proxy', id);
}

function readApplicationUrl(text: string): string {
  const url = readRedirectUrl(text, '/body/url');
  if (!url.href.includes('?')) return url.href;
  const message = 'body.url must not have a query. The proxy redirects to the URL with any query.';
  throw new AppError('REQUEST_INVALID', message, { details: [{ path: '/body/url', message }] });
}

function cellOf(row: Pick<ProxyRow, 'accountId' | 'id' | 'organizationId' | 'apiKey' | 'configuration'>): BoundCell {
  const { accountId, id, organizationId, apiKey, configuration } = row;
  return { column: 'oauth_proxy.api_secret', key: [accountId, id], bound: [organizationId, apiKey, configuration] };
}
