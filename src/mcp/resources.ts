import { AppError } from '../errors.ts';
import type { OwnApi } from './own-api.ts';
import { toVisibleJson, visibleLine } from './shown-values.ts';
import { entriesOf, memberOf, pathOf } from './tools/tool.ts';

/** Template of the URI of an object's metadata. */
export const OBJECT_TEMPLATE = 'causeway://instances/{instance}/objects/{object}';

interface ListedResources {
  readonly resources: { readonly uri: string; readonly name: string; readonly mimeType: string }[];
  readonly nextCursor?: string | undefined;
}

const JSON_TYPE = 'application/json';

/**
 * Lists the metadata of the objects of one instance of the key; the cursor continues with the next instance. An instance whose objects cannot be
 * found now has none.
 */
export async function listResources(api: OwnApi, cursor: string | undefined): Promise<ListedResources> {
  const { body } = await api.json({ path: '/keys/me' });
  const ids = entriesOf(memberOf(body, 'instances')).map((instance) => Number(memberOf(instance, 'id')));
  const at = cursor === undefined ? 0 : ids.indexOf(Number(cursor));
  if (cursor !== undefined && at < 0)
    throw new AppError('REQUEST_INVALID', 'The cursor is that of no instance of the key.');
  const id = ids[at];
  if (id === undefined) return { resources: [] };
  const next = ids[at + 1];
  return {
    resources: (await objectsOf(api, id)).map((object) => ({
      uri: uriOf(id, object),
      name: visibleLine(object),
      mimeType: JSON_TYPE,
    })),
    ...(next !== undefined && { nextCursor: String(next) }),
  };
}

async function objectsOf(api: OwnApi, instance: number): Promise<readonly string[]> {
  const { status, text } = await api.send({ path: '/objects', instance });
  return status === 200
    ? entriesOf(JSON.parse(text))
        .map(String)
        .filter((name) => name.isWellFormed())
    : [];
}

/**
 * Returns the metadata of an object as text.
 * @throws AppError NOT_FOUND for a URI of no object; ApiRefusal
 */
export async function readResource(api: OwnApi, uri: string) {
  const [, id, object] = /^causeway:\/\/instances\/([1-9]\d{0,14})\/objects\/([^/?#]+)$/.exec(uri) ?? [];
  if (id === undefined || object === undefined)
    throw new AppError('NOT_FOUND', `There is no resource of this URI. Use ${OBJECT_TEMPLATE}.`);
  const path = `/objects${pathOf(decode(object))}/metadata`;
  const { body } = await api.json({ path, instance: Number(id) });
  return { uri, mimeType: JSON_TYPE, text: toVisibleJson(body) };
}

function uriOf(instance: number, object: string): string {
  return `causeway://instances/${instance}/objects/${encodeURIComponent(object)}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
