import { type ApiDocument, formOf, METHODS, mapItem, type Operation, type PathItem } from './api-document.ts';

/** The tags of operations on an instance, which also exist below its hub (decisions D1). Operations on all instances do not. */
const TAGS: ReadonlySet<string> = new Set(['bulk', 'objects', 'records']);

const HUB_PARAMETER = { $ref: '#/components/parameters/Hub' };

/** Adds `/hubs/{hub}/…` for every path that has such a form. Only the form gets the members of `x-causeway-by-hub`. */
export function addHubForms<Document extends ApiDocument>(document: Document): Document {
  const items = Object.entries(document.paths);
  const forms = items.filter(([, item]) => hasForm(item)).map(([path, item]) => [`/hubs/{hub}${path}`, byHub(item)]);
  const own = items.map(([path, item]) => [path, { ...item, ...mapItem(item, withoutForm) }]);
  return { ...document, paths: Object.fromEntries([...own, ...forms]) };
}

function hasForm(item: PathItem): boolean {
  return METHODS.some((method) => {
    const operation = item[method];
    return operation?.tags.some((tag) => TAGS.has(tag)) && !operation['x-causeway-scopes']?.includes('platform');
  });
}

const WORDS = { infix: 'Hub', by: 'hub', sentence: 'Answers only when the element is in this hub.' };

function byHub(item: PathItem): PathItem {
  const form = mapItem(item, (operation) => ({
    ...formOf(withoutForm(operation), WORDS),
    ...operation['x-causeway-by-hub'],
  }));
  return { ...item, ...form, parameters: [HUB_PARAMETER, ...(item.parameters ?? [])] };
}

function withoutForm({ 'x-causeway-by-hub': _, ...operation }: Operation): Operation {
  return operation;
}
