import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { escapeHtml, when } from './html.ts';
import type { NavigationEntry } from './layout.ts';
import { renderInline, renderMarkdown } from './markdown.ts';
import type { Reference, ReferencePage } from './reference.ts';

const KIT_PATH = '/docs/reference/kit';

const FILE = join(import.meta.dirname, '../../../generated/kit.json');

/** An export of the kit, as `scripts/generate/kit.ts` writes it. */
interface KitExport {
  readonly name: string;
  readonly area: string;
  readonly doc: string;
  readonly code: string;
}

interface KitPage {
  readonly path: string;
  readonly title: string;
  readonly introduction: string;
  readonly groups: readonly KitGroup[];
}

/** Exports of one module in one area. */
interface KitGroup {
  readonly module: string;
  readonly area: string;
  readonly exports: readonly KitExport[];
}

/** The types of the contract have a page of their own: they are as many as everything else of their module. */
const CONTRACT = 'Contract';

/** Reads the reference of the connector kit: an index, and a page for each part. */
export async function readKitReference(): Promise<Reference> {
  const { 'x-generated': _, ...modules }: Readonly<Record<string, unknown>> = JSON.parse(await readFile(FILE, 'utf8'));
  const groups = Object.entries(modules).flatMap(([module, exports]) => groupsOf(module, readExports(exports)));
  const pages = pagesOf(groups);
  const links = linksTo(pages);
  return {
    pages: [
      { path: KIT_PATH, title: 'Connector kit', body: printIndex(pages) },
      ...pages.map((page): ReferencePage => ({ ...page, body: printPage(page, links) })),
    ],
    entries: [{ href: KIT_PATH, text: 'Connector kit' }, ...pages.map(entryOf)],
  };
}

function readExports(exports: unknown): readonly KitExport[] {
  // `scripts/generate/kit.ts` wrote it.
  return Array.isArray(exports) ? (exports as readonly KitExport[]) : [];
}

function groupsOf(module: string, exports: readonly KitExport[]): readonly KitGroup[] {
  const areas = Map.groupBy(exports, ({ area }) => area);
  return [...areas].map(([area, own]) => ({ module, area, exports: own }));
}

function pagesOf(groups: readonly KitGroup[]): readonly KitPage[] {
  const of = (...modules: readonly string[]) => groups.filter(({ module }) => modules.includes(module));
  const own = of('#connector');
  return [
    {
      path: `${KIT_PATH}-connector`,
      title: 'Kit functions',
      introduction:
        'Functions and types of `#connector` that make the parts of a connector. The page on the contract has the types of these parts.',
      groups: own.filter(({ area }) => area !== CONTRACT),
    },
    {
      path: `${KIT_PATH}-contract`,
      title: 'Contract of connectors',
      introduction: 'Types that a connector implements. All of them are exports of `#connector`.',
      groups: own.filter(({ area }) => area === CONTRACT),
    },
    {
      path: `${KIT_PATH}-simulator`,
      title: 'Simulator kit',
      introduction: 'Exports of `#connector/simulator`, which make the simulator of a provider.',
      groups: of('#connector/simulator'),
    },
    {
      path: `${KIT_PATH}-tests`,
      title: 'Suite and test harness',
      introduction:
        '`#connector/suite` is the suite that every connector passes. `#connector/testing` is the harness for the tests of one connector.',
      groups: of('#connector/suite', '#connector/testing'),
    },
  ];
}

/** Where the declaration of each type is. A name that two modules use for different things has no link. */
function linksTo(pages: readonly KitPage[]): ReadonlyMap<string, string> {
  const found = pages.flatMap(({ path, groups }) =>
    groups.flatMap((group) => group.exports.map(({ name }) => [name, `${path}#${anchorOf(group, name)}`] as const)),
  );
  const counts = Map.groupBy(found, ([name]) => name);
  return new Map(found.filter(([name]) => /^[A-Z]/.test(name) && counts.get(name)?.length === 1));
}

