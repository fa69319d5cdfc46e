import { type Answer, type Call, empty, json } from '#connector/simulator';
import { type Drive, isThere } from './drive.ts';
import { BoxFault, invalid, missing, nameInUse, notAllowed, notFound } from './faults.ts';
import { isName, type Kind, LONGEST_NAME, ROOT_ID, type Row } from './rows.ts';
import { mini, show } from './show.ts';

/** By the id in the address. @throws Fault 404 also for what is in the trash, 405 for what is no id */
export function findItem(drive: Drive, kind: Kind, { params: { id = '' } }: Pick<Call, 'params'>): Row {
  if (!/^\d+$/.test(id)) throw notAllowed();
  const row = drive.find(kind, id);
  if (row === undefined) throw kind === 'folder' ? notFound('folder', `d_${id}`) : notFound('item', `f_${id}`);
  if (!isThere(row)) throw new BoxFault(404, 'trashed', 'Item is trashed');
  return row;
}

/** `GET` of one. 304 where it is still as the caller knows it. */
export function getItem(drive: Drive, kind: Kind, call: Call): Answer {
  const row = findItem(drive, kind, call);
  const isKnown = row.sequence !== null && call.headers['if-none-match'] === String(row.sequence);
  return isKnown ? empty(304) : json(show(drive, row, call, 'single'));
}

/** @throws Fault 412 */
export function assertUnchanged({ sequence }: Row, { headers }: Call): void {
  const wanted = headers['if-match'];
  if (wanted === undefined || wanted === String(sequence)) return;
  throw new BoxFault(
    412,
    'precondition_failed',
    'The resource has been modified. Retrieve the resource again and retry',
  );
}

/** `POST /folders`. */
export function createFolder(drive: Drive, call: Call): Answer {
  const given = call.body.object();
  const parent = readParent(drive, given.parent);
  if (given.name === undefined) throw missing('name');
  const name = readName(given.name);
  const taken = findNamed(drive, parent, name);
  if (taken !== undefined) throw nameInUse({ conflicts: [mini(drive, taken)] });
  return json(show(drive, drive.tables.folder.insert({ name, parent }), call, 'single'), 201);
}

/** `PUT` of a file or a folder: members that are not simulated are passed over. */
export function updateItem(drive: Drive, kind: Kind, call: Call): Answer {
  const row = findItem(drive, kind, call);
  const given = call.body.object();
  if (row.id === ROOT_ID)
    throw new BoxFault(403, 'access_denied_insufficient_permissions', 'Access denied - insufficient permission');
  assertUnchanged(row, call);
  const changes = {
    ...(given.name !== undefined && { name: readName(given.name) }),
    ...(given.description !== undefined && { description: readDescription(given.description) }),
    ...(given.tags !== undefined && { tags: readTags(given.tags) }),
    ...(given.parent !== undefined && { parent: readParent(drive, given.parent) }),
  };
  const { name, parent } = { ...row, ...changes };
  if (findNamed(drive, String(parent), String(name), row) !== undefined) throw nameInUse();
  const above = parent === ROOT_ID ? [] : [String(parent), ...drive.pathOf({ ...row, parent }).map(({ id }) => id)];
  if (kind === 'folder' && above.includes(row.id)) {
    throw new BoxFault(400, 'cyclical_folder_structure', 'Folder move creates cyclical folder structure');
  }
  const changed = Object.keys(changes).length === 0 ? row : drive.tables[kind].update(String(row.id), changes);
  return json(show(drive, changed ?? row, call, 'single'));
}

/** `DELETE` of a file or a folder: into the trash. */
export function removeItem(drive: Drive, kind: Kind, call: Call): Answer {
  const row = findItem(drive, kind, call);
  if (row.id === ROOT_ID)
    throw new BoxFault(403, 'access_denied_insufficient_permissions', 'Access denied - insufficient permission');
  assertUnchanged(row, call);
  const isFull = kind === 'folder' && drive.childrenOf(String(row.id)).length > 0;
  if (isFull && call.query.get('recursive') !== 'true') {
    throw new BoxFault(400, 'folder_not_empty', 'Cannot delete - folder not empty');
  }
  drive.tables[kind].remove(String(row.id));
  return empty();
}

export function readName(name: unknown): string {
  if (typeof name !== 'string') throw invalid('name', "Invalid value for 'name'");
  if (name.length > LONGEST_NAME) throw new BoxFault(400, 'item_name_too_long', 'Item name too long');
  if (!isName(name)) throw new BoxFault(400, 'item_name_invalid', 'Item name invalid');
  return name;
}

const LONGEST_DESCRIPTION = 255;

/** The rest of a longer one is passed over. */
export function readDescription(description: unknown): string {
  if (typeof description !== 'string') throw invalid('description', "Invalid value for 'description'");
  return description.slice(0, LONGEST_DESCRIPTION);
}

const MOST_TAGS = 100;

function readTags(tags: unknown): readonly string[] {
  const isList =
    Array.isArray(tags) && tags.length <= MOST_TAGS && tags.every((tag) => typeof tag === 'string' && tag !== '');
  if (!isList) throw invalid('tags', "Invalid value for 'tags'");
  return tags;
}

/** @returns the id of a folder that is there */
export function readParent(drive: Drive, parent: unknown): string {
  const { id } = Object(parent);
  if (id === undefined) throw missing('parent');
  if (typeof id !== 'string' || !/^\d+$/.test(id)) throw invalid('parent', `Invalid value '${id}'.`);
  const folder = drive.find('folder', id);
  if (folder === undefined || !isThere(folder)) throw notFound('folder', `d_${id}`);
  return id;
}

/** Names of all kinds clash, whatever their cases. @param except the item that may have it */
export function findNamed(drive: Drive, parent: string, name: string, except?: Row): Row | undefined {
  const wanted = name.toLowerCase();
  const isOther = ({ type, id }: Row) => type !== except?.type || id !== except?.id;
  return drive.childrenOf(parent).find((row) => String(row.name).toLowerCase() === wanted && isOther(row));
}
