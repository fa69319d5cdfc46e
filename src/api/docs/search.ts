import MiniSearch, { type Options } from 'minisearch';

/** A page that the search finds. */
export interface SearchablePage {
  readonly path: string;
  readonly title: string;
  /** Content of the page as HTML. */
  readonly body: string;
}

/** A part of a page that is one result. */
interface SearchEntry {
  readonly id: number;
  readonly href: string;
  readonly title: string;
  /** The title of the page, and the address of an operation. */
  readonly page: string;
  /** The anchor, which is the name of an operation, an error code, an event type or an export. */
  readonly name: string;
  readonly text: string;
}

/** `assets/docs.js` has the same, as it opens the index. */
const OPTIONS: Options<SearchEntry> = {
  fields: ['title', 'name', 'page', 'text'],
  storeFields: ['href', 'title', 'page', 'text'],
};
/** Entries that are indexed before other work of the process gets its turn. */
const CHUNK = 40;
/** Characters of an entry that results show excerpts of. */
const LONGEST_TEXT = 4_000;

/** Creates the search index of all pages as JSON, for `MiniSearch.loadJSON`. */
export async function createSearchIndex(pages: readonly SearchablePage[]): Promise<string> {
  const index = new MiniSearch(OPTIONS);
  const entries = pages.flatMap(entriesOf).map((entry, id): SearchEntry => ({ ...entry, id }));
  await index.addAllAsync(entries, { chunkSize: CHUNK });
  return JSON.stringify(index);
}

type NewEntry = Omit<SearchEntry, 'id'>;

interface PageSection {
  readonly anchor: string;
  readonly title: string;
  readonly html: string;
}

function entriesOf(page: SearchablePage): readonly NewEntry[] {
  return partsOf(page).flatMap((part) => [entryOf(page, part), ...rowsOf(page, part)]);
}

function entryOf({ path, title: page }: SearchablePage, { anchor, title, html }: PageSection): NewEntry {
  const href = anchor === '' ? path : `${path}#${anchor}`;
  const address = addressOf(html);
  const label = address === undefined ? page : `${page}: ${address}`;
  return { href, title, page: label, name: anchor, text: textOf(html).slice(0, LONGEST_TEXT) };
}

const ADDRESS =
  /<p class="address"><span class="method \w+">(\w+)<\/span> <code>(?:<span class="base">.*?<\/span>)?(.*?)<\/code>/;

/** The method and path of an operation. */
function addressOf(html: string): string | undefined {
  const [, method, path] = ADDRESS.exec(html) ?? [];
  return method === undefined || path === undefined ? undefined : `${method.toUpperCase()} ${textOf(path)}`;
}

/** Requests in each language, forms and examples repeat what the rest of an operation says. */
const REPEATED =
  /<div class="snippets">[\s\S]*?<\/div>|<details class="(?:try|example|secrets-panel)"[\s\S]*?<\/details>/g;
const PART = /<section\b[^>]*? id="([^"]*)"[^>]*>|<h([1-4])(?: id="([^"]*)")?>([\s\S]*?)<\/h\2>/g;

/** A part begins at a heading that has an anchor, or is the first of a section that has one. */
function partsOf({ title: pageTitle, body }: SearchablePage): readonly PageSection[] {
  const html = body.replaceAll(REPEATED, ' ');
  const starts: { readonly anchor: string; readonly title: string; readonly at: number }[] = [];
  let section: string | undefined;
  for (const { 1: sectionId, 3: ownId, 4: heading, 0: whole, index } of html.matchAll(PART)) {
    if (heading === undefined) {
      section = sectionId;
      continue;
    }
    const isFirst = starts.length === 0;
    const anchor = isFirst ? '' : (ownId ?? section);
    section = undefined;
    const title = isFirst ? pageTitle : textOf(heading);
    if (anchor !== undefined) starts.push({ anchor, title, at: index + whole.length });
  }
  return starts.map(({ anchor, title, at }, index) => ({ anchor, title, html: html.slice(at, starts[index + 1]?.at) }));
}

const ROW = /<tr>\s*<td[^>]*>\s*<code>([^<]+)<\/code>\s*<\/td>([\s\S]*?)<\/tr>/g;

/**
 * Rows of tables that begin with a name, such as those of the configuration, are entries of their own. Those of elements are not: they
 * are as many as everything else.
 */
function rowsOf({ path, title: page }: SearchablePage, { anchor, html }: PageSection): readonly NewEntry[] {
  if (path.startsWith('/docs/elements/')) return [];
  const href = anchor === '' ? path : `${path}#${anchor}`;
  return [...html.matchAll(ROW)].map(([, name = '', cells = '']) => ({
    href,
    title: textOf(name),
    page,
    name: '',
    text: textOf(cells),
  }));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
};

/** The text of HTML that this service made. */
function textOf(html: string): string {
  return html
    .replaceAll(/<\/?(?:code|a|strong|em|span)\b[^>]*>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => ENTITIES[entity] ?? entity)
    .replaceAll(/\s+/g, ' ')
    .trim();
}
