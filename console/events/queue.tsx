import { useState } from 'preact/hooks';
import { quoteText } from '../../src/where/print.ts';
import { api, ask } from '../api.ts';
import { Confirm } from '../parts/confirm.tsx';
import { sayNumber } from '../parts/number.ts';
import { ErrorNote } from '../parts/show.tsx';
import { type Subscription, useSubscriptions } from './calls.ts';
import { SubscriptionChoice } from './filters.tsx';

const QUEUED = `channel = 'webhook' AND status = 'queued'`;

const ACTS = {
  release: {
    title: 'Release queued deliveries',
    action: 'Release',
    says: 'The service activates deactivated subscriptions and sends the queued deliveries, the oldest first, with a new schedule of retries.',
    run: (where: string) => ask(api.PUT('/notifications/subscriptions/deliveries', { params: { query: { where } } })),
  },
  acknowledge: {
    title: 'Acknowledge queued deliveries',
    action: 'Acknowledge',
    says: 'The service removes the deliveries that are queued now and does not send them. Acknowledge them after you have stored their events. Deliveries that are queued later stay.',
    run: (where: string) =>
      ask(api.DELETE('/notifications/subscriptions/deliveries', { params: { query: { where } } })),
  },
} as const;

interface QueueDialogProps {
  readonly act: keyof typeof ACTS;
  /** Id of the subscription that the list is narrowed to. */
  readonly subscription: string | undefined;
  readonly onClose: () => void;
}

/** Releases or removes the queued deliveries of all subscriptions or of one. */
export function QueueDialog({ act, subscription: first = '', onClose }: QueueDialogProps) {
  const { title, action, says, run } = ACTS[act];
  const [chosen, setChosen] = useState(first);
  const { value: subscriptions = [], error, reload, isLoading } = useSubscriptions();
  const meant = subscriptions.filter(({ id }) => chosen === '' || String(id) === chosen);
  const queued = meant.reduce((sum, each) => sum + each.queued, 0);
  return (
    <Confirm
      title={title}
      action={action}
      onConfirm={async () => {
        await run(chosen === '' ? QUEUED : whereOf(meant[0]));
      }}
      onClose={onClose}
      isHarmless={act === 'release'}
    >
      <p>{says}</p>
      <SubscriptionChoice
        subscriptions={subscriptions}
        value={chosen}
        onChange={setChosen}
        none="All subscriptions of the account"
      />
      <ErrorNote error={error} retry={reload} />
      <p class="strong">{isLoading ? 'Counting…' : sayQueued(queued)}</p>
    </Confirm>
  );
}

/**
 * Returns the filter for the deliveries of a subscription. @throws Error if it is unknown, so that the action never applies to the whole
 * account by mistake
 */
function whereOf(subscription: Subscription | undefined): string {
  if (subscription === undefined) throw new Error('Choose a subscription from the list.');
  return `${QUEUED} AND config.url = ${quoteText(subscription.config.url)}`;
}

function sayQueued(count: number): string {
  return count === 1 ? '1 delivery is queued.' : `${sayNumber(count)} deliveries are queued.`;
}
