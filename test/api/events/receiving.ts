import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import type { EngineOptions } from '../../../src/events/options.ts';
import type { ApiAnswer, Client } from '../../support/app.ts';
import { faultsOfEvent, NO_FAULTS } from '../../support/event-schemas.ts';
import {
  type MisbehavingServer,
  type ReceivedRequest,
  startMisbehavingServer,
  status,
} from '../../support/misbehaving-server.ts';
import { useStarted } from '../../support/started.ts';
import { until } from '../../support/until.ts';
import { BAMBOOHR } from '../support/simulated.ts';

const quick = (count: number) => ({
  offsetsMs: Array.from({ length: count }, (_, index) => 20 * (index + 1)),
  shortestIntervalMs: 10,
});

/** A whole schedule in a tenth of a second. */
export const QUICK: Partial<EngineOptions> = {
  schedules: { 5: quick(5), 9: quick(9) },
  breaker: { failures: 5, hardFailures: 3, shortestParkMs: 10, longestParkMs: 20 },
  sweepBackstopMs: 100,
  attemptTimeoutMs: 2_000,
};

/** An event as it came to a receiver. */
export interface ReceivedEvent {
  readonly request: ReceivedRequest;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  readonly body: any;
}

export interface Receiver {
  readonly server: MisbehavingServer;
  /** A URL of its own, which answers 204. */
  readonly open: (name: string) => string;
  readonly fail: (url: string) => void;
  readonly recover: (url: string) => void;
  /** What came to the URL so far. */
  readonly at: (url: string) => readonly ReceivedEvent[];
  readonly waitFor: (url: string, count: number) => Promise<readonly ReceivedEvent[]>;
  readonly close: () => Promise<void>;
}

/** Receives events on the loopback while the tests of the suite that calls this run. */
export function useReceiver(): Receiver {
  return useStarted(startReceiver, ({ close }) => close());
}

/** The body of an original event, which has no `type`, is not of the catalogue. */
function assertDocumented(body: Readonly<Record<string, unknown>>): void {
  if ('type' in body) expect(faultsOfEvent(body), JSON.stringify(body)).to.equal(NO_FAULTS);
}

/** Receives events on the loopback. */
export async function startReceiver(): Promise<Receiver> {
  const server = await startMisbehavingServer();
  const pathOf = (url: string) => new URL(url).pathname;
  const at = (url: string) =>
    server.requests
      .filter((request) => request.url === pathOf(url))
      .map((request) => ({ request, body: JSON.parse(request.body) }));
  return {
    server,
    open: (name) => {
      server.answer(`/${name}`, status(204));
      return `${server.url}/${name}`;
    },
    fail: (url) => server.answer(pathOf(url), status(503)),
    recover: (url) => server.answer(pathOf(url), status(204)),
    at,
    waitFor: async (url, count) => {
      await until(async () => at(url).length >= count);
      const events = at(url);
      for (const { body } of events) assertDocumented(body);
      return events;
    },
    close: server.close,
  };
}

/** By the published package; answers the event. @throws when the signature is not one of the secret */
export function verify({ request }: ReceivedEvent, secret: string): unknown {
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  return new Webhook(secret).verify(request.body, headers);
}

/** An instance whose events go to the URL. */
export function createSource(service: Client, url: string, more: object = {}): Promise<ApiAnswer['body']> {
  return service.createInstance('bamboohr', {
    ...BAMBOOHR,
    'event.notification.enabled': true,
    'event.notification.callback.url': url,
    ...more,
  });
}

/** @returns the id of the event */
export async function sendEvent(service: Client, instanceId: number, data: object = {}): Promise<string> {
  return (await service.change('POST', '/events/test', { instanceId, data })).eventId;
}

/** What is queued of an account, or of one URL. */
export const QUEUED = `channel = 'webhook' AND status = 'queued'`;

export function setPolicy(service: Client, policy: 'retry' | 'queue'): Promise<ApiAnswer> {
  return service.send('PATCH', '/accounts/settings', { 'notification.webhook.failure.policy': policy });
}

/** An instance of a URL whose events are queued, the ids of as many events, and the `where` of their deliveries. The policy of the account stays. */
export async function fillQueue(service: Client, url: string, count: number, configuration: object = {}) {
  const { id } = await createSource(service, url, configuration);
  await setPolicy(service, 'queue');
  const eventIds: string[] = [];
  for (let index = 0; index < count; index++) eventIds.push(await sendEvent(service, id, { index }));
  return { url, id, eventIds, where: `${QUEUED} AND config.url = '${url}'` };
}

export async function findSubscription(service: Client, url: string): Promise<ApiAnswer['body']> {
  const [{ id }] = await service.get('/notifications/subscriptions', { query: { where: `url = '${url}'` } });
  return service.get(`/notifications/subscriptions/${id}`);
}

export const DELIVERIES = '/notifications/subscriptions/deliveries';

export function listDeliveries(service: Client, where: string): Promise<ApiAnswer['body']> {
  return service.get(DELIVERIES, { query: { where } });
}

export async function waitForDeliveries(service: Client, where: string, count: number): Promise<ApiAnswer['body']> {
  await until(async () => (await listDeliveries(service, where)).length >= count);
  return listDeliveries(service, where);
}
