import type { PageProps } from '../navigation.ts';
import { Empty } from '../parts/show.tsx';
import { Connect } from './connect.tsx';
import { Detail } from './detail.tsx';
import { ElementChoice } from './element-choice.tsx';
import { InstanceList } from './list.tsx';

/**
 * Shows the list, the choice of an element (`new`), the form of an element (`new/<key>`), or an instance (`<id>` and the name of a tab).
 */
export function Instances({ below = '' }: PageProps) {
  const [first = '', second, third] = below.split('/');
  if (first === '') return <InstanceList />;
  if (first === 'new' && second === undefined) return <ElementChoice />;
  if (first === 'new' && second !== undefined && third === undefined)
    return <Connect key={second} elementKey={second} />;
  if (/^\d+$/.test(first) && third === undefined) return <Detail key={first} id={Number(first)} tab={second} />;
  return (
    <Empty title="This instance does not exist.">
      <a href="/console/instances">Go to the instances</a>
    </Empty>
  );
}
