import { type ApiDocument, METHODS, type Operation, type PathItem } from './api-document.ts';

const OF_INSTANCE = /^\/instances\/\{id\}(?=\/)/;
const INSTANCE_PARAMETER = '#/components/parameters/InstanceId';

/**
 * Adds `/instances/…` beside `/instances/{id}/…` for callers who identify the instance by its token, for every operation with
 * `x-causeway-by-token`. Only the form gets the members of `x-causeway-by-token`.
 */
export function addTokenForms<Document extends ApiDocument>(document: Document): Document {
  const items = Object.entries(document.paths);
  const forms = items
    .filter(([, item]) => hasForm(item))
    .map(([path, item]) => [path.replace(OF_INSTANCE, '/instances'), formOf(item)]);
  const own = items.map(([path, item]) => [path, { ...item, ...mapOperations(item, withoutForm) }]);
  return { ...document, paths: Object.fromEntries([...own, ...forms]) };
}

function hasForm(item: PathItem): boolean {
  return METHODS.some((method) => item[method]?.['x-causeway-by-token'] !== undefined);
}

function formOf({ parameters: given = [], ...item }: PathItem): PathItem {
  const parameters = given.filter(({ $ref }) => $ref !== INSTANCE_PARAMETER);
  return { ...(parameters.length > 0 && { parameters }), ...mapOperations(item, byToken) };
}

function mapOperations(item: PathItem, map: (operation: Operation) => Operation | undefined): PathItem {
  const operations = METHODS.flatMap((method) => {
    const mapped = item[method] && map(item[method]);
    return mapped === undefined ? [] : [[method, mapped]];
  });
  return Object.fromEntries(operations);
}

function byToken(operation: Operation): Operation | undefined {
  const { operationId, summary, description, 'x-causeway-by-token': own } = operation;
  if (own === undefined) return undefined;
  return {
    ...withoutForm(operation),
    operationId: operationId.replace(/^[a-z]+/, '$&This'),
    summary: `${summary}, by token`,
    // Inserted at the end of the first paragraph.
    description: description.replace(/(?=\n\n|\n?$)/, ' The instance is that of the `Element` token.'),
    'x-causeway-scopes': ['instance'],
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
