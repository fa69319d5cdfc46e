import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { headingEntry, type NavigationEntry } from './layout.ts';
import { type Heading, type LinkTarget, renderMarkdown } from './markdown.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** A file of prose, and the path of its page. */
interface GuideSource {
  readonly file: string;
  readonly path: string;
  /** Generated content below the page. */
  readonly appendix?: string;
}

export interface Guide {
  readonly path: string;
  readonly title: string;
  readonly html: string;
  readonly headings: readonly Heading[];
}

export interface Guides {
  /** Guides, in the recommended order of reading. */
  readonly guides: readonly Guide[];
  readonly elements: readonly Guide[];
}

const README = join(ROOT, 'README.md');
/** The folders of docs/. */
export const GUIDE_KINDS = ['tutorials', 'how-to', 'reference', 'explanation'] as const;
/** Pages with content below that is generated from the declarations of connectors. */
const APPENDICES: Readonly<Record<string, string>> = { 'where.md': 'pushdown.md', 'elements.md': 'elements.md' };
/** The reader's order of the guides of one kind; a guide that is not listed follows by name. */
const ORDER = [
  'console',
  'elements',
  'where',
  'files',
  'bulk',
  'events',
  'credentials',
  'connect-sessions',
  'limits',
  'sdks',
  'connectors',
  'migrating',
  'deployment',
  'keys',
];

/** The README, `docs/<kind>/*.md` and the README of every connector, ready to be shown. */
export async function readGuides(connectorFolders: readonly string[]): Promise<Guides> {
  const [guides, elements] = await Promise.all([findGuides(), findElements(connectorFolders)]);
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

const rank = ({ path }: GuideSource) => (ORDER.indexOf(basename(path)) + ORDER.length + 1) % (ORDER.length + 1);

function guideAt(file: string): GuideSource {
  const kind = file === README ? 'guides' : basename(dirname(file));
  const path = `/docs/${kind}/${basename(file, '.md').toLowerCase()}`;
  const appendix = APPENDICES[basename(file)];
  return appendix === undefined ? { file, path } : { file, path, appendix: join(ROOT, 'generated', appendix) };
}

/** `<folder>/<key>/README.md`; a connector may have none. */
async function findElements(folders: readonly string[]): Promise<readonly GuideSource[]> {
  const found = folders.map(async (folder) => {
    const entries = await readdir(folder, { withFileTypes: true });
    const keys = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    return Promise.all(keys.toSorted().map((key) => elementAt(folder, key)));
  });
  return (await Promise.all(found)).flat(2);
}

async function elementAt(folder: string, key: string): Promise<readonly GuideSource[]> {
  const names = await readdir(join(folder, key));
  return names.includes('README.md')
    ? [{ file: join(folder, key, 'README.md'), path: `/docs/elements/${encodeURIComponent(key)}` }]
    : [];
}

async function renderGuide({ file, path, appendix }: GuideSource, paths: ReadonlyMap<string, string>): Promise<Guide> {
  const files = appendix === undefined ? [file] : [file, appendix];
  const markdown = (await Promise.all(files.map((each) => readFile(each, 'utf8')))).join('\n');
  const { html, headings } = renderMarkdown(markdown, linksFrom(file, paths));
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
