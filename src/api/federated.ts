import { type AccessKey, selectionOf } from '../accounts/access-keys/scope.ts';
import { hubsOf } from '../connector/define.ts';
import { AppError, invalidRequest } from '../errors.ts';
import { listHeaders } from '../http/response.ts';
import type { Instance } from '../instances/instance.ts';
import { createFederatedLists, type FederatedPosition } from '../resources/federated.ts';
import type { ApiServices } from './api-services.ts';
import type { Handlers, OperationQuery } from './operation.ts';
import { createPositionTokens, PAGE_SIZE, type PageSeal } from './page-tokens.ts';

/** Maximum number of instances of one list. */
const MOST_INSTANCES = 500;
const MAX_PROVIDER_CALLS = 25;

export function createFederatedHandlers({ instances, resources }: ApiServices, seal: PageSeal) {
  const listFederated = createFederatedLists(resources);

  /**
   * Returns the selected instances of an account, or those of them that the key of the request reaches.
   * @throws AppError REQUEST_INVALID for more instances than one list can have
   */
  async function findInstances(
    accountId: number,
    { instances: ids, tags, hub }: OperationQuery<'listFederatedRecords'>,
    key: AccessKey | undefined,
  ): Promise<readonly Instance[]> {
    const reach = key === undefined ? {} : selectionOf(key);
    const where = [ids === undefined ? [] : `id IN (${ids})`, reach.where ?? []].flat().join(' AND ') || undefined;
    const allTags = reach.tags === undefined ? tags : [...(tags ?? []), ...reach.tags];
    const page = await instances.list(accountId, { where, tags: allTags, limit: MOST_INSTANCES + 1, after: { id: 0 } });
    const found = page.instances.filter(({ connector }) => hub === undefined || hubsOf(connector).includes(hub));
    if (page.instances.length <= MOST_INSTANCES) return found;
    const message = `A federated list can have at most ${MOST_INSTANCES} instances. Name some of them with instances or tags[].`;
    throw invalidRequest([{ path: '/query/instances', message }]);
  }

  return {
    listFederatedRecords: async ({
      principal: { accountId },
      path: { objectName },
      query,
      headers,
      key,
      signal,
      url,
    }) => {
      const found = await findInstances(accountId, query, key);
      const { where, orderBy, fields, pageSize = PAGE_SIZE, nextPage } = query;
      const context = JSON.stringify([
        'federated',
        accountId,
        objectName,
        where,
        orderBy,
        fields,
        query.instances,
        query.tags,
        query.hub,
        ...(key === undefined ? [] : [key.id]),
      ]);
      const tokens = createPositionTokens(seal, context);
      const position = tokens.read(nextPage);
      const list = await listFederated(found, {
        objectName,
        where,
        orderBy,
        fields,
        pageSize,
        maxProviderCalls: headers['elements-max-provider-calls'] ?? MAX_PROVIDER_CALLS,
        // A token that can be decrypted was made here, so its form is known.
        position: position === undefined ? undefined : (JSON.parse(position) as FederatedPosition),
        signal,
      });
      if (list.records.length === 0 && found.length > 0 && !list.hasObject && list.errors.length === 0)
        throw nowhere(objectName);
      const body =
        query.errors === true
          ? list.errors.map((error) => ({ ...error }))
          : list.records.map((record) => ({ ...record }));
      const token = tokens.write(list.next === undefined ? undefined : JSON.stringify(list.next));
      return {
        body,
        bytes: list.bytes,
        headers: {
          ...listHeaders(body.length, { url, token }),
          'Elements-Provider-Calls': list.providerCalls,
          ...(list.errors.length > 0 && { 'Elements-Federated-Errors': list.errors.length }),
        },
      };
    },
  } satisfies Partial<Handlers>;
}

function nowhere(objectName: string): AppError {
  const message = `No instance of the account has an object '${objectName.slice(0, 100)}'. GET /objects lists those of one instance.`;
  return new AppError('NOT_FOUND', message, { details: [{ path: '/path/objectName', message }] });
}
