import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { marked } from 'marked';
import type { DocsPage } from './docs-page.ts';
import { createPage } from './page.ts';

const ROOT = join(import.meta.dirname, '../..');

let page: Promise<DocsPage> | undefined;

/** The query language as a page, made once from docs/where.md and the generated table of what each provider answers itself. */
export function queryPage(): Promise<DocsPage> {
  page ??= makePage();
  return page;
}

async function makePage(): Promise<DocsPage> {
  const files = ['docs/where.md', 'generated/pushdown.md'].map((file) => readFile(join(ROOT, file), 'utf8'));
  const body = await marked.parse((await Promise.all(files)).join('\n'), { gfm: true });
  return createPage({
    title: 'Causeway query language',
    body: `<nav><a href="/docs">API reference</a></nav>\n${body}`,
  });
}
