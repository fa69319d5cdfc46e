import type { Principal } from '../accounts/accounts.ts';
import { MASK } from '../instances/configuration.ts';
import type { ProxyClient } from '../instances/oauth/proxies/proxies.ts';
import type { OAuthProxy } from '../instances/oauth/proxies/proxy.ts';
import { assertPrivilege } from './access.ts';
import type { ApiServices } from './api-services.ts';
import type { Handlers } from './operation.ts';
import { type PageSeal, respondWithPage } from './page-tokens.ts';

export function createProxyHandlers({ proxies }: ApiServices, seal: PageSeal) {
  return {
    listOAuthProxies: ({ principal, ...request }) =>
      respondWithPage(seal, request, {
        context: ['oauth-proxies', principal.accountId, request.query.where],
        read: (page) => proxies.list(principal, page),
        toView: toMaskedRecord,
      }),
    createOAuthProxy: async ({ principal, body }) => {
      assertMayShare(principal, { before: false, after: body.shared });
      return { body: toNewRecord(await proxies.create(principal, body)) };
    },
    getOAuthProxy: async ({ principal, path }) => ({
      body: toMaskedRecord(await proxies.get(principal, path.id)),
    }),
    updateOAuthProxy: async ({ principal, path, body }) => {
      const { shared: before } = await proxies.get(principal, path.id);
      assertMayShare(principal, { before, after: body.shared });
      return { body: toMaskedRecord(await proxies.update(principal, path.id, body)) };
    },
    deleteOAuthProxy: async ({ principal, path }) => {
      await proxies.remove(principal, path.id);
      return { body: { id: path.id } };
    },
    listOAuthProxyApplicationUrls: async ({ principal, path }) => {
      const { applicationUrls } = await proxies.get(principal, path.id);
      return listResponse(applicationUrls);
    },
    addOAuthProxyApplicationUrl: async ({ principal, path, body }) =>
      listResponse(await proxies.addApplicationUrl(principal, path.id, body.url)),
    removeOAuthProxyApplicationUrl: async ({ principal, path, query }) =>
      listResponse(await proxies.removeApplicationUrl(principal, path.id, query.url)),
  } satisfies Partial<Handlers>;
}

/**
 * The organization decides what other accounts see.
 * @throws AppError FORBIDDEN
 */
function assertMayShare(
  principal: Principal,
  { before, after = before }: { readonly before: boolean; readonly after: boolean | undefined },
): void {
  if (after !== before) assertPrivilege(principal, 'manageOrganization');
}

function listResponse<Entry>(entries: readonly Entry[]) {
  return { body: [...entries], headers: { 'Elements-Returned-Count': entries.length } };
}

/** The creator sent the secret. After that, it is never shown, and accounts do not need it. */
function toNewRecord(proxy: ProxyClient) {
  return { ...toMaskedRecord(proxy), apiSecret: proxy.apiSecret };
}

function toMaskedRecord({ id, name, apiKey, configuration, shared, proxyUrl }: OAuthProxy) {
  return { id, name, apiKey, apiSecret: MASK, configuration, shared, proxyUrl };
}
