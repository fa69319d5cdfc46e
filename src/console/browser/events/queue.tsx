import { useState } from 'preact/hooks';
import { quoteText } from '../../../where/print.ts';
import { api, ask } from '../api.ts';
import { Confirm } from '../parts/confirm.tsx';
import type { Subscription } from './calls.ts';
import { SubscriptionChoice } from './filters.tsx';

const QUEUED = `channel = 'webhook' AND status = 'queued'`;

const ACTS = {
  release: {
    title: 'Release what is queued',
    action: 'Release',
    says: 'Deactivated subscriptions become active, and what is queued is pushed, oldest first, on a fresh schedule of retries.',
    run: (where: string) => ask(api.PUT('/notifications/subscriptions/deliveries', { params: { query: { where } } })),
  },
  acknowledge: {
    title: 'Acknowledge what is queued',
    action: 'Acknowledge',
    says: 'What is queued now is removed and will not be delivered. Do this once you have read and kept it. What is queued meanwhile stays.',
    run: (where: string) =>
      ask(api.DELETE('/notifications/subscriptions/deliveries', { params: { query: { where } } })),
  },
} as const;

interface QueueDialogProps {
  readonly act: keyof typeof ACTS;
  readonly subscriptions: readonly Subscription[];
  /** The id of the one that the list is narrowed to. */
  readonly subscription: string | undefined;
  readonly onClose: () => void;
}

/** Releases or removes what is queued, of all callback URLs or of one. */
export function QueueDialog({ act, subscriptions, subscription: first = '', onClose }: QueueDialogProps) {
  const { title, action, says, run } = ACTS[act];
  const [chosen, setChosen] = useState(first);
  const meant = subscriptions.filter(({ id }) => chosen === '' || String(id) === chosen);
  const queued = meant.reduce((sum, each) => sum + each.queued, 0);
  const url = chosen === '' ? undefined : meant[0]?.config.url;
  const where = url === undefined ? QUEUED : `${QUEUED} AND config.url = ${quoteText(url)}`;
  return (
    <Confirm
      title={title}
      action={action}
      onConfirm={async () => {
        await run(where);
      }}
      onClose={onClose}
    >
      <p>{says}</p>
      <SubscriptionChoice
        subscriptions={subscriptions}
        value={chosen}
        onChange={setChosen}
        none="All subscriptions of the account"
      />
      <p class="strong">
        {queued === 1 ? '1 delivery is queued.' : `${queued.toLocaleString('en')} deliveries are queued.`}
      </p>
    </Confirm>
  );
}
