import { type ApiDocument, mapOperations, operationsOf, type PlacedOperation } from './api-document.ts';

/**
 * The scopes that an access key needs for an operation; undefined for one that no key can use. It follows from where the operation is and
 * from its tag, so that a new operation is out of reach until something here says otherwise.
 */
function keyScopesOf({ path, method, operation }: PlacedOperation): readonly string[] | undefined {
  const { tags, 'x-causeway-scopes': places, 'x-causeway-key-scopes': own } = operation;
  if (own !== undefined) return own;
  const [tag = ''] = tags;
  if (tag === 'federated') return ['read', 'federated'];
  if (!places.every((place) => place === 'instance' || place === 'record')) return undefined;
  const access = method === 'get' || READING_POSTS.test(path) ? 'read' : 'write';
  if (tag === 'passthrough' || tag === 'bulk') return [access, tag];
  return OF_RECORDS.has(tag) || (tag === 'events' && method === 'get') ? [access] : undefined;
}

/** The tags of operations on the records of an instance. Others on an instance change what it is. */
const OF_RECORDS: ReadonlySet<string> = new Set(['objects', 'query', 'records']);
/** A download and an explanation are requested by a POST, and change nothing. */
const READING_POSTS = /\/bulk\/query$|^\/query\/explain$/;

/** Adds to every operation which scopes an access key needs for it. */
export function addKeyScopes<Document extends ApiDocument>(document: Document): Document {
  return mapOperations(document, (each) => {
    const scopes = keyScopesOf(each);
    if (scopes === undefined) return each.operation;
    const { security } = each.operation;
    const schemes: readonly object[] = Array.isArray(security) ? security : [];
    const isNamed = schemes.some((scheme) => 'AccessKey' in scheme);
    return {
      ...each.operation,
      'x-causeway-key-scopes': scopes,
      security: isNamed ? schemes : [...schemes, { AccessKey: [] }],
    };
  });
}

/** The text of `generated/key-scopes.ts`. */
export function printKeyScopes(document: ApiDocument): string {
  const lines = operationsOf(document).flatMap(({ operation }) => {
    const scopes = operation['x-causeway-key-scopes'];
    if (scopes === undefined || operation['x-causeway-form-of'] !== undefined) return [];
    return [`  ${operation.operationId}: [${scopes.map((scope) => `'${scope}'`).join(', ')}],`];
  });
  return [
    '/** The scopes that an access key needs for each operation. No key can use an operation that is not here. */',
    'export const KEY_SCOPES = {',
    ...lines.toSorted(),
    '} as const;',
    '',
  ].join('\n');
}
