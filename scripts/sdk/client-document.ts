import {
  type ApiDocument,
  type BundledDocument,
  METHODS,
  mapItem,
  type Operation,
  type PathItem,
} from '../generate/api-document.ts';

/** The ways in which clients authorize. Operations name these security schemes, although nothing refers to them. */
const SCHEMES: ReadonlySet<string> = new Set(['UserOrganization', 'UserElement']);
/** Scopes of operations that only pages and browsers use. */
const FOR_BROWSERS: ReadonlySet<string> = new Set(['root', 'connect']);
/** Tags of operations that clients leave out: the log-in of browsers, and paths that the hand-written part sends unchanged. */
const LEFT_OUT: ReadonlySet<string> = new Set(['console', 'passthrough']);

/**
 * The parameters that clients leave out of all operations: the account, which a client is created for and sends in each request, and the
 * form of lists of objects, because each request of a client has `Elements-Version: Helium`.
 */
const SENT_BY_THE_CLIENT: ReadonlySet<string> = new Set(
  ['ActingAccount', 'ElementsVersion', 'ObjectDetails'].map((name) => `#/components/parameters/${name}`),
);

/**
 * The schemas of responses that depend on the request, in the form that a client receives: without a token of an instance, and with that
 * header.
 */
const SCHEMAS = {
  InstanceListOrInstance: { type: 'array', items: { $ref: '#/components/schemas/Instance' } },
  ObjectSummaryOrName: { allOf: [{ $ref: '#/components/schemas/ObjectSummary' }] },
};

/**
 * Returns the part of the API that programs call with their secrets. It leaves out the forms by hub and further paths of the same
 * operation, because each repeats another operation, and pages, documents and receivers of webhooks, which need no secrets. Only the first
 * line of the description stays, because each file of a client repeats it.
 */
export function clientDocument(published: BundledDocument): object {
  // The requests that the service sends are no operations of a client.
  const { 'x-webhooks': _, ...document } = withSchemas(published);
  const [description] = published.info.description?.split('\n', 1) ?? [];
  const items = Object.entries(document.paths)
    .filter(([path]) => !path.startsWith('/hubs/{hub}/'))
    .map(([path, item]) => [path, mapItem(item, clientOperation)] as const);
  const paths = Object.fromEntries(items.filter(([, item]) => hasOperation(item)));
  return { ...document, info: { ...published.info, description }, paths, components: usedComponents(document, paths) };
}

function isCalledByClients({ tags, ...operation }: Operation): boolean {
  if (operation['x-causeway-scopes'].some((scope) => FOR_BROWSERS.has(scope))) return false;
  if (operation['x-causeway-same-as'] !== undefined) return false;
  return operation['x-causeway-form-of'] === undefined && !tags.some((tag) => LEFT_OUT.has(tag));
}

/**
 * Returns an operation for a client. Undefined for one that no client calls. With the token of an instance, a path of the platform may name an object of the provider (decisions
 * D2), so operations of the platform do not send it. All operations under one tag authorize in the same way.
 */
function clientOperation(whole: Operation): Operation | undefined {
  if (!isCalledByClients(whole)) return undefined;
  const { parameters = [], tags, security, ...operation } = whole;
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

/**
 * Returns a schema that allows only the named members. A client that accepted the others, which the service ignores, would hide every
 * misspelt one.
 */
function closed(schema: object): object {
  if (!('properties' in schema && 'additionalProperties' in schema) || schema.additionalProperties !== true)
    return schema;
  const { additionalProperties: _, ...named } = schema;
  return named;
}

function hasOperation(item: PathItem): boolean {
  return METHODS.some((method) => item[method] !== undefined);
}

/** Returns the components that an operation refers to, directly or through others. Nothing is generated from the other ones. */
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
