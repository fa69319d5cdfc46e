import type { Connector } from '../connector/contract.ts';
import { hubsOf } from '../connector/define.ts';
import type { AuthorizationCaller, UrlRequest } from '../instances/oauth/authorizations.ts';
import { missing } from '../shared-errors.ts';
import type { ApiServices } from './api-services.ts';
import { inBody, withPointers } from './body-faults.ts';
import { type Element, toConfigurationForm, toElement, toElementDetail, toElementMetadata } from './element-view.ts';
import type { Handlers, OperationRequest, OperationResult } from './operation.ts';
import type { PageSeal } from './page-tokens.ts';
import { fieldsOf, listRows } from './row-listing.ts';

type Hub = OperationResult<'listHubs'>[number];

type ElementListing = Pick<OperationRequest<'listElements'>, 'principal' | 'query' | 'url'>;

const ELEMENTS = fieldsOf('Element');
const HUBS = fieldsOf('Hub');

export function createElementHandlers(
  { registry, findDemoAccount, activeElements, authorizations }: ApiServices,
  seal: PageSeal,
) {
  async function list({ principal: { accountId }, ...request }: ElementListing) {
    const { hub, searchText } = request.query;
    const inactive = await activeElements.inactiveOf(accountId);
    const elements = registry.connectors
      .filter((connector) => hub === undefined || hubsOf(connector).includes(hub))
      .filter((connector) => searchText === undefined || mentions(connector, searchText))
      .map((connector) => toElement(connector, inactive));
    return listRows<Element>(seal, elements, request, {
      queryable: ELEMENTS,
      positionOf: ({ key }) => key,
      context: ['elements', accountId, hub, searchText],
    });
  }

  async function setActive(
    { principal, path }: OperationRequest<'activateElement' | 'deactivateElement'>,
    active: boolean,
  ) {
    const connector = registry.getConnector(path.keyOrId);
    await activeElements.setActive(principal, connector.key, active);
    return { body: toElement(connector, await activeElements.inactiveOf(principal.accountId)) };
  }

  async function beginOAuth(caller: AuthorizationCaller, keyOrId: string, request: UrlRequest) {
    const connector = registry.getConnector(keyOrId);
    return { body: { oauthUrl: await authorizations.begin(caller, connector, request), element: connector.key } };
  }

  function hubs(): readonly Hub[] {
    const members = registry.connectors.flatMap((connector) => hubsOf(connector).map((hub) => ({ hub, connector })));
    return [...Map.groupBy(members, ({ hub }) => hub)].map(([key, found]) => ({
      key,
      elements: found.map(({ connector }) => connector.key),
    }));
  }

  /**
   * Returns a hub.
   * @throws AppError NOT_FOUND
   */
  function getHub(named: string): Hub {
    const all = hubs();
    const found = all.find(({ key }) => key === named);
    if (found !== undefined) return found;
    throw missing(
      'hub',
      named,
      all.map(({ key }) => key),
    );
  }

  return {
    listElements: list,
    listElementKeys: async (request) => {
      const { body, headers } = await list(request);
      return { body: body.map(({ key }) => key), headers };
    },

    getElement: async ({ principal, path }) => {
      const connector = registry.getConnector(path.keyOrId);
      const inactive = await activeElements.inactiveOf(principal.accountId);
      return { body: toElementDetail(connector, inactive, await findDemoAccount(connector.key)) };
    },
    getElementMetadata: ({ path }) => ({ body: toElementMetadata(registry.getConnector(path.keyOrId)) }),
    getElementConfiguration: ({ path }) => ({ body: toConfigurationForm(registry.getConnector(path.keyOrId)) }),

    activateElement: (request) => setActive(request, true),
    deactivateElement: (request) => setActive(request, false),

    getOAuthUrl: ({ principal, path, query }) => beginOAuth(principal, path.keyOrId, query),
    beginOAuth: ({ principal, path, body }) => withPointers(inBody, beginOAuth(principal, path.keyOrId, body)),

    listHubKeys: () => {
      const body = hubs()
        .map(({ key }) => key)
        .toSorted();
      return { body, headers: { 'Elements-Returned-Count': body.length } };
    },
    getHub: ({ path }) => ({ body: getHub(path.key) }),
    listElementsOfHub: ({ path, query, ...request }) =>
      list({ ...request, query: { ...query, hub: getHub(path.key).key } }),

    listHubs: ({ principal, ...request }) =>
      listRows(seal, hubs(), request, {
        queryable: HUBS,
        positionOf: ({ key }) => key,
        context: ['hubs', principal.accountId],
      }),
  } satisfies Partial<Handlers>;
}

function mentions({ key, name, description }: Connector, text: string): boolean {
  const wanted = text.toLowerCase();
  return [key, name, description].some((text) => text.toLowerCase().includes(wanted));
}
