import { useState } from 'preact/hooks';
import { api, ask } from '../api.ts';
import { useLoad } from '../load.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Form } from '../parts/form.tsx';
import { sayNumber } from '../parts/number.ts';
import { ErrorNote } from '../parts/show.tsx';
import { DELIVERY_STATUSES, type DeliveryStatus, type Subscription } from './calls.ts';
import { type Choices, withStatus, writeWhere } from './delivery-filter.ts';
import { Moment, SubscriptionChoice } from './filters.tsx';

const HOUR_MS = 3_600_000;

interface RedeliveryProps {
  readonly subscriptions: readonly Subscription[];
  /** The filter of the list, with which the dialog opens. */
  readonly choices: Choices;
  readonly status: DeliveryStatus | undefined;
  readonly onClose: () => void;
}

/** Redelivers the events of a period. */
export function Redelivery({ subscriptions, choices, status: first, onClose }: RedeliveryProps) {
  const [from, setFrom] = useState(() => choices.from ?? new Date(Date.now() - HOUR_MS).toISOString());
  const [to, setTo] = useState(() => choices.to ?? new Date(Date.now() + 60_000).toISOString());
  const [subscription, setSubscription] = useState(choices.subscription ?? '');
  const [status, setStatus] = useState<DeliveryStatus | undefined>(first);
  const [sent, setSent] = useState<number>();
  const send = async () => {
    const body = { from, to, ...(subscription && { subscriptionId: Number(subscription) }), ...(status && { status }) };
    setSent((await ask(api.POST('/notifications/subscriptions/redeliveries', { body }))).redelivered);
  };
  if (sent !== undefined) return <Sent count={sent} onClose={onClose} />;
  return (
    <Dialog title="Send events again" onClose={onClose}>
      <p>
        The service sends every event whose delivery was created in this period again to each subscription, with the
        same <code>webhook-id</code>. For a deactivated subscription, it queues the events.
      </p>
      <Form
        action="Send again"
        onSubmit={send}
        onCancel={onClose}
        refusal={from === '' || to === '' ? 'Enter a start and an end.' : undefined}
      >
        <div class="filters">
          <Moment label="From" value={from} onChange={setFrom} />
          <Moment label="To (not included)" value={to} onChange={setTo} />
          <SubscriptionChoice
            subscriptions={subscriptions}
            value={subscription}
            onChange={setSubscription}
            none="All subscriptions"
          />
          <label>
            State
            <select
              value={status ?? ''}
              onChange={({ currentTarget: { value } }) => setStatus(DELIVERY_STATUSES.find((each) => each === value))}
            >
              <option value="">Any state</option>
              {DELIVERY_STATUSES.map((each) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
            </select>
          </label>
        </div>
        <Matching where={withStatus(writeWhere({ from, to, subscription }), status)} />
      </Form>
    </Dialog>
  );
}

/** Shows the number of matching deliveries. An event that was delivered twice to a subscription is sent once. */
function Matching({ where }: { readonly where: string | undefined }) {
  const { value, error } = useLoad(
    async (signal) => {
      const params = { query: where === undefined ? {} : { where } };
      const counts = await ask(api.GET('/notifications/subscriptions/deliveries/counts', { signal, params }));
      return DELIVERY_STATUSES.reduce((sum, each) => sum + counts[each], 0);
    },
    [where],
  );
  if (error !== undefined) return <ErrorNote error={error} />;
  const count = value === undefined ? '…' : sayNumber(value);
  return <p class="soft">{value === 1 ? '1 delivery matches.' : `${count} deliveries match.`}</p>;
}

function Sent({ count, onClose }: { readonly count: number; readonly onClose: () => void }) {
  return (
    <Dialog title="Send events again" onClose={onClose}>
      <p role="status">
        {count === 0 && 'No event was sent in this period, so none is sent again.'}
        {count === 1 && '1 event is sent again.'}
        {count > 1 && `${sayNumber(count)} events are sent again.`}
      </p>
      <footer class="row end">
        <button type="button" class="main" onClick={onClose}>
          Close
        </button>
      </footer>
    </Dialog>
  );
}
