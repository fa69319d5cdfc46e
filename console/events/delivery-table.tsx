import { EventName } from '../parts/event-name.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import type { Delivery } from './calls.ts';
import { DeliveryState } from './states.tsx';

const EVENT: Column<Delivery> = {
  title: 'Event',
  cell: ({ id, event, record }) => <EventName type={event.type} record={record} more={`#${id}`} />,
};
const STATE: Column<Delivery> = { title: 'State', cell: ({ status }) => <DeliveryState status={status} /> };
const MADE: Column<Delivery> = { title: 'Created', cell: ({ createdDate }) => <Time at={createdDate} /> };
const ATTEMPTS: Column<Delivery> = {
  title: 'Attempts',
  isNumber: true,
  isMinor: true,
  cell: ({ attempts }) => attempts,
};
const RECEIVER: Column<Delivery> = {
  title: 'Receiver',
  isMinor: true,
  cell: ({ config, subscriptionId }) => (
    <a class="clip even" title={config.url} href={`/console/events/subscriptions/${subscriptionId}`}>
      {config.url}
    </a>
  ),
};
const INSTANCE: Column<Delivery> = {
  title: 'Instance',
  isMinor: true,
  cell: ({ instance }) =>
    instance === undefined ? (
      <span class="soft">–</span>
    ) : (
      <a href={`/console/instances/${instance.id}`}>#{instance.id}</a>
    ),
};
const NEXT: Column<Delivery> = {
  title: 'Next attempt',
  isMinor: true,
  cell: ({ nextAttemptDate }) => <Time at={nextAttemptDate} />,
};
const ERROR: Column<Delivery> = {
  title: 'Last error',
  isMinor: true,
  cell: ({ lastError }) => (
    <span class="clip even soft" title={lastError}>
      {lastError ?? '–'}
    </span>
  ),
};

const COLUMNS = [EVENT, STATE, ATTEMPTS, RECEIVER, INSTANCE, MADE, NEXT, ERROR];
const COLUMNS_OF_ONE_RECEIVER = [EVENT, STATE, ATTEMPTS, INSTANCE, MADE, NEXT, ERROR];

interface DeliveryTableProps {
  readonly label: string;
  readonly rows: readonly Delivery[];
  readonly linkOf: (delivery: Delivery) => string;
  readonly markOf?: (delivery: Delivery) => string | undefined;
  readonly isOfOneReceiver?: boolean;
}

export function DeliveryTable({ isOfOneReceiver = false, ...table }: DeliveryTableProps) {
  return <Table {...table} columns={isOfOneReceiver ? COLUMNS_OF_ONE_RECEIVER : COLUMNS} keyOf={({ id }) => id} />;
}
