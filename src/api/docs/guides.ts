import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { headingEntry, type NavigationEntry } from './layout.ts';
import { type Heading, type LinkTarget, renderMarkdown } from './markdown.ts';
import { GUIDE_KINDS, QUERY_LANGUAGE_PATH } from './paths.ts';
import { chapterOf, indexOf, readPushdown } from './pushdown.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** A file of prose, and the path of its page. */
interface GuideSource {
  readonly file: string;
  readonly path: string;
  /** Generated Markdown below the page. */
  readonly appendix?: string;
}

/** The README of an element. */
interface ElementSource extends GuideSource {
  readonly key: string;
}

interface Guide {
  readonly path: string;
  readonly title: string;
  readonly html: string;
  readonly headings: readonly Heading[];
}

interface Guides {
  /** Guides, in the recommended order of reading. */
  readonly guides: readonly Guide[];
  readonly elements: readonly Guide[];
}

const README = join(ROOT, 'README.md');
const GENERATED = join(ROOT, 'generated');
/** The guide with the table of all elements below its text. */
const ELEMENTS = '/docs/reference/elements';
/** The guide with the tables of all definitions below its text. */
const CATALOGUE = '/docs/reference/catalogue';
/**
 * The reader's order of the guides of one kind. Guides of several kinds can have one name, so an entry can name the kind. A guide that is not
 * listed follows by name.
 */
const ORDER = [
  'first-query',
  'first-event',
  'tutorials/mappings',
  'tutorials/formulas',
  'connect-page',
  'connector',
  'console',
  'elements',
  'catalogue',
  'where',
  'connect-by-oauth',
  'files',
  'map-objects',
  'mappings',
  'formulas',
  'bulk',
  'receive-events',
  'endpoints',
  'events',
  'polls',
  'watch-schemas',
  'oauth-proxies',
  'repair-instances',
  'oauth',
  'receive-webhooks',
  'credentials',
  'connect-sessions',
  'limits',
  'sdks',
  'write-a-connector',
  'clients',
  'connectors',
  'find-failures',
  'activity',
  'administration',
  'accounts',
  'roles',
  'access-keys',
  'agents',
  'log-in',
  'audit-log',
  'migrating',
  'cloud-elements',
  'deployment',
  'configuration',
  'processes',
  'split-roles',
  'monitor',
  'metrics',
  'logs',
  'traces',
  'keys',
  'encryption-keys',
  'back-up',
  'upgrade',
];

/** Reads the README, `docs/<kind>/*.md` and the README of every connector, and renders them. */
export async function readGuides(connectorFolders: readonly string[]): Promise<Guides> {
  const [written, found, table, catalogue, pushdown] = await Promise.all([
    findGuides(),
    findElements(connectorFolders),
    readFile(join(GENERATED, 'elements.md'), 'utf8'),
    readFile(join(GENERATED, 'catalogue.md'), 'utf8'),
    readPushdown(join(GENERATED, 'pushdown.md')),
  ]);
  const index = indexOf(pushdown, found);
  const guides = written.map((guide) =>
    withAppendix(guide, { [QUERY_LANGUAGE_PATH]: index, [ELEMENTS]: table, [CATALOGUE]: catalogue }[guide.path]),
  );
  const elements = found.map((element) => withAppendix(element, chapterOf(pushdown, element.key)));
  const paths = new Map([...guides, ...elements].map(({ file, path }) => [file, path]));
  const render = (source: GuideSource) => renderGuide(source, paths);
  return { guides: await Promise.all(guides.map(render)), elements: await Promise.all(elements.map(render)) };
}

async function findGuides(): Promise<readonly GuideSource[]> {
  const found = GUIDE_KINDS.map(async (kind) => {
    const names = await readdir(join(ROOT, 'docs', kind));
    const guides = names.filter((name) => name.endsWith('.md')).map((name) => guideAt(join(ROOT, 'docs', kind, name)));
    return guides.sort((one, other) => rank(one) - rank(other) || one.path.localeCompare(other.path));
  });
  return [guideAt(README), ...(await Promise.all(found)).flat()];
}

function rank({ path }: GuideSource): number {
  const kind = basename(dirname(path));
  const place = ORDER.findIndex((entry) => entry === basename(path) || entry === `${kind}/${basename(path)}`);
  return place === -1 ? ORDER.length : place;
}

function guideAt(file: string): GuideSource {
  const kind = file === README ? 'guides' : basename(dirname(file));
  return { file, path: `/docs/${kind}/${basename(file, '.md').toLowerCase()}` };
}

function withAppendix(source: GuideSource, appendix: string | undefined): GuideSource {
  return appendix === undefined ? source : { ...source, appendix };
}

/** `<folder>/<key>/README.md`; a connector may have none. */
async function findElements(folders: readonly string[]): Promise<readonly ElementSource[]> {
  const found = folders.map(async (folder) => {
    const entries = await readdir(folder, { withFileTypes: true });
    const keys = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    return Promise.all(keys.toSorted().map((key) => elementAt(folder, key)));
  });
  return (await Promise.all(found)).flat(2);
}

async function elementAt(folder: string, key: string): Promise<readonly ElementSource[]> {
  const names = await readdir(join(folder, key));
  return names.includes('README.md')
    ? [{ key, file: join(folder, key, 'README.md'), path: `/docs/elements/${encodeURIComponent(key)}` }]
    : [];
}

async function renderGuide({ file, path, appendix }: GuideSource, paths: ReadonlyMap<string, string>): Promise<Guide> {
  const written = await readFile(file, 'utf8');
  const markdown = appendix === undefined ? written : `${written}\n${appendix}`;
  // Links of generated text are relative to the folder with it.
  const links = [file, join(GENERATED, 'elements.md')].map((each) => linksFrom(each, paths));
  const findTarget: LinkTarget = (href) => links.map((targetOf) => targetOf(href)).find((path) => path !== undefined);
  const { html, headings } = renderMarkdown(markdown, findTarget);
  const title = file === README ? 'First steps' : (headings[0]?.text ?? path);
  return { path, title, html, headings };
}

/** Links to other files lead to their pages; to files that have none, nowhere. */
function linksFrom(file: string, paths: ReadonlyMap<string, string>): LinkTarget {
  return (href) => {
    if (/^(?:[a-z]+:|[#/])/i.test(href)) return href;
    const [target = '', fragment] = href.split('#');
    const path = paths.get(join(dirname(file), target));
    return path === undefined || fragment === undefined ? path : `${path}#${fragment}`;
  };
}

export function entryOf({ path, title, headings }: Guide): NavigationEntry {
  const below = headings.filter(({ depth }, index) => index > 0 && depth <= 3);
  return { href: path, text: title, below: below.map((heading) => headingEntry(heading, path)) };
}
