import type { PageProps } from '../navigation.ts';
import { Empty } from '../parts/show.tsx';
import { ProxyDetail } from './detail.tsx';
import { ProxyList } from './list.tsx';
import { NewProxy } from './new.tsx';

/** Shows the list, the form for a new proxy (`new`), or one proxy (`<id>`). */
export function Proxies({ below = '' }: PageProps) {
  if (below === '') return <ProxyList />;
  if (below === 'new') return <NewProxy />;
  if (/^\d+$/.test(below)) return <ProxyDetail key={below} id={Number(below)} />;
  return (
    <Empty title="This proxy does not exist.">
      <a href="/console/proxies">Go to the proxies</a>
    </Empty>
  );
}
