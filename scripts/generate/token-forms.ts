import { type ApiDocument, formOf, METHODS, mapItem, type Operation, type PathItem } from './api-document.ts';

const OF_INSTANCE = /^\/instances\/\{id\}(?=\/)/;
const INSTANCE_PARAMETER = '#/components/parameters/InstanceId';

/**
 * Adds `/instances/…` beside `/instances/{id}/…` for callers who identify the instance by its token, for every operation with
 * `x-causeway-by-token`. Only the form gets the members of `x-causeway-by-token`.
 */
export function addTokenForms<Document extends ApiDocument>(document: Document): Document {
  const items = Object.entries(document.paths);
  const forms = items
    .filter(([, item]) => METHODS.some((method) => item[method]?.['x-causeway-by-token'] !== undefined))
    .map(([path, item]) => [path.replace(OF_INSTANCE, '/instances'), byToken(item)]);
  const own = items.map(([path, item]) => [path, { ...item, ...mapItem(item, withoutForm) }]);
  return { ...document, paths: Object.fromEntries([...own, ...forms]) };
}

function byToken({ parameters: given = [], ...item }: PathItem): PathItem {
  const parameters = given.filter(({ $ref }) => $ref !== INSTANCE_PARAMETER);
  return { ...(parameters.length > 0 && { parameters }), ...mapItem(item, operationByToken) };
}

const WORDS = { infix: 'This', by: 'token', sentence: 'The instance is that of the `Element` token.' };

function operationByToken(operation: Operation): Operation | undefined {
  const { operationId, 'x-causeway-by-token': own } = operation;
  if (own === undefined) return undefined;
  return {
    ...formOf(withoutForm(operation), WORDS),
    'x-causeway-same-as': operationId,
    security: [{ UserElement: [] }],
    ...own,
    // Without a token, the path is that of an instance in an account that may not exist.
    responses: { ...operation.responses, ...own.responses, 404: { $ref: '#/components/responses/NotFound' } },
  };
}

function withoutForm({ 'x-causeway-by-token': _, ...operation }: Operation): Operation {
  return operation;
}
