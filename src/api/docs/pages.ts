import { entryOf, readGuides } from './guides.ts';
import { readKitReference } from './kit.ts';
import { createDocsPage, type DocsPage, type NavigationGroup } from './layout.ts';
import type { DocumentPart } from './open-api.ts';
import { REFERENCE_PATH } from './paths.ts';
import { renderReference } from './reference.ts';
import type { SearchablePage } from './search.ts';

interface DocsSite {
  /** All pages by their path, with the same navigation. */
  readonly pages: ReadonlyMap<string, DocsPage>;
  /** The pages without navigation, for the search. */
  readonly searchable: readonly SearchablePage[];
}

/** Creates the documentation: guides, the references, and a page for each element. */
export async function createDocsSite(document: DocumentPart, connectorFolders: readonly string[]): Promise<DocsSite> {
  const [{ guides, elements }, kit] = await Promise.all([readGuides(connectorFolders), readKitReference()]);
  const reference = renderReference(document, REFERENCE_PATH);
  const ofKind = (kind: string, title: string) => ({
    title,
    entries: guides.filter(({ path }) => path.startsWith(`/docs/${kind}/`)).map(entryOf),
  });
  const navigation: readonly NavigationGroup[] = [
    ofKind('guides', 'Start'),
    ofKind('tutorials', 'Tutorials'),
    ofKind('how-to', 'How-to'),
    ofKind('reference', 'Reference'),
    { title: 'Connector kit', entries: kit.entries },
    { title: 'API', entries: reference.entries },
    ofKind('explanation', 'Explanation'),
    { title: 'Elements', entries: elements.map(entryOf) },
  ];
  const page = (path: string, title: string, body: string) =>
    [path, createDocsPage({ path, title, body, navigation })] as const;
  const searchable = [
    ...reference.pages,
    ...kit.pages,
    ...[...guides, ...elements].map(({ path, title, html }) => ({ path, title, body: html })),
  ];
  return { pages: new Map(searchable.map(({ path, title, body }) => page(path, title, body))), searchable };
}
