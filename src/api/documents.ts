import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import document from '../../generated/openapi.json' with { type: 'json' };
import { type KeptResponse, keep } from '../http/kept-response.ts';
import { createShared } from '../http/shared.ts';
import { GUIDE_KINDS } from './docs/paths.ts';
import type { SearchablePage } from './docs/search.ts';

type KeptDocument = () => Promise<KeptResponse>;

const ASSETS_FOLDER = join(import.meta.dirname, 'docs/assets');
/** Where a guide may have been: all of them were in `guides` first, and some have changed their kind since. */
const FORMER_GUIDE = new RegExp(`^/docs/(?:guides|${GUIDE_KINDS.join('|')})/([\\w.-]+)$`);
const ASSETS = ['docs.js', 'docs.css'];
/**
 * Creates the documents about the service itself. They are built on their first request.
 * @param connectorFolders folders of all connectors, whose READMEs are part of the documentation
 */
export function createDocuments(publicUrl: () => string, connectorFolders: readonly string[]) {
  const site = createShared(async () => {
    // Loaded with the first page: a start needs none of it.
    const { createDocsSite } = await import('./docs/pages.ts');
    const { pages, searchable } = await createDocsSite(document, connectorFolders);
    const kept = new Map(
      [...pages].map(([path, { html, contentSecurityPolicy }]) => [
        path,
        keep('.html', html, { 'Content-Security-Policy': contentSecurityPolicy }),
      ]),
    );
    return { kept, searchable };
  });
  const pages = async () => (await site()).kept;
  let json: { readonly url: string; readonly response: KeptResponse } | undefined;
  return {
    /** Returns the OpenAPI document as JSON. It is built again when the public URL changes. */
    json: async () => {
      const url = publicUrl();
      if (json?.url !== url) json = { url, response: keep('.json', JSON.stringify(documentFor(url))) };
      return json.response;
    },
    yaml: createShared(async () => keep('.yaml', await printYaml())),
    /**
     * Returns all pages of the documentation by path. They are built together, because the navigation of each names the
     * others.
     */
    pages,
    /** Returns the path of the guide that was at this path, or undefined. */
    movedTo: async (path: string) => {
      const paths = await pages();
      const name = FORMER_GUIDE.exec(path)?.[1];
      if (name === undefined || paths.has(path)) return undefined;
      return GUIDE_KINDS.map((kind) => `/docs/${kind}/${name}`).find((each) => paths.has(each));
    },
    /** Script, style and search index of the pages, by file name. */
    assets: new Map<string, KeptDocument>([
      ...ASSETS.map((name) => [name, createShared(() => keepFile(join(ASSETS_FOLDER, name)))] as const),
      // The library that opens the index in the browser is the one that makes it here.
      ['minisearch.js', createShared(() => keepFile(fileURLToPath(import.meta.resolve('minisearch'))))],
      ['search.json', createShared(async () => keep('.json', await printIndex((await site()).searchable)))],
    ]),
  };
}

async function keepFile(file: string): Promise<KeptResponse> {
  return keep(extname(file), await readFile(file, 'utf8'));
}

async function printIndex(pages: readonly SearchablePage[]): Promise<string> {
  const { createSearchIndex } = await import('./docs/search.ts');
  return createSearchIndex(pages);
}

/** Writes the published YAML, in which the notice about its generation is a comment. */
async function printYaml(): Promise<string> {
  const { dump } = await import('js-yaml');
  const { 'x-generated': notice, ...published } = document;
  return `# ${notice}\n${dump(published, { lineWidth: -1, noRefs: true })}`;
}

/** The document with this service as its server, so that "try it out" in the reference works. */
function documentFor(publicUrl: string) {
  const [server] = document.servers;
  const variables = { publicUrl: { ...server?.variables.publicUrl, default: publicUrl } };
  return { ...document, servers: [{ ...server, variables }] };
}
