import {
  type ApiDocument,
  type BundledDocument,
  METHODS,
  type Operation,
  type PathItem,
} from '../generate/api-document.ts';

/** How clients authorize: operations name these, and refer to none. */
const SCHEMES: ReadonlySet<string> = new Set(['UserOrganization', 'UserElement']);
/** Scopes of what pages and browsers ask for. */
const FOR_BROWSERS: ReadonlySet<string> = new Set(['root', 'connect']);
/** Operations of these have no place in a client: a log-in of browsers, and paths that the thin part sends as they are. */
const LEFT_OUT: ReadonlySet<string> = new Set(['console', 'passthrough']);

/**
 * The parameters that no operation of a client has: the account, which a client is created for and names in each request, and the form of
 * lists of objects, because each request of a client has `Elements-Version: Helium`.
 */
const SENT_BY_THE_CLIENT: ReadonlySet<string> = new Set(
  ['ActingAccount', 'ElementsVersion', 'ObjectDetails'].map((name) => `#/components/parameters/${name}`),
);

/**
 * The schemas of responses that depend on the form of a request, as they are for a client: without a token of an instance, and with that
 * header.
 */
const SCHEMAS = {
  InstanceListOrInstance: { type: 'array', items: { $ref: '#/components/schemas/Instance' } },
  ObjectSummaryOrName: { allOf: [{ $ref: '#/components/schemas/ObjectSummary' }] },
};

/**
 * The part of the API that programs call with their secrets. The forms by hub are left out, since each does what the operation
 * without the hub does, and second paths of an operation; so are pages, documents and receivers, which need no secrets. Of the description its first line stays, as
 * each file of a client repeats it.
 */
export function clientDocument(published: BundledDocument): object {
  // What the service sends is no operation of a client.
  const { 'x-webhooks': _, ...document } = withSchemas(published);
  const [description] = published.info.description?.split('\n', 1) ?? [];
  const items = Object.entries(document.paths)
    .filter(([path]) => !path.startsWith('/hubs/{hub}/'))
    .map(([path, item]) => [path, clientItem(item)] as const);
  const paths = Object.fromEntries(items.filter(([, item]) => hasOperation(item)));
  return { ...document, info: { ...published.info, description }, paths, components: usedComponents(document, paths) };
}

function clientItem(item: PathItem): PathItem {
  const operations = METHODS.flatMap((method) => {
    const operation = item[method];
    return operation === undefined || !isCalledByClients(operation) ? [] : [[method, clientOperation(operation)]];
  });
  return { ...(item.parameters && { parameters: item.parameters }), ...Object.fromEntries(operations) };
}

function isCalledByClients({ tags, ...operation }: Operation): boolean {
  if (operation['x-causeway-scopes'].some((scope) => FOR_BROWSERS.has(scope))) return false;
  if (operation['x-causeway-same-as'] !== undefined) return false;
  return operation['x-causeway-form-of'] === undefined && !tags.some((tag) => LEFT_OUT.has(tag));
}

/**
 * With the token of an instance a path of the platform may name an object of the provider (decisions D2), so it is not sent there.
 * What is under one tag is authorized in one way.
 */
function clientOperation({ parameters = [], tags, security, ...operation }: Operation): Operation {
  const isOfPlatform = operation['x-causeway-scopes'].includes('platform');
  return {
    ...operation,
    security: isOfPlatform ? [{ UserOrganization: [] }] : ofClients(security),
    tags: isOfPlatform ? tags : tags.map((tag) => (tag === 'instances' ? 'this-instance' : tag)),
    parameters: parameters.filter(({ $ref = '' }) => !SENT_BY_THE_CLIENT.has($ref)),
  };
}

/** A client with an access key sends it with every request, whatever the operation says. */
function ofClients(security: unknown): readonly unknown[] {
  const schemes: readonly unknown[] = Array.isArray(security) ? security : [];
  return schemes.filter((scheme) => Object.keys(Object(scheme)).every((name) => SCHEMES.has(name)));
}

function withSchemas({ components, ...document }: ApiDocument): ApiDocument {
  const schemas = Object.entries({ ...components.schemas, ...SCHEMAS }).map(([name, schema]) => [name, closed(schema)]);
  return { ...document, components: { ...components, schemas: Object.fromEntries(schemas) } };
}

/** A client names the members that mean something. What the service tolerates beside them would hide every misspelt one. */
function closed(schema: object): object {
  if (!('properties' in schema && 'additionalProperties' in schema) || schema.additionalProperties !== true)
    return schema;
  const { additionalProperties: _, ...named } = schema;
  return named;
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
      ? Object.fromEntries(Object.entries(members).filter(([name]) => SCHEMES.has(name)))
      : Object.fromEntries(Object.entries(members).filter(([name]) => used.has(`${section}/${name}`))),
  ]);
  return Object.fromEntries(kept);
}
