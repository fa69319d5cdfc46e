import type { PageProps } from '../navigation.ts';
import { Empty } from '../parts/show.tsx';
import { Catalogue } from './catalogue.tsx';
import { DefinitionPage } from './definition.tsx';
import { EditorPage } from './editor.tsx';
import { DefinitionList } from './list.tsx';
import { LIST_PATH, readAddress } from './paths.ts';

/** Shows the list of definitions, the catalogue, a definition with its tabs, or the editor of a transformation. */
export function Mappings({ below }: PageProps) {
  const address = readAddress(below);
  if (address.kind === 'list') return <DefinitionList />;
  if (address.kind === 'catalogue') return <Catalogue />;
  if (address.kind === 'definition') return <DefinitionPage key={address.name} name={address.name} tab={address.tab} />;
  if (address.kind === 'editor') return <EditorPage key={below} name={address.name} target={address.target} />;
  return (
    <Empty title="This page does not exist.">
      <a href={LIST_PATH}>Go to the mappings</a>
    </Empty>
  );
}
