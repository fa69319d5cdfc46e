import { createHash } from 'node:crypto';
import {
  type Collection,
  type CollectionSpec,
  createCollections,
  DAY_MS,
  describedMembers,
  HOSTILE_TEXTS,
  type MovableClock,
  pick,
  type TableChange,
  type TableRow,
  times,
} from '#connector/simulator';
import { BoxFault, invalid, missing, nameInUse, notFound } from './faults.ts';

export type Kind = 'file' | 'folder' | 'web_link';
export type Row = TableRow;

export function kindOf({ type }: Row): Kind {
  return type === 'file' || type === 'folder' ? type : 'web_link';
}

export const ME = { type: 'user', id: '226067247', name: "Dana O'Neil & Söhne", login: 'dana@example.com' };
const COLLEAGUE = { type: 'user', id: '11446498', name: 'Ådne "Ops" 李', login: 'ops@example.com' };

export const ROOT_ID = '0';
/** The root folder. It has no times and no etag, and cannot be changed. */
const ROOT: Row = {
  ...{ type: 'folder', id: ROOT_ID, sequence: null, name: 'All Files', description: '', parent: null, tags: [] },
  ...{ created_by: { type: 'user', id: '', name: '', login: '' }, modified_by: ME },
};

const MEMBERS = describedMembers({
  properties: {
    ...{ name: 'string(255)', description: 'string', tags: 'array', parent: 'object' },
    ...{ content_created_at: 'datetime', content_modified_at: 'datetime' },
  },
});

/** Returns whether Box accepts the name. Control characters, slashes and a blank at the end are rejected. */
const isName = (text: string) => text !== '' && !/\p{Cc}|[/\\]| $|^\.\.?$/u.test(text);
const NAMES = HOSTILE_TEXTS.filter(isName).map((text) => text.slice(0, 200));
const TAGS = HOSTILE_TEXTS.filter((text) => text.trim() !== '' && text.length < 100);
const WORDS = ['Invoice', 'Quarterly report', 'running notes', 'Contract for ACME', 'Blue-Box plan', 'California trip'];
const EXTENSIONS = ['.txt', '.pdf', '.docx', '.csv', '.PNG', '.md', ''];
const LONGEST_DESCRIPTION = 255;

/** Time of the first item. The steps from here cross the change to daylight saving time. */
const FIRST_MS = Date.parse('2024-02-28T22:10:00Z');
const HOUR_MS = 3_600_000;

export const wholeSecond = (ms: number) => ms - (ms % 1000);
const idFrom = (first: number) => (index: number) => String(first + index * 7);
const folderId = idFrom(8_290_186_265);
/** Returns the content of the file with this index. Every tenth file is empty. */
const contentOf = (index: number) =>
  Buffer.from(times(index % 10, (line) => `Line ${line} of ${index}: ${pick(HOSTILE_TEXTS, index + line)}`).join('\n'));

export function measure(content: Uint8Array) {
  return { size: content.length, sha1: createHash('sha1').update(content).digest('hex') };
}

interface ItemSpec extends Partial<Omit<CollectionSpec, 'initial'>> {
  readonly initial: () => Row;
}

/** Returns the specification of items. Several consecutive items have the same time, and somebody else changed some of them later. */
function itemsOf(type: Kind, rows: number, step: number, { vary, initial, ...more }: ItemSpec): CollectionSpec {
  const created = (index: number) => FIRST_MS + Math.floor(index / 3) * step;
  const modified = (index: number) => created(index) + (index % 4) * DAY_MS;
  return {
    members: MEMBERS,
    rows,
    vary: {
      type: () => type,
      sequence: (index) => index % 4,
      description: (index) => (index % 2 === 0 ? '' : pick(HOSTILE_TEXTS, index >> 1).slice(0, LONGEST_DESCRIPTION)),
      ...{ created_at: created, modified_at: modified, content_modified_at: modified },
      content_created_at: (index) => created(index) - DAY_MS,
      created_by: (index) => (index % 6 === 5 ? COLLEAGUE : ME),
      modified_by: (index) => (index % 4 === 0 ? ME : COLLEAGUE),
      tags: (index) => (index % 5 === 0 ? [pick(TAGS, index), 'approved'] : index % 7 === 0 ? ['two words'] : []),
      ...vary,
    },
    initial: () => ({
      ...{ type, sequence: 0, description: '', parent: ROOT_ID, created_by: ME, modified_by: ME, ...initial() },
    }),
    created: ['created_at'],
    changed: ['modified_at'],
    deleted: 'is_trashed',
    touch: ({ sequence }) => ({ sequence: Number(sequence) + 1, modified_by: ME }),
    ...more,
  };
}

export type Drive = ReturnType<typeof createDrive>;