/** Names differ in case only, such as `Fault` and `fault`; browsers find both. */
function anchorOf({ module }: KitGroup, name: string): string {
  const prefix = module.includes('/') ? `${module.slice(module.indexOf('/') + 1)}-` : '';
  return prefix + name;
}

function areaAnchor({ module, area }: KitGroup): string {
  return `area-${anchorOf({ module, area, exports: [] }, area.toLowerCase().replaceAll(' ', '-'))}`;
}

function entryOf({ path, title, groups }: KitPage): NavigationEntry {
  const below = groups.map((group) => ({ href: `${path}#${areaAnchor(group)}`, text: group.area }));
  return { href: path, text: title, below };
}

function printIndex(pages: readonly KitPage[]): string {
  const parts = pages.map(
    (page) =>
      `<h2><a href="${page.path}">${page.title}</a></h2>\n<p>${renderInline(page.introduction)}</p>\n${printTable(page)}`,
  );
  return `<h1>Connector kit</h1>
<p>Everything that a connector, its simulator and its tests may import, made from the doc comments of the source.
<a href="/docs/how-to/write-a-connector">Write a connector</a> shows how the parts work together.</p>
${parts.join('\n')}`;
}

function printTable({ path, groups }: KitPage): string {
  const rows = groups.map((group) => {
    const names = group.exports.map(
      ({ name }) => `<a href="${path}#${anchorOf(group, name)}"><code>${escapeHtml(name)}</code></a>`,
    );
    return `<tr><th scope="row">${escapeHtml(group.area)}</th><td>${names.join(' ')}</td></tr>`;
  });
  return `<table class="exports"><tbody>\n${rows.join('\n')}\n</tbody></table>`;
}

function printPage({ path, title, introduction, groups }: KitPage, links: ReadonlyMap<string, string>): string {
  const parts = groups.map((group) => {
    const exports = group.exports.map((each) => printExport(anchorOf(group, each.name), each, links));
    const heading = when(
      groups.length > 1,
      () => `<h2 id="${areaAnchor(group)}">${escapeHtml(group.area)} <span class="type">${group.module}</span></h2>\n`,
    );
    return heading + exports.join('\n');
  });
  const anchor = when(groups.length === 1, () => groups.map((group) => ` id="${areaAnchor(group)}"`).join(''));
  return `<h1${anchor}>${title}</h1>
<p>${renderInline(introduction)} <a href="${KIT_PATH}">Index of all exports</a></p>
${printTable({ path, title, introduction, groups })}
${parts.join('\n')}`;
}

function printExport(id: string, { name, doc, code }: KitExport, links: ReadonlyMap<string, string>): string {
  return `<section class="export" id="${escapeHtml(id)}"><h3><code>${escapeHtml(name)}</code></h3>
${printDoc(doc)}<pre><code>${printCode(code, name, links)}</code></pre></section>`;
}

const TAGS: Readonly<Record<string, string>> = { throws: 'Throws', returns: 'Returns', param: 'Parameter', see: 'See' };

/** The text, and below it a line for each tag. */
function printDoc(doc: string): string {
  const [text = '', ...tags] = doc.split(/(?:^|\s)@(?=(?:throws|returns|param|see)\b)/);
  const lines = tags.map((tag) => {
    const [, word = '', rest = ''] = /^(\w+)\s*([\s\S]*)$/.exec(tag) ?? [];
    return `<p><strong>${TAGS[word]}</strong> ${renderInline(rest.trim())}</p>\n`;
  });
  return renderMarkdown(text).html + lines.join('');
}

/** Names of other types become links. */
function printCode(code: string, own: string, links: ReadonlyMap<string, string>): string {
  return escapeHtml(code).replaceAll(/\b[A-Z]\w+\b/g, (name) => {
    const href = name === own ? undefined : links.get(name);
    return href === undefined ? name : `<a href="${href}">${name}</a>`;
  });
}
