import { entryOf, type Guide, readGuides } from './guides.ts';
import { readKitReference } from './kit.ts';
import { createDocsPage, type DocsPage, type NavigationGroup } from './layout.ts';
import type { DocumentPart } from './open-api.ts';
import { renderReference } from './reference.ts';

export const REFERENCE_PATH = '/docs';
export const QUERY_LANGUAGE_PATH = '/docs/reference/where';

/** Every page of the documentation by its path, all with the same navigation. */
export async function createDocsPages(
  document: DocumentPart,
  connectorFolders: readonly string[],
): Promise<ReadonlyMap<string, DocsPage>> {
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
  return new Map([
    ...[...reference.pages, ...kit.pages].map(({ path, title, body }) => page(path, title, body)),
    ...[...guides, ...elements].map(({ path, title, html }: Guide) => page(path, title, html)),
  ]);
}
