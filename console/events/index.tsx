import type { PageProps } from '../navigation.ts';
import { Empty } from '../parts/show.tsx';
import { DeliveryList } from './deliveries.tsx';
import { EndpointList } from './endpoints.tsx';
import { Live } from './live.tsx';
import { OperationalEvents } from './operational.tsx';
import { SubscriptionPage } from './subscription.tsx';
import { SubscriptionList } from './subscriptions.tsx';

const TABS = {
  live: 'Live',
  deliveries: 'Deliveries',
  subscriptions: 'Subscriptions',
  endpoints: 'Endpoints',
  operational: 'Operational',
};

/** Shows what is sent to receivers: live, by delivery, and by subscription. */
export function Events({ below = 'live' }: PageProps) {
  const [tab = '', id] = below.split('/');
  return (
    <div class="stack">
      <h1>Events</h1>
      <nav class="tabs" aria-label="Parts of this page">
        {Object.entries(TABS).map(([path, title]) => (
          <a key={path} href={`/console/events/${path}`} aria-current={path === tab ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <Part tab={tab} id={id === undefined || id === '' ? undefined : Number(id)} />
    </div>
  );
}

function Part({ tab, id }: { readonly tab: string; readonly id: number | undefined }) {
  if (Number.isNaN(id)) return <Nothing />;
  if (tab === 'live') return <Live id={id} />;
  if (tab === 'deliveries') return <DeliveryList id={id} />;
  if (tab === 'subscriptions') return id === undefined ? <SubscriptionList /> : <SubscriptionPage key={id} id={id} />;
  if (tab === 'endpoints') return id === undefined ? <EndpointList /> : <SubscriptionPage key={id} id={id} />;
  return tab === 'operational' ? <OperationalEvents /> : <Nothing />;
}

function Nothing() {
  return (
    <Empty title="This page does not exist.">
      <a href="/console/events">Go to the events</a>
    </Empty>
  );
}
