import type { PageProps } from '../navigation.ts';
import { Empty } from '../parts/show.tsx';
import { Connect } from './connect.tsx';
import { Detail } from './detail.tsx';
import { ElementChoice } from './element-choice.tsx';
import { InstanceList } from './list.tsx';

/** The list, `new`, `new/<key of an element>`, and `<id>` with the part of an instance that is looked at. */
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
