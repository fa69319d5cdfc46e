import { type ApiDocument, METHODS, type Operation, type PathItem } from '../generate/api-document.ts';

/** Operations of these have no place in a client: a log-in of browsers, and paths that the thin part sends as they are. */
const LEFT_OUT: ReadonlySet<string> = new Set(['console', 'passthrough']);

/** A client sends this header with each call when it was made for an account, so no operation takes it. */
const ACCOUNT_HEADER = '#/components/parameters/ActingAccount';

/**
 * The part of the API that programs call with their secrets. The forms by hub are left out, since each does what the operation
 * without the hub does; so are pages, documents and receivers, which need no secrets.
 */
export function clientDocument(document: ApiDocument): ApiDocument {
  const items = Object.entries(document.paths)
    .filter(([path]) => !path.startsWith('/hubs/{hub}/'))
    .map(([path, item]) => [path, clientItem(item)] as const);
  const paths = Object.fromEntries(items.filter(([, item]) => hasOperation(item)));
  return { ...document, paths, components: usedComponents(document, paths) };
}

function clientItem(item: PathItem): PathItem {
  const operations = METHODS.flatMap((method) => {
    const operation = item[method];
    return operation === undefined || !isCalledByClients(operation) ? [] : [[method, withoutAccount(operation)]];
  });
  return { ...(item.parameters && { parameters: item.parameters }), ...Object.fromEntries(operations) };
}

function isCalledByClients({ tags, ...operation }: Operation): boolean {
  if (operation['x-causeway-scopes'].includes('root')) return false;
  return operation['x-causeway-form-of'] === undefined && !tags.some((tag) => LEFT_OUT.has(tag));
}

function withoutAccount({ parameters = [], ...operation }: Operation): Operation {
  return { ...operation, parameters: parameters.filter(({ $ref }) => $ref !== ACCOUNT_HEADER) };
}

function hasOperation(item: PathItem): boolean {
  return METHODS.some((method) => item[method] !== undefined);
}

/** Nothing is made of what no operation refers to, by whatever way. */
function usedComponents(document: ApiDocument, paths: ApiDocument['paths']): ApiDocument['components'] {
  const sections = Object.entries(document.components);
  const used = new Set<string>();
  const follow = (node: unknown): void => {
    for (const [, reference = ''] of JSON.stringify(node).matchAll(/"#\/components\/([^"]+)"/g)) {
      if (used.has(reference)) continue;
      used.add(reference);
      const [section = '', name = ''] = reference.split('/');
      follow(Object(document.components)[section][name]);
    }
  };
  follow(paths);
  const kept = sections.map(([section, members]) => [
    section,
    section === 'securitySchemes'
      ? members
      : Object.fromEntries(Object.entries(members).filter(([name]) => used.has(`${section}/${name}`))),
  ]);
  return Object.fromEntries(kept);
}
