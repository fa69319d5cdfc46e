import type { Connector } from '../connector/contract.ts';
import { hubsOf } from '../connector/define.ts';
import type { Registry } from '../connector/registry.ts';
import type { AuthorizationCaller, Authorizations, UrlRequest } from '../instances/oauth/authorizations.ts';
import { inBody, withPlaces } from './body-faults.ts';
import { toElement, toElementDetail } from './element-view.ts';
import type { Handlers } from './operation.ts';

type ElementHandlers = Pick<Handlers, 'listElements' | 'getElement' | 'getOAuthUrl' | 'beginOAuth' | 'listHubs'>;

export function createElementHandlers({
  registry,
  authorizations,
}: {
  readonly registry: Registry;
  readonly authorizations: Pick<Authorizations, 'begin'>;
}): ElementHandlers {
  async function beginOAuth(caller: AuthorizationCaller, keyOrId: string, request: UrlRequest) {
    const connector = registry.getConnector(keyOrId);
    return { body: { oauthUrl: await authorizations.begin(caller, connector, request), element: connector.key } };
  }

  return {
    listElements: ({ query }) => {
      const elements = registry.connectors
        .filter((connector) => query.hub === undefined || hubsOf(connector).includes(query.hub))
        .filter((connector) => query.searchText === undefined || mentions(connector, query.searchText))
        .map(toElement);
      return { body: elements, headers: { 'Elements-Returned-Count': elements.length } };
    },

    getElement: ({ path }) => ({ body: toElementDetail(registry.getConnector(path.keyOrId)) }),

    getOAuthUrl: ({ principal, path, query }) => beginOAuth(principal, path.keyOrId, query),
    beginOAuth: ({ principal, path, body }) => withPlaces(inBody, beginOAuth(principal, path.keyOrId, body)),

    listHubs: () => {
      const members = registry.connectors.flatMap((connector) => hubsOf(connector).map((hub) => ({ hub, connector })));
      const hubs = [...Map.groupBy(members, ({ hub }) => hub)].map(([key, found]) => ({
        key,
        elements: found.map(({ connector }) => connector.key),
      }));
      return { body: hubs, headers: { 'Elements-Returned-Count': hubs.length } };
    },
  };
}

function mentions({ key, name, description }: Connector, text: string): boolean {
  const wanted = text.toLowerCase();
  return [key, name, description].some((place) => place.toLowerCase().includes(wanted));
}
