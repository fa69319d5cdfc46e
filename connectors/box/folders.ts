import {
  type ConnectorContext,
  isNotFound,
  type Json,
  json,
  type ListInput,
  type ListOperation,
  type ListPage,
  list,
  notFound,
  type ProviderRequest,
  path,
  unusable,
} from '#connector';
import { membersOf } from './fields.ts';

export const ROOT = '0';

/** Maximum number of rows per page of a search. Source: "Search for content". */
const PAGE = 200;
const LARGEST_PAGE = 1000;

type Query = NonNullable<ProviderRequest['query']>;

/**
 * Returns the request for the content of a folder. Paging by markers neither skips nor repeats items. Source: "List items in folder",
 * "Marker-based pagination".
 */
function itemsOf(folder: string, query: Query): ProviderRequest {
  return { path: path`/folders/${folder}/items`, query: { usemarker: true, ...query } };
}

export function entriesOf(body: unknown): readonly Json[] {
  return json.objects(json.at(body, 'entries'), 'the entries of the page');
}

const nextMarker = (body: unknown) => json.findText(json.at(body, 'next_marker'));

/** Lists the content of a folder. */
export const contents = list<never>({
  request: ({ parentId = ROOT, natives, page }) => itemsOf(parentId, { fields: membersOf(natives), ...page }),
  rows: entriesOf,
  paging: { kind: 'cursor', cursor: 'marker', size: 'limit', max: LARGEST_PAGE, next: ({ body }) => nextMarker(body) },
});

/** Some rows of a list, and the position at which the next part begins. */
export interface FolderPart {
  readonly rows: readonly Json[];
  readonly next?: string | undefined;
}

/** The state that a page token of a list holds: the row with which the next page begins. */
interface Cursor {
  /**
   * Position of the part to read. Absent for the first part, and when only `kept` is left. It keeps this name, because page tokens contain
   * it.
   */
  readonly place?: string | undefined;
  /** Number of rows of that part that earlier pages returned. */
  readonly skip?: number;
  /** The last row that was found. The next page begins with it, so no page leads to an empty one. */
  readonly kept?: Json | undefined;
}

/**
 * Returns the operation for a list that is read in parts, with one call each. The core counts the calls of a request. A part may be empty,
 * or have more rows than a page. Such a large part is read again for the next page.
 * @param read returns the part at a position, or the first part if the position is undefined
 */
export function listParts<Native>(
  read: (context: ConnectorContext, input: ListInput<Native>, position: string | undefined) => Promise<FolderPart>,
): ListOperation<Native> {
  return {
    maxPageSize: PAGE,
    run: async (context, input) => {
      const cursor: Cursor = input.cursor === undefined ? {} : JSON.parse(input.cursor);
      const { place: position, skip = 0, kept } = cursor;
      const rows = kept === undefined ? [] : [kept];
      if (position === undefined && kept !== undefined) return { records: rows };
      const part = await read(context, input, position);
      rows.push(...part.rows.slice(skip));
      return toPage(rows, input, {
        nextPart: part.next,
        restOfPart: { place: position, skip: skip + input.limit - (kept === undefined ? 0 : 1) },
      });
    },
  };
}

interface Following {
  readonly nextPart: string | undefined;
  readonly restOfPart: Cursor;
}

function toPage(
  rows: readonly Json[],
  { limit }: Pick<ListInput<never>, 'limit'>,
  { nextPart, restOfPart }: Following,
): ListPage {
  if (nextPart === undefined && rows.length <= limit) return { records: rows };
  // One row more than the page has room for is kept, so its part need not be read again.
  const [records, next]: readonly [readonly Json[], Cursor] =
    rows.length > limit + 1
      ? [rows.slice(0, limit), restOfPart]
      : [rows.slice(0, -1), { place: nextPart, kept: rows.at(-1) }];
  return { records, next: JSON.stringify(next) };
}

/** Lists all files or all folders. Box has no such list, so this reads one folder after the other. */
export function listAll(type: 'file' | 'folder'): ListOperation<never> {
  return listParts((context, { fields }, position) =>
    walk(context, {
      position: position ?? ROOT,
      members: membersOf(fields.map(({ native }) => native)),
      isKept: (item) => item.type === type,
    }),
  );
}

interface Walk {
  /** The folders that are still to be read, the next one first. A folder of which a part was read has its marker. */
  readonly position: string;
  readonly members: string;
  readonly isKept: (item: Json) => boolean;
}

/**
 * Number of items per part of a folder. Box allows 1,000. With smaller parts fewer folders wait to be read, which page tokens must contain.
 * The number is the same for every page size, because it determines the order of the rows.
 */
const WALKED_PAGE = 100;

/**
 * Reads one part of a folder. Its subfolders are read before its next part, so that few of them wait.
 * @throws PROVIDER_PROTOCOL when Box returns a folder, or a page of one, that waits already
 */
export async function walk({ send }: ConnectorContext, { position, members, isKept }: Walk): Promise<FolderPart> {
  const [first = ROOT, ...later] = position.split(' ');
  const [folder = ROOT, begun] = first.split(':');
  const marker = begun === undefined ? undefined : decodeURIComponent(begun);
  // A folder that was deleted in the meantime has no content left.
  const body = await send(itemsOf(folder, { limit: WALKED_PAGE, marker, fields: members })).then(
    (response) => response.body,
    (error: unknown) => (isNotFound(error) && position !== ROOT ? { entries: [] } : Promise.reject(error)),
  );
  const items = entriesOf(body);
  const next = nextMarker(body);
  const inside = items.filter(({ type }) => type === 'folder').map(({ id }) => json.text(id, 'the id of a folder'));
  const waiting = [...inside, ...(next === undefined ? [] : [`${folder}:${encodeURIComponent(next)}`]), ...later];
  if (new Set(waiting).size < waiting.length || waiting.includes(first)) {
    throw unusable('Box returned a folder, or a page of one, that was already read, so the list would never end.');
  }
  return { rows: items.filter(isKept), next: waiting.length > 0 ? waiting.join(' ') : undefined };
}

/**
 * Finds the folder at a path from the root. Box ignores letter case in names.
 * @throws AppError NOT_FOUND
 */
export async function findFolder(context: ConnectorContext, folderPath: string): Promise<string> {
  let folder = ROOT;
  for (const name of folderPath.split('/').filter((part) => part !== '')) {
    const found = await findInside(context, folder, name.toLowerCase());
    if (found === undefined) throw notFound(`Box has no folder '${folderPath}': its part '${name}' does not exist.`);
    folder = found;
  }
  return folder;
}

async function findInside({ send }: ConnectorContext, folder: string, name: string): Promise<string | undefined> {
  for (let marker: string | undefined; ; ) {
    const { body } = await send(itemsOf(folder, { limit: LARGEST_PAGE, marker, fields: 'name' }));
    const found = entriesOf(body).find((item) => item.type === 'folder' && String(item.name).toLowerCase() === name);
    if (found !== undefined) return json.text(found.id, 'the id of a folder');
    const next = nextMarker(body);
    if (next === undefined) return undefined;
    if (next === marker)
      throw unusable('Box returned the current page of a folder as the next one, so the list would never end.');
    marker = next;
  }
}
