import { type ApiDocument, METHODS, type Operation, type PathItem } from './api-document.ts';

/** The tags of operations on an instance, which also exist below its hub (decisions D1). Operations on all instances do not. */
const TAGS: ReadonlySet<string> = new Set(['bulk', 'objects', 'records']);

const HUB_PARAMETER = { $ref: '#/components/parameters/Hub' };

/** Adds `/hubs/{hub}/…` for every path that has such a form. Only the form gets the members of `x-causeway-by-hub`. */
export function addHubForms<Document extends ApiDocument>(document: Document): Document {
  const items = Object.entries(document.paths);
  const forms = items.filter(([, item]) => hasForm(item)).map(([path, item]) => [`/hubs/{hub}${path}`, formOf(item)]);
  const own = items.map(([path, item]) => [path, mapMembers(item, withoutForm)]);
  return { ...document, paths: Object.fromEntries([...own, ...forms]) };
}

function hasForm(item: PathItem): boolean {
  return METHODS.some((method) => {
    const operation = item[method];
    return operation?.tags.some((tag) => TAGS.has(tag)) && !operation['x-causeway-scopes']?.includes('platform');
  });
}

function formOf(item: PathItem): PathItem {
  const parameters = [HUB_PARAMETER, ...(item.parameters ?? [])];
  return { ...mapMembers(item, byHub), parameters };
}

function mapMembers(item: PathItem, map: (operation: Operation) => Operation): PathItem {
  const operations = METHODS.flatMap((method) => {
    const operation = item[method];
    return operation === undefined ? [] : [[method, map(operation)]];
  });
  return { ...item, ...Object.fromEntries(operations) };
}

function byHub(operation: Operation): Operation {
  const { operationId, summary, description, 'x-causeway-by-hub': own } = operation;
  return {
    ...withoutForm(operation),
    operationId: operationId.replace(/^[a-z]+/, '$&Hub'),
    summary: `${summary}, by hub`,
    // Inserted at the end of the first paragraph.
    description: description.replace(/(?=\n\n|\n?$)/, ' Answers only when the element is in this hub.'),
    'x-causeway-scopes': ['instance'],
    ...own,
  };
}

function withoutForm({ 'x-causeway-by-hub': _, ...operation }: Operation): Operation {
  return operation;
}
