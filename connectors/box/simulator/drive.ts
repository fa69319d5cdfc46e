import { createTable, type MovableClock, type Table, type TableRow } from '#connector/simulator';
import {
  contentOf,
  type Kind,
  kindOf,
  ME,
  makeFiles,
  makeFolders,
  makeWebLinks,
  measure,
  ROOT,
  ROOT_ID,
  type Row,
} from './rows.ts';

/** What happened to an item. Without `before` it is new. */
export interface ItemChange {
  readonly kind: Kind;
  readonly before?: Row;
  readonly after: Row;
}

/** Everything of one user: folders below the root, files and bookmarks in them, also those in the trash. */
export interface Drive {
  readonly tables: Readonly<Record<Kind, Table>>;
  /** Also in the trash; the root as well. */
  readonly find: (kind: Kind, id: string) => Row | undefined;
  /** Files, folders and bookmarks; those in the trash only if they are asked for. */
  readonly items: (withTrash?: boolean) => readonly Row[];
  readonly childrenOf: (folderId: string) => readonly Row[];
  /** The folders above, from the root on. */
  readonly pathOf: (item: Row) => readonly Row[];
  readonly sizeOf: (item: Row) => number;
  /** By the id of the file. */
  readonly contents: Map<string, Buffer>;
}

const KINDS: readonly Kind[] = ['folder', 'file', 'web_link'];

/** Box keeps whole seconds. */
export function wholeSecond(ms: number): number {
  return ms - (ms % 1000);
}

export function createDrive(clock: MovableClock, tell: (change: ItemChange) => void): Drive {
  const files = makeFiles();
  const contents = new Map(files.map(({ id }, index) => [String(id), contentOf(index)]));
  const make = (kind: Kind, rows: readonly Row[]) => createItems({ kind, rows, clock, tell, trashContents });
  const tables = {
    file: make('file', files),
    folder: make('folder', makeFolders()),
    web_link: make('web_link', makeWebLinks()),
  };
  const items: Drive['items'] = (withTrash) => KINDS.flatMap((kind) => tables[kind].rows(withTrash));
  const find: Drive['find'] = (kind, id) => (kind === 'folder' && id === ROOT_ID ? ROOT : tables[kind].find(id));
  const childrenOf: Drive['childrenOf'] = (folderId) => items().filter(({ parent }) => parent === folderId);

  /** What a folder holds goes with it. */
  function trashContents(folderId: string): void {
    for (const child of childrenOf(folderId)) tables[kindOf(child)].remove(String(child.id));
  }

  function pathOf({ parent }: Row): readonly Row[] {
    const folder = typeof parent === 'string' ? find('folder', parent) : undefined;
    return folder === undefined ? [] : [...pathOf(folder), folder];
  }

  function sizeOf({ type, id, size }: Row): number {
    if (type !== 'folder') return Number(size ?? 0);
    return childrenOf(String(id)).reduce((sum, child) => sum + sizeOf(child), 0);
  }

  return { tables, find, items, childrenOf, pathOf, sizeOf, contents };
}

interface ItemsOptions {
  readonly kind: Kind;
  readonly rows: readonly Row[];
  readonly clock: MovableClock;
  readonly tell: (change: ItemChange) => void;
  readonly trashContents: (folderId: string) => void;
}

/** A table whose rows go into the trash and count their changes. */
function createItems({ kind, rows, clock, tell, trashContents }: ItemsOptions): Table {
  const table = createTable({
    rows,
    keyOf: ({ id }) => String(id),
    initial: (_, others) => initialOf(kind, others(), wholeSecond(clock.now())),
    stamps: { clock, write: wholeSecond, created: ['created_at'], changed: ['modified_at'] },
    onChange: ({ before, after }) => after && tell({ kind, after, ...(before && { before }) }),
  });
  const update: Table['update'] = (id, values) => {
    const row = table.find(id);
    return row && table.update(id, { sequence: Number(row.sequence) + 1, modified_by: ME, ...values });
  };
  return {
    ...table,
    rows: (withTrash) => table.rows().filter((row) => withTrash === true || isThere(row)),
    update,
    remove: (id) => {
      const trashed = update(id, { trashed_at: wholeSecond(clock.now()) });
      if (kind === 'folder') trashContents(id);
      return trashed;
    },
  };
}

export function isThere({ trashed_at }: Row): boolean {
  return trashed_at === null;
}

function initialOf(kind: Kind, others: readonly TableRow[], nowMs: number): Row {
  const id = others.reduce((most, row) => Math.max(most, Number(row.id)), 0) + 3;
  const ofFile = { version: 1, version_id: String(id + 4_261_215_560), ...measure(Buffer.alloc(0)) };
  return {
    ...{ type: kind, id: String(id), sequence: 0, description: '', parent: ROOT_ID, tags: [], trashed_at: null },
    ...{ content_created_at: nowMs, content_modified_at: nowMs, created_by: ME, modified_by: ME },
    ...(kind === 'file' && ofFile),
  };
}
