import type { PageProps } from '../navigation.ts';
import { Empty } from '../parts/show.tsx';
import { ExecutionPage } from './execution.tsx';
import { FormulaPage } from './formula.tsx';
import { InstancePage } from './instance.tsx';
import { FormulaList } from './list.tsx';
import { LIST_PATH, readPlace } from './paths.ts';

/** Shows the list of formulas, a formula with its tabs, a formula instance, or an execution. */
export function Formulas({ below }: PageProps) {
  const place = readPlace(below);
  if (place.kind === 'list') return <FormulaList />;
  if (place.kind === 'formula') return <FormulaPage key={place.id} id={place.id} tab={place.tab} />;
  if (place.kind === 'instance') return <InstancePage key={place.id} id={place.id} />;
  if (place.kind === 'execution') return <ExecutionPage key={place.id} id={place.id} />;
  return (
    <Empty title="This page does not exist.">
      <a href={LIST_PATH}>Go to the formulas</a>
    </Empty>
  );
}
