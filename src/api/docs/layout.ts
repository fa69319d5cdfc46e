import { escapeHtml, when } from './html.ts';
import type { Heading } from './markdown.ts';
import { ASSETS_PATH } from './paths.ts';

export interface DocsPage {
  readonly html: string;
  /** The value of the page's `Content-Security-Policy` header. */
  readonly contentSecurityPolicy: string;
}

/** An entry of the side navigation. */
export interface NavigationEntry {
  readonly href: string;
  readonly text: string;
  /** The method of an operation. */
  readonly method?: string;
  /** Headings of the page, listed only on the page itself. */
  readonly below?: readonly NavigationEntry[];
}

/** Returns the entry of a heading on the page of this path. */
export function headingEntry({ id, text }: Heading, path: string): NavigationEntry {
  return { href: `${path}#${id}`, text };
}

export interface NavigationGroup {
  readonly title: string;
  readonly entries: readonly NavigationEntry[];
}

interface PageInput {
  readonly title: string;
  /** The path of the page. */
  readonly path: string;
  /** HTML */
  readonly body: string;
  readonly navigation: readonly NavigationGroup[];
}

/** Everything comes from the service, nothing is inline, and a form cannot be sent but by the script. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Creates a page of the documentation with its navigation. */
export function createDocsPage({ title, path, body, navigation }: PageInput): DocsPage {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Causeway</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${ASSETS_PATH}/docs.css">
<script src="${ASSETS_PATH}/docs.js" defer></script>
</head>
<body>
<header><a class="brand" href="/docs">Causeway</a>
<form id="docs-find" role="search" hidden><input id="docs-search" type="search" placeholder="Search" title="Press / to search" aria-keyshortcuts="/" aria-label="Search the documentation" aria-controls="docs-results" autocomplete="off" spellcheck="false"></form>
<button id="docs-menu" type="button" aria-expanded="false" aria-controls="docs-navigation" hidden>Contents</button></header>
<div id="docs-results" aria-live="polite" hidden></div>
<nav id="docs-navigation" aria-label="Contents">
${navigation.map((group) => printGroup(group, path)).join('\n')}
</nav>
<main>
${body}
</main>
</body>
</html>
`;
  return { html, contentSecurityPolicy: POLICY };
}

function printGroup({ title, entries }: NavigationGroup, path: string): string {
  return `<section><h2>${escapeHtml(title)}</h2>\n${printEntries(entries, path)}</section>`;
}

function printEntries(entries: readonly NavigationEntry[], path: string): string {
  return `<ul>\n${entries.map((entry) => `<li>${printEntry(entry, path)}</li>`).join('\n')}\n</ul>\n`;
}

function printEntry({ href, text, method, below = [] }: NavigationEntry, path: string): string {
  const current = href === path;
  const badge = method === undefined ? '' : `<span class="method ${method}">${method}</span> `;
  const mark = when(current, () => ' aria-current="page"');
  const link = `<a href="${escapeHtml(href)}"${mark}>${badge}${escapeHtml(text)}</a>`;
  return link + when(current && below.length > 0, () => `<div>${printEntries(below, path)}</div>`);
}
