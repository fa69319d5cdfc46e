import { type Call, createTimeZone, schemaMembers } from '#connector/simulator';
import official from '../official.json' with { type: 'json' };
import { type Drive, type Kind, kindOf, ME, type Row } from './drive.ts';

/** Prints a time in the account's zone, as Box does. The offset changes with daylight saving time. */
export const { print: printTime } = createTimeZone('America/Los_Angeles');

type Reader = (row: Row, drive: Drive) => unknown;

const time =
  (name: string): Reader =>
  (row) =>
    typeof row[name] === 'number' ? printTime(row[name]) : null;
const trashed =
  (afterMs: number): Reader =>
  ({ is_trashed, modified_at }) =>
    is_trashed === true ? printTime(Number(modified_at) + afterMs) : null;
/** Prints a counter. Etags are counters, too. */
const count: Reader = ({ sequence }) => (sequence === null ? null : String(sequence));

const TRASH = { type: 'folder', id: '1', sequence_id: null, etag: null, name: 'Trash' };
const ORDER = [
  { by: 'type', direction: 'ASC' },
  { by: 'name', direction: 'ASC' },
];

const READERS: Readonly<Record<string, Reader>> = {
  sequence_id: count,
  etag: count,
  file_version: ({ id, version, sha1 }) => ({ type: 'file_version', id: `${id}${version}`, sha1 }),
  size: (row, drive) => drive.sizeOf(row),
  path_collection: (row, drive) => {
    const entries = row.is_trashed === true ? [TRASH] : drive.pathOf(row).map((folder) => mini(drive, folder));
    return { total_count: entries.length, entries };
  },
  created_at: time('created_at'),
  modified_at: time('modified_at'),
  content_created_at: time('content_created_at'),
  content_modified_at: time('content_modified_at'),
  trashed_at: trashed(0),
  purged_at: trashed(30 * 86_400_000),
  parent: ({ parent }, drive) => {
    const folder = drive.find('folder', parent);
    return folder === undefined ? null : mini(drive, folder);
  },
  item_status: ({ is_trashed }) => (is_trashed === true ? 'trashed' : 'active'),
  item_collection: ({ id }, drive) => {
    const entries = sortItems(drive.childrenOf(id)).map((child) => mini(drive, child));
    return { total_count: entries.length, entries: entries.slice(0, 100), offset: 0, limit: 100, order: ORDER };
  },
  version_number: ({ version }) => String(version),
  extension: ({ name }) => extensionOf(String(name)),
  uploader_display_name: ({ created_by }) => Object(created_by).name,
};

/** Members that have the same values in all items. */
const SAME: Row = {
  owned_by: ME,
  ...{ shared_link: null, folder_upload_email: null, lock: null, expires_at: null, comment_count: 0 },
  ...{ is_package: false, is_accessible_via_shared_link: false, is_externally_owned: false, has_collaborations: false },
  ...{ can_non_owners_invite: true, sync_state: 'not_synced' },
  allowed_invitee_roles: ['editor', 'viewer', 'previewer', 'uploader'],
};

export function extensionOf(name: string): string {
  return /[^.]\.([^.]+)$/.exec(name)?.[1] ?? '';
}

/** Returns the names of the members of a schema. */
function namesOf(schema: string): readonly string[] {
  return [...new Set(Object.keys(schemaMembers(official, schema)).map((path) => path.split('.', 1).join('')))];
}

/** The forms of an item. Bookmarks have no full form. */
const MINI = { file: namesOf('File--Mini'), folder: namesOf('Folder--Mini'), web_link: namesOf('WebLink--Mini') };
const STANDARD = {
  file: namesOf('File'),
  folder: namesOf('Folder').filter((name) => name !== 'item_collection'),
  web_link: namesOf('WebLink'),
};
const FULL: Readonly<Record<Kind, readonly string[]>> = {
  file: namesOf('File--Full'),
  folder: namesOf('Folder--Full'),
  web_link: STANDARD.web_link,
};

/** Prints a row as Box does inside another one. */
export function mini(drive: Drive, row: Row) {
  return print(drive, row, MINI[kindOf(row)]);
}

/** Prints a row as Box does in webhooks and events. */
export function standard(drive: Drive, row: Row) {
  return print(drive, row, STANDARD[kindOf(row)]);
}

/**
 * Prints the members that `fields` names, in addition to id, type and etag. Unknown names are ignored. Without `fields` it prints the usual
 * form.
 */
export function show(drive: Drive, row: Row, { query }: Pick<Call, 'query'>, usual: 'mini' | 'standard' | 'single') {
  const kind = kindOf(row);
  const fields = query.get('fields');
  if (fields === null) {
    if (usual !== 'single') return usual === 'mini' ? mini(drive, row) : standard(drive, row);
    return print(drive, row, kind === 'folder' ? [...STANDARD.folder, 'item_collection'] : STANDARD[kind]);
  }
  const wanted = ['type', 'id', 'etag', ...fields.split(',').map((name) => name.trim())];
  return print(
    drive,
    row,
    wanted.filter((name) => FULL[kind].includes(name)),
  );
}

function print(drive: Drive, row: Row, names: readonly string[]): Row {
  const whole = { ...SAME, ...row };
  return Object.fromEntries(
    names.map((name) => [name, READERS[name] === undefined ? whole[name] : READERS[name](row, drive)]),
  );
}

const KIND_ORDER: readonly unknown[] = ['folder', 'file', 'web_link'];

const { compare } = new Intl.Collator('en', { sensitivity: 'base' });

/** Sorts folders first, then files, then bookmarks; each by name and id. */
export function sortItems(rows: readonly Row[]): readonly Row[] {
  return rows.toSorted(
    (a, b) =>
      KIND_ORDER.indexOf(a.type) - KIND_ORDER.indexOf(b.type) ||
      compare(String(a.name), String(b.name)) ||
      Number(a.id) - Number(b.id),
  );
}
