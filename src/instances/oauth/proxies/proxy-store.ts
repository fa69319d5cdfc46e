import type { Knex } from 'knex';
import { FLAG, filterable, INTEGER, type Selection, selectPage, TEXT } from '../../../db/listing.ts';
import { nextId } from '../../../db/next-id.ts';
import { columnsOf, type RowOf, type RowWith, toColumns } from '../../../db/row.ts';
import { isUniqueViolation } from '../../../db/violations.ts';

/**
 * A row of `oauth_proxy`, with its secret encrypted. `key` is the unguessable end of the redirect URL. `configuration` is a JSON object as
 * the caller sent it, as text. `applicationUrls`, by origin and path, are allowed redirects at any time.
 */
export type ProxyRow = RowWith<'oauth_proxy', typeof COLUMNS>;

/** Columns of a proxy that can change. */
type ProxyValues = Pick<ProxyRow, 'name' | 'apiKey' | 'apiSecret' | 'configuration' | 'shared'>;

/** Columns that decide whether a proxy redirects to a URL. */
export interface RedirectRules extends RowOf<'oauth_proxy', 'application_urls'> {
  /** Whether a caller recently named the URL as a target. */
  readonly named: boolean;
}

const COLUMNS = columnsOf('oauth_proxy', [
  'account_id',
  'id',
  'organization_id',
  'key',
  'name',
  'api_key',
  'api_secret',
  'configuration',
  'application_urls',
  'shared',
]);

/** Fields that a list of proxies can be filtered by, under their names in the API. */
export const FILTERABLE_PROXY = filterable({
  id: [INTEGER, 'id'],
  name: [TEXT, 'name'],
  apiKey: [TEXT, 'api_key'],
  shared: [FLAG, 'shared'],
});

export type ProxyStore = ReturnType<typeof createProxyStore>;

/** The account that uses proxies. */
export type ProxyCaller = Pick<ProxyRow, 'organizationId' | 'accountId'>;

/**
 * Creates the store of proxies. Each statement is limited to one account, except the one for callers that have only
 * the key.
 */
export function createProxyStore(knex: Knex) {
  /** Selects the account's own proxies, and those that are shared with its organization. */
  const rows = ({ organizationId, accountId }: ProxyCaller) =>
    knex('oauth_proxy').where({ organization_id: organizationId }).whereRaw('(account_id = ? or shared)', [accountId]);

  return {
    nextId: (): Promise<number> => nextId(knex, 'oauth_proxy'),

    /** Returns false when the account has a proxy of that name or, for a shared one, the organization has. */
    insert: async (row: Omit<ProxyRow, 'applicationUrls'>): Promise<boolean> => {
      const inserted = await knex('oauth_proxy')
        .insert(toColumns('oauth_proxy', row))
        .onConflict()
        .ignore()
        .returning('id');
      return inserted.length > 0;
    },

    /** Finds a proxy. If two have the name, the account's own comes first. */
    find: (
      caller: ProxyCaller,
      by: { id: number } | { name: string } | { key: string },
    ): Promise<ProxyRow | undefined> =>
      rows(caller).where(by).orderByRaw('account_id = ? desc', [caller.accountId]).first(COLUMNS),

    /** Lists proxies from old to new. */
    list: async (caller: ProxyCaller, selection: Selection): Promise<ProxyRow[]> =>
      selectPage(rows(caller).select(COLUMNS), selection),

    names: (caller: ProxyCaller): Promise<string[]> => rows(caller).pluck('name'),

    /** Changes a proxy, unless it was changed since it was read: every change writes another ciphertext. */
    update: async (
      read: ProxyCaller & { readonly id: number; readonly sealedSecret: string },
      { name, apiKey, apiSecret, configuration, shared }: ProxyValues,
    ): Promise<'updated' | 'nameTaken' | 'changed'> => {
      const { id, sealedSecret } = read;
      try {
        const count = await rows(read)
          .where({ id, api_secret: sealedSecret })
          .update({ name, api_key: apiKey, api_secret: apiSecret, configuration, shared });
        return count > 0 ? 'updated' : 'changed';
      } catch (error) {
        if (isUniqueViolation(error)) return 'nameTaken';
        throw error;
      }
    },

    remove: async (caller: ProxyCaller, id: number): Promise<boolean> =>
      (await rows(caller).where({ id }).delete()) > 0,

    /**
     * Adds an application URL.
     * @returns all URLs; undefined when there is no such proxy, it already has the URL, or it has the maximum number
     */
    addApplicationUrl: async (caller: ProxyCaller, id: number, url: string, most: number) => {
      const updated = await rows(caller)
        .where({ id })
        .whereRaw('cardinality(application_urls) < ? and not ? = any(application_urls)', [most, url])
        .update({ application_urls: knex.raw('array_append(application_urls, ?)', [url]) })
        .returning('application_urls');
      return updated[0]?.application_urls;
    },

    /**
     * Removes an application URL.
     * @returns the URLs that are left; undefined when the proxy did not have it
     */
    removeApplicationUrl: async (caller: ProxyCaller, id: number, url: string) => {
      const updated = await rows(caller)
        .where({ id })
        .whereRaw('? = any(application_urls)', [url])
        .update({ application_urls: knex.raw('array_remove(application_urls, ?)', [url]) })
        .returning('application_urls');
      return updated[0]?.application_urls;
    },

    /** Names a target. If it was named before, its time begins again. */
    nameTarget: async (proxy: Pick<ProxyRow, 'accountId' | 'id'>, urlHash: Buffer): Promise<void> => {
      await knex('oauth_proxy_target')
        .insert({ account_id: proxy.accountId, proxy_id: proxy.id, url_hash: urlHash })
        .onConflict(['account_id', 'proxy_id', 'url_hash'])
        .merge({ created_at: knex.raw('excluded.created_at') });
    },

    /** Finds the rules for a browser, which has only the key of the proxy. */
    findRedirectRules: async (key: string, urlHash: Buffer, hours: number): Promise<RedirectRules | undefined> => {
      const named = knex('oauth_proxy_target as target')
        .whereRaw('target.account_id = proxy.account_id and target.proxy_id = proxy.id')
        .where('target.url_hash', urlHash)
        .whereRaw('target.created_at > now() - make_interval(hours => ?)', [hours])
        .select(knex.raw('1'));
      const rules: RedirectRules[] = await knex('oauth_proxy as proxy')
        .where({ key })
        .select({ applicationUrls: 'application_urls', named: knex.raw('exists ?', [named]) });
      return rules[0];
    },

    purgeTargets: (before: Date): Promise<number> =>
      knex('oauth_proxy_target').where('created_at', '<', before).delete(),
  };
}
