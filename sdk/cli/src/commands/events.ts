import type { Delivery, RedeliveryPeriod } from '@causeway/client';
import { type AddCommands, wholeNumber } from '../command.js';
import { CAUSEWAY } from '../command-name.js';
import { UsageError } from '../failures.js';
import { first } from '../limit.js';
import type { Session } from '../session.js';
import { timeOf } from '../times.js';
import { addListen } from './listen.js';

interface ListOptions {
  readonly where?: string;
  readonly limit: number;
}

interface RedeliverOptions {
  readonly since?: string;
  readonly until?: string;
  readonly subscription?: number;
  readonly status?: string;
}

const STATUSES = ['queued', 'delivering', 'retrying', 'delivered'] as const;

export const addEvents: AddCommands = (program, run) => {
  const events = program.command('events').description('receive events, list deliveries, and send events again');
  addListen(events, run);
  events
    .command('list')
    .description('list the deliveries of the account, the oldest first')
    .option('--where <filter>', "such as: status = 'retrying' AND event.type = 'employees.updated'")
    .option('-n, --limit <count>', 'maximum number of entries', wholeNumber, 50)
    .action(run(list));
  events
    .command('redeliver')
    .argument('[delivery]', `the id of a delivery, see ${CAUSEWAY} events list`, wholeNumber)
    .option('--since <time>', 'deliveries created since a time, or an age such as 30m, 2h, 7d')
    .option('--until <time>', 'deliveries created before a time, or an age (default: now)')
    .option('--subscription <id>', 'only deliveries of this subscription', wholeNumber)
    .option('--status <status>', `only deliveries with this status: ${STATUSES.join(', ')}`)
    .description('send an event again, or all events of a period')
    .action(run(redeliver));
};

async function list(session: Session, { where, limit }: ListOptions): Promise<void> {
  const platform = await session.platform();
  const query = {
    pageSize: Math.min(limit, 200),
    hydrate: session.output.format !== 'table',
    ...(where !== undefined && { where }),
  };
  const deliveries = platform.all((page) =>
    platform.notifications.listDeliveriesRaw({ ...query, ...page }, { signal: session.signal }),
  );
  await session.output.list(first(limit, deliveries), {
    id: ({ id }) => id,
    event: ({ event }) => event.type,
    status: ({ status }) => status,
    attempts: ({ attempts }) => attempts,
    created: ({ createdDate }) => createdDate,
    to: ({ config }) => config.url,
    'last error': ({ lastError }) => lastError,
  });
}

async function redeliver(session: Session, id: number | undefined, options: RedeliverOptions): Promise<void> {
  const period = options.since ?? options.until ?? options.subscription ?? options.status;
  if ((id === undefined) === (period === undefined)) {
    throw new UsageError(
      `Add the id of a delivery, or a period: ${CAUSEWAY} events redeliver 12, ${CAUSEWAY} events redeliver --since 2h`,
    );
  }
  const platform = await session.platform();
  const { signal, output } = session;
  if (id !== undefined) {
    const delivery = await platform.notifications.redeliver({ id }, { signal });
    await output.one(delivery, () => `Sent again: ${describe(delivery)}.`);
    return;
  }
  const sent = await platform.notifications.redeliverPeriod({ redeliveryPeriod: periodOf(options) }, { signal });
  await output.one(sent, () => `Sent again: ${Object.values(sent).join(', ')} events.`);
}

function periodOf({ since, until, subscription, status }: RedeliverOptions): RedeliveryPeriod {
  if (since === undefined) throw new UsageError('--since is missing. Add the start of the period, such as --since 2h.');
  const named = STATUSES.find((known) => known === status);
  if (status !== undefined && named === undefined) {
    throw new UsageError(`Unknown status '${status}'. Use one of ${STATUSES.join(', ')}.`);
  }
  const now = Date.now();
  return {
    from: timeOf(since, now),
    to: until === undefined ? new Date(now).toISOString() : timeOf(until, now),
    ...(subscription !== undefined && { subscriptionId: subscription }),
    ...(named !== undefined && { status: named }),
  };
}

function describe({ id, event, config }: Delivery): string {
  return `${event.type} as the delivery ${id} to ${config.url}`;
}
