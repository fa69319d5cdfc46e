import type { Call } from '#connector/simulator';
import { type Drive, isThere } from './drive.ts';
import { type Kind, kindOf, ME, type Row } from './rows.ts';

/** The account's zone: Box tells times in it, and changes the offset with daylight saving. */
const ZONE = new Intl.DateTimeFormat('en-US', { timeZone: 'America/Los_Angeles', timeZoneName: 'longOffset' });

/** `2012-12-12T10:53:43-08:00`. */
export function printTime(ms: number): string {
  const name = ZONE.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const offset = name.slice('GMT'.length);
  const localMs = ms + (Number(offset.slice(0, 3)) * 60 + Number(offset.slice(4))) * 60_000;
  return new Date(localMs).toISOString().slice(0, 19) + offset;
}

type Reader = (row: Row, drive: Drive) => unknown;

const time =
  (name: string): Reader =>
  (row) =>
    typeof row[name] === 'number' ? printTime(row[name]) : null;
const constant =
  (value: unknown): Reader =>
  () =>
    value;
/** Also etags are counted. */
const count: Reader = ({ sequence }) => (sequence === null ? null : String(sequence));

const PURGED_AFTER_MS = 30 * 86_400_000;
const TRASH = { type: 'folder', id: '1', sequence_id: null, etag: null, name: 'Trash' };
const ORDER = [
  { by: 'type', direction: 'ASC' },
  { by: 'name', direction: 'ASC' },
];

const READERS: Readonly<Record<string, Reader>> = {
  sequence_id: count,
  etag: count,
  file_version: ({ version_id, sha1 }) => ({ type: 'file_version', id: version_id, sha1 }),
  size: (row, drive) => drive.sizeOf(row),
  path_collection: (row, drive) => {
    const entries = isThere(row) ? drive.pathOf(row).map((folder) => mini(drive, folder)) : [TRASH];
    return { total_count: entries.length, entries };
  },
  created_at: time('created_at'),
  modified_at: time('modified_at'),
  content_created_at: time('content_created_at'),
  content_modified_at: time('content_modified_at'),
  trashed_at: time('trashed_at'),
  purged_at: ({ trashed_at }) => (typeof trashed_at === 'number' ? printTime(trashed_at + PURGED_AFTER_MS) : null),
  owned_by: constant(ME),
  shared_link: constant(null),
  folder_upload_email: constant(null),
  parent: ({ parent }, drive) => {
    const folder = typeof parent === 'string' ? drive.find('folder', parent) : undefined;
    return folder === undefined ? null : mini(drive, folder);
  },
  item_status: (row) => (isThere(row) ? 'active' : 'trashed'),
  item_collection: ({ id }, drive) => {
    const entries = sortItems(drive.childrenOf(String(id))).map((child) => mini(drive, child));
    return { total_count: entries.length, entries: entries.slice(0, 100), offset: 0, limit: 100, order: ORDER };
  },
  version_number: ({ version }) => String(version),
  comment_count: constant(0),
  lock: constant(null),
  extension: ({ name }) => extensionOf(String(name)),
  is_package: constant(false),
  expires_at: constant(null),
  uploader_display_name: ({ created_by }) => Object(created_by).name,
  is_accessible_via_shared_link: constant(false),
  is_externally_owned: constant(false),
  has_collaborations: constant(false),
  can_non_owners_invite: constant(true),
  sync_state: constant('not_synced'),
  allowed_invitee_roles: constant(['editor', 'viewer', 'previewer', 'uploader']),
};

export function extensionOf(name: string): string {
  return /[^.]\.([^.]+)$/.exec(name)?.[1] ?? '';
}

const MINI: Readonly<Record<Kind, string>> = {
  file: 'type id file_version sequence_id etag sha1 name',
  folder: 'type id sequence_id etag name',
  web_link: 'type id sequence_id etag name url',
};
const TIMES = 'created_at modified_at trashed_at purged_at';
const PEOPLE = 'created_by modified_by owned_by';
const STANDARD: Readonly<Record<Kind, string>> = {
  file: `${MINI.file} description size path_collection ${TIMES} content_created_at content_modified_at ${PEOPLE} shared_link parent item_status`,
  folder: `${MINI.folder} description size path_collection ${TIMES} content_created_at content_modified_at ${PEOPLE} shared_link folder_upload_email parent item_status`,
  web_link: `${MINI.web_link} description path_collection ${TIMES} ${PEOPLE} shared_link parent item_status`,
};
const SHARED = 'tags allowed_invitee_roles is_accessible_via_shared_link is_externally_owned has_collaborations';
const FULL: Readonly<Record<Kind, string>> = {
  file: `${STANDARD.file} ${SHARED} version_number comment_count lock extension is_package expires_at uploader_display_name`,
  folder: `${STANDARD.folder} ${SHARED} item_collection can_non_owners_invite sync_state`,
  web_link: STANDARD.web_link,
};

/** As a part of something else. */
export function mini(drive: Drive, row: Row) {
  return print(drive, row, MINI[kindOf(row)]);
}

/** As in webhooks and events. */
export function standard(drive: Drive, row: Row) {
  return print(drive, row, STANDARD[kindOf(row)]);
}

/** What is named by `fields`, beside id, type and etag; names that there are none of are passed over. Else what is usual. */
export function show(drive: Drive, row: Row, { query }: Pick<Call, 'query'>, usual: 'mini' | 'standard' | 'single') {
  const kind = kindOf(row);
  const fields = query.get('fields');
  if (fields === null) {
    if (usual !== 'single') return usual === 'mini' ? mini(drive, row) : standard(drive, row);
    return print(drive, row, kind === 'folder' ? `${STANDARD.folder} item_collection` : STANDARD[kind]);
  }
  const wanted = ['type', 'id', 'etag', ...fields.split(',').map((name) => name.trim())];
  return print(drive, row, wanted.filter((name) => FULL[kind].split(' ').includes(name)).join(' '));
}

function print(drive: Drive, row: Row, names: string): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    names.split(' ').map((name) => [name, (READERS[name] ?? ((item: Row) => item[name]))(row, drive)]),
  );
}

const KIND_ORDER: readonly unknown[] = ['folder', 'file', 'web_link'];
const COLLATOR = new Intl.Collator('en', { numeric: false, sensitivity: 'base' });

const COMPARE: Readonly<Record<string, (a: Row, b: Row) => number>> = {
  id: (a, b) => Number(a.id) - Number(b.id),
  name: (a, b) => COLLATOR.compare(String(a.name), String(b.name)),
  date: (a, b) => Number(a.modified_at) - Number(b.modified_at),
  size: (a, b) => Number(a.size ?? 0) - Number(b.size ?? 0),
};

export const SORTS: readonly string[] = Object.keys(COMPARE);

/** Folders first, then files, then bookmarks; what is equal, by its id. */
export function sortItems(rows: readonly Row[], sort = 'name', direction = 'ASC'): readonly Row[] {
  const { [sort]: compare = () => 0 } = COMPARE;
  const sign = direction === 'DESC' ? -1 : 1;
  return rows.toSorted(
    (a, b) =>
      KIND_ORDER.indexOf(a.type) - KIND_ORDER.indexOf(b.type) || sign * compare(a, b) || Number(a.id) - Number(b.id),
  );
}
