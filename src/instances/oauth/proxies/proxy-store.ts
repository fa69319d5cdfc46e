import type { Knex } from 'knex';
import { FLAG, filterable, INTEGER, type Selection, selectPage, TEXT } from '../../../db/listing.ts';
import { nextId } from '../../../db/next-id.ts';
import { columnsOf, type RowOf, type RowWith, toColumns } from '../../../db/row.ts';
import { isUniqueViolation } from '../../../db/violations.ts';

/**
 * A row of `oauth_proxy`, still encrypted. `key` is the unguessable end of the redirect URL, `configuration` a JSON object as
 * text, kept as given; `applicationUrls` are redirected to at any time, by origin and path.
 */
export type ProxyRow = RowWith<'oauth_proxy', typeof COLUMNS>;

/** Columns of a proxy that can change. */
export type ProxyValues = Pick<ProxyRow, 'name' | 'apiKey' | 'apiSecret' | 'configuration' | 'shared'>;

/** Columns that decide whether a proxy redirects to a URL. */
export interface RedirectRules extends RowOf<'oauth_proxy', 'application_urls'> {
  /** A caller named the URL as a target not long ago. */
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

/** Who asks for proxies. */
export type ProxyCaller = Pick<ProxyRow, 'organizationId' | 'accountId'>;

/**
 * Creates the store of proxies. Each statement is limited to one account, except the one for callers that have only
 * the key.
 */
export function createProxyStore(knex: Knex) {
  /** Its own, and those that are shared with its organization. */
  const rows = ({ organizationId, accountId }: ProxyCaller) =>
    knex('oauth_proxy').where({ organization_id: organizationId }).whereRaw('(account_id = ? or shared)', [accountId]);

  return {
    nextId: (): Promise<number> => nextId(knex, 'oauth_proxy'),

    /** False when the account has one of that name or, for one that is shared, the organization. */
    insert: async (row: Omit<ProxyRow, 'applicationUrls'>): Promise<boolean> => {
      const inserted = await knex('oauth_proxy')
        .insert(toColumns('oauth_proxy', row))
        .onConflict()
        .ignore()
        .returning('id');
      return inserted.length > 0;
    },

    /** Of two by one name, the account's own. */
    find: (
      caller: ProxyCaller,
      by: { id: number } | { name: string } | { key: string },
    ): Promise<ProxyRow | undefined> =>
      rows(caller).where(by).orderByRaw('account_id = ? desc', [caller.accountId]).first(COLUMNS),

    /** From old to new. */
    list: async (caller: ProxyCaller, selection: Selection): Promise<ProxyRow[]> =>
      selectPage(rows(caller).select(COLUMNS), selection),

    names: (caller: ProxyCaller): Promise<string[]> => rows(caller).pluck('name'),

    /** Only if nobody changed it since it was read: every change writes another ciphertext. */
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

    /** @returns all of them; undefined when there is no such proxy, it has the URL already, or as many as it may */
    addApplicationUrl: async (caller: ProxyCaller, id: number, url: string, most: number) => {
      const updated = await rows(caller)
        .where({ id })
        .whereRaw('cardinality(application_urls) < ? and not ? = any(application_urls)', [most, url])
        .update({ application_urls: knex.raw('array_append(application_urls, ?)', [url]) })
        .returning('application_urls');
      return updated[0]?.application_urls;
    },

    /** @returns those that are left; undefined when the proxy did not have it */
    removeApplicationUrl: async (caller: ProxyCaller, id: number, url: string) => {
      const updated = await rows(caller)
        .where({ id })
        .whereRaw('? = any(application_urls)', [url])
        .update({ application_urls: knex.raw('array_remove(application_urls, ?)', [url]) })
        .returning('application_urls');
      return updated[0]?.application_urls;
    },

    /** Named again it is as new. */
    nameTarget: async (proxy: Pick<ProxyRow, 'accountId' | 'id'>, urlHash: Buffer): Promise<void> => {
      await knex('oauth_proxy_target')
        .insert({ account_id: proxy.accountId, proxy_id: proxy.id, url_hash: urlHash })
        .onConflict(['account_id', 'proxy_id', 'url_hash'])
        .merge({ created_at: knex.fn.now() });
    },

    /** For a browser, which has no more than the key of the proxy. */
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
