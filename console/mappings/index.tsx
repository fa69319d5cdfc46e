import type { PageProps } from '../navigation.ts';
import { Empty } from '../parts/show.tsx';
import { Catalogue } from './catalogue.tsx';
import { DefinitionPage } from './definition.tsx';
import { EditorPage } from './editor.tsx';
import { DefinitionList } from './list.tsx';
import { LIST_PATH, readPlace } from './paths.ts';

/** The definitions, the catalogue, a definition by its parts, and the editor of a transformation. */
export function Mappings({ below }: PageProps) {
  const place = readPlace(below);
  if (place.kind === 'list') return <DefinitionList />;
  if (place.kind === 'catalogue') return <Catalogue />;
  if (place.kind === 'definition') return <DefinitionPage key={place.name} name={place.name} tab={place.tab} />;
  if (place.kind === 'editor') return <EditorPage key={below} name={place.name} target={place.target} />;
  return (
    <Empty title="This page does not exist.">
      <a href={LIST_PATH}>Go to the mappings</a>
    </Empty>
  );
}