/** Creates the content of one user's account: folders below the root, and files and bookmarks in them, including those in the trash. */
export function createDrive(clock: MovableClock, notify: (kind: Kind, change: TableChange) => void) {
  // The times of the content default to now.
  const initial = () => ({
    content_created_at: wholeSecond(clock.now()),
    content_modified_at: wholeSecond(clock.now()),
  });
  const of: Readonly<Record<Kind, CollectionSpec>> = {
    folder: itemsOf('folder', 66, 123 * HOUR_MS, {
      initial,
      makeId: folderId,
      vary: {
        name: (index) => (index < 40 ? `${pick(WORDS, index)} ${index}` : `${pick(NAMES, index)}${index}`),
        // The first eight folders are at the top, the others are nested.
        parent: (index) => (index < 8 ? ROOT_ID : folderId(index % 8 === 3 ? index >> 1 : index % 8)),
      },
    }),
    // Most files are in one folder.
    file: itemsOf('file', 130, 71 * HOUR_MS, {
      makeId: idFrom(73_835_521_473),
      vary: {
        name: (index) => `${pick(index % 3 === 0 ? NAMES : WORDS, index)}-${index}${pick(EXTENSIONS, index)}`,
        parent: (index) => (index % 3 === 0 ? ROOT_ID : folderId(index % 3 === 1 ? 2 : index % 40)),
        version: (index) => 1 + (index % 4),
        size: (index) => measure(contentOf(index)).size,
        sha1: (index) => measure(contentOf(index)).sha1,
      },
      initial: () => ({ ...initial(), version: 1, ...measure(Buffer.alloc(0)) }),
    }),
    web_link: itemsOf('web_link', 6, 500 * HOUR_MS, {
      initial,
      makeId: idFrom(11_446_400_000),
      vary: { name: (index) => `example${index}.com`, url: () => "https://example.com/?q=O'Neil&x=%20" },
    }),
  };
  const items: Readonly<Record<Kind, Collection<CollectionSpec, Kind>>> = createCollections({
    ...{ clock, of, writeTime: wholeSecond, onChange: notify },
    refuse: ([{ member = '' } = {}]) => invalid(member, `Invalid value for '${member}'`),
    absent: (_, id) => notFound('item', id),
  });
  const contents = new Map<string, Buffer>(
    items.file.table.rows().map(({ id }, index) => [String(id), contentOf(index)]),
  );
  const all = (withTrash = false) =>
    [items.folder, items.file, items.web_link].flatMap(({ table }) => table.rows(withTrash));
  const find = (kind: Kind, id: unknown) =>
    kind === 'folder' && id === ROOT_ID ? ROOT : items[kind].table.find(String(id));
  const childrenOf = (folder: unknown) => all().filter(({ parent }) => parent === folder);

  /** Returns the folders above an item, from the root on. */
  function pathOf({ parent }: Row): readonly Row[] {
    const folder = find('folder', parent);
    return folder === undefined ? [] : [...pathOf(folder), folder];
  }

  function sizeOf({ type, id, size }: Row): number {
    if (type !== 'folder') return Number(size ?? 0);
    return childrenOf(id).reduce((sum, child) => sum + sizeOf(child), 0);
  }

  /**
   * Returns an item that is not in the trash.
   * @throws Fault 404 also for an item in the trash
   */
  function get(kind: Kind, id = ''): Row {
    const row = find(kind, id);
    if (row === undefined) throw notFound(kind === 'folder' ? 'folder' : 'item', `${kind.charAt(0)}_${id}`);
    if (row.is_trashed === true) throw new BoxFault(404, 'trashed', 'Item is trashed');
    return row;
  }

  /**
   * Returns the values to store for a request. Names must be unique in a folder across all kinds, regardless of case.
   * @throws BoxFault
   */
  function settle(kind: Kind, { parent, description, ...values }: Row, old: Row = {}): Row {
    const { name = old.name } = values;
    if (name === undefined) throw missing('name');
    if (!isName(String(name))) throw new BoxFault(400, 'item_name_invalid', 'Item name invalid');
    if (parent === undefined && old.parent === undefined) throw missing('parent');
    const folder = parent === undefined ? old.parent : get('folder', Object(parent).id).id;
    const isSame = (row: Row) => String(row.name).toLowerCase() === String(name).toLowerCase();
    const taken = childrenOf(folder).find((row) => isSame(row) && (row.type !== kind || row.id !== old.id));
    if (taken !== undefined) throw nameInUse(taken);
    // Box silently truncates a longer description.
    const described = description !== undefined && { description: String(description).slice(0, LONGEST_DESCRIPTION) };
    return { ...values, name, parent: folder, ...described };
  }

  return { items, contents, all, find, childrenOf, pathOf, sizeOf, get, settle };
}
