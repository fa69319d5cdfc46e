import { MASK } from '../instances/configuration.ts';
import type { Proxies, ShownProxy } from '../instances/oauth/proxies/proxies.ts';
import type { Handlers } from './handler.ts';

type ProxyHandlers = Pick<
  Handlers,
  | 'listOAuthProxies'
  | 'createOAuthProxy'
  | 'getOAuthProxy'
  | 'deleteOAuthProxy'
  | 'listOAuthProxyApplicationUrls'
  | 'addOAuthProxyApplicationUrl'
  | 'removeOAuthProxyApplicationUrl'
>;

export function createProxyHandlers(proxies: Proxies): ProxyHandlers {
  return {
    listOAuthProxies: async ({ principal }) =>
      listAnswer((await proxies.list(principal)).map((proxy) => toRecord(proxy, MASK))),
    createOAuthProxy: async ({ principal, body }) => {
      const proxy = await proxies.create(principal, body);
      return { body: toRecord(proxy, proxy.apiSecret) };
    },
    getOAuthProxy: async ({ principal, path }) => ({
      body: toRecord(await proxies.get(principal.organizationId, path.id), MASK),
    }),
    deleteOAuthProxy: async ({ principal, path }) => {
      await proxies.remove(principal.organizationId, path.id);
      return { body: { id: path.id } };
    },
    listOAuthProxyApplicationUrls: async ({ principal, path }) => {
      const { applicationUrls } = await proxies.get(principal.organizationId, path.id);
      return listAnswer(applicationUrls);
    },
    addOAuthProxyApplicationUrl: async ({ principal, path, body }) =>
      listAnswer(await proxies.addApplicationUrl(principal.organizationId, path.id, body.url)),
    removeOAuthProxyApplicationUrl: async ({ principal, path, query }) =>
      listAnswer(await proxies.removeApplicationUrl(principal.organizationId, path.id, query.url)),
  };
}

function listAnswer<Entry>(entries: readonly Entry[]) {
  return { body: [...entries], headers: { 'Elements-Returned-Count': entries.length } };
}

function toRecord({ id, name, apiKey, configuration, proxyUrl }: ShownProxy, apiSecret: string) {
  return { id, name, apiKey, apiSecret, configuration, proxyUrl };
}
