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

/** Most that a search gives. Source: "Search for content". */
const PAGE = 200;
const LARGEST_PAGE = 1000;

type Query = NonNullable<ProviderRequest['query']>;

/** By markers, which leave nothing out and show nothing twice. Source: "List items in folder", "Marker-based pagination". */
function itemsOf(folder: string, query: Query): ProviderRequest {
  return { path: path`/folders/${folder}/items`, query: { usemarker: true, ...query } };
}

export function entriesOf(body: unknown): readonly Json[] {
  return json.objects(json.at(body, 'entries'), 'the entries of the page');
}

const nextMarker = (body: unknown) => json.findText(json.at(body, 'next_marker'));

/** What is in one folder. */
export const contents = list<never>({
  request: ({ parentId = ROOT, natives, page }) => itemsOf(parentId, { fields: membersOf(natives), ...page }),
  rows: entriesOf,
  paging: { kind: 'cursor', cursor: 'marker', size: 'limit', max: LARGEST_PAGE, next: ({ body }) => nextMarker(body) },
});

/** Some rows of a list, and where it goes on. */
export interface Part {
  readonly rows: readonly Json[];
  readonly next?: string | undefined;
}

/** What a list goes on with. */
interface Cursor {
  /** Absent where nothing is left but the last row. */
  readonly place?: string;
  /** The last row that was found: it comes with the next part, so that no part leads to nothing. */
  readonly kept?: Json;
}

/**
 * A list of parts, a call for each: what is asked for one answer is counted elsewhere. Parts may be empty.
 * @param read the part at a place; the first where there is none
 */
export function listParts<Native>(
  read: (context: ConnectorContext, input: ListInput<Native>, place: string | undefined) => Promise<Part>,
): ListOperation<Native> {
  return {
    maxPageSize: PAGE,
    run: async (context, input) => {
      const { place, kept }: Cursor = input.cursor === undefined ? {} : JSON.parse(input.cursor);
      const rows = kept === undefined ? [] : [kept];
      if (place === undefined && kept !== undefined) return { records: rows };
      const part = await read(context, input, place);
      return toPage([...rows, ...part.rows], part.next, input);
    },
  };
}

function toPage(
  rows: readonly Json[],
  place: string | undefined,
  { limit }: Pick<ListInput<never>, 'limit'>,
): ListPage {
  if (place === undefined && rows.length <= limit) return { records: rows };
  return { records: rows.slice(0, -1), next: JSON.stringify({ place, kept: rows.at(-1) } satisfies Cursor) };
}

/** All files, or all folders. Box has no list of them: one folder is read after the other. */
export function listAll(type: 'file' | 'folder'): ListOperation<never> {
  return listParts((context, { limit, fields }, place) =>
    walk(context, {
      place: place ?? ROOT,
      limit,
      members: membersOf(fields.map(({ native }) => native)),
      isKept: (item) => item.type === type,
    }),
  );
}

export interface Walk extends Pick<ListInput<never>, 'limit'> {
  /** Folders that are still to be read, the next one first; one that was begun with its marker. */
  readonly place: string;
  readonly members: string;
  readonly isKept: (item: Json) => boolean;
}

/** Box gives 1,000. With fewer in a page, fewer folders wait, which page tokens have to hold. */
const WALKED_PAGE = 100;

/** A page of one folder. What is in a folder comes before what is next to it, so that few of them wait. */
export async function walk({ send }: ConnectorContext, { place, limit, members, isKept }: Walk): Promise<Part> {
  const [first = ROOT, ...later] = place.split(' ');
  const [folder = ROOT, begun] = first.split(':');
  const marker = begun === undefined ? undefined : decodeURIComponent(begun);
  // Whoever deletes a folder in the meantime deletes what is in it.
  const body = await send(itemsOf(folder, { limit: Math.min(limit, WALKED_PAGE), marker, fields: members })).then(
    (response) => response.body,
    (error: unknown) => (isNotFound(error) && place !== ROOT ? { entries: [] } : Promise.reject(error)),
  );
  const items = entriesOf(body);
  const next = nextMarker(body);
  const inside = items.filter(({ type }) => type === 'folder').map(({ id }) => json.text(id, 'the id of a folder'));
  const waiting = [...inside, ...(next === undefined ? [] : [`${folder}:${encodeURIComponent(next)}`]), ...later];
  if (new Set(waiting).size < waiting.length || waiting.includes(first)) {
    throw unusable('Box names a folder, or a part of one, that was read already: the list would never end.');
  }
  return { rows: items.filter(isKept), next: waiting.length > 0 ? waiting.join(' ') : undefined };
}

/** The folder under a path from the root, by the names of its parts, in which Box does not mind letter case. @throws AppError NOT_FOUND */
export async function findFolder(context: ConnectorContext, place: string): Promise<string> {
  let folder = ROOT;
  for (const name of place.split('/').filter((part) => part !== '')) {
    const found = await findInside(context, folder, name.toLowerCase());
    if (found === undefined) throw notFound(`Box has no folder '${place}': nothing there is called '${name}'.`);
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
    if (next === marker) throw unusable('Box names the part of a folder that it has just given as the next one.');
    marker = next;
  }
}
