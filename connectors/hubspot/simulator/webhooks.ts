import { createHash } from 'node:crypto';
import { createEnteredWebhooks, type SimulatorOptions, signWebhook, type TableChange } from '#connector/simulator';
import { PORTAL_ID } from './login.ts';

/** The types that webhooks of an application report, with their words in `subscriptionType`. */
const REPORTED: Readonly<Record<string, string>> = {
  ...{ contacts: 'contact', companies: 'company', deals: 'deal' },
  ...{ tickets: 'ticket', products: 'product', line_items: 'line_item' },
};

const APP_ID = 4711;

/** Creates the settings of an application, whose client secret signs. `POST /simulate/webhooks` enters the address with the secret. */
export function createWebhooks(send: SimulatorOptions['send'], now: () => number) {
  const entered = createEnteredWebhooks(send);
  let eventId = 100;

  /** Reports a change as one batch: an event for a creation, for a deletion, or for each property that changed. */
  function report(name: string, change: TableChange): void {
    const word = REPORTED[name];
    if (word === undefined) return;
    const events = eventsOf(change).map(([kind, more]) => ({
      ...{ eventId: eventId++, subscriptionId: 2001, portalId: PORTAL_ID, appId: APP_ID, occurredAt: now() },
      ...{ subscriptionType: `${word}.${kind}`, attemptNumber: 0, objectId: Number(change.key) },
      ...{ changeSource: 'CRM', ...more },
    }));
    if (events.length === 0) return;
    entered.report(({ url, secret }) => {
      const { headers, body } = signWebhook(
        {
          ...{ secret, header: 'x-hubspot-signature-v3', encoding: 'base64' },
          timestamp: { header: 'x-hubspot-request-timestamp', unit: 'milliseconds' },
          signed: (sent) => `POST${sent.url}${sent.body}${sent.timestamp}`,
        },
        events,
        { nowMs: now(), url },
      );
      const first = createHash('sha256')
        .update(secret + body)
        .digest('hex');
      const older = { 'x-hubspot-signature-version': 'v1', 'x-hubspot-signature': first };
      return { body, headers: { ...headers, ...older } };
    });
  }

  return { report, commands: entered.commands };
}

function eventsOf({ before, after }: TableChange): readonly (readonly [kind: string, more: object])[] {
  if (after === undefined) return [['deletion', { changeFlag: 'DELETED' }]];
  if (before === undefined) return [['creation', { changeFlag: 'NEW' }]];
  const changed = Object.keys(after).filter((name) => after[name] !== before[name] && !/lastmodifieddate$/.test(name));
  return changed.map((propertyName) => [
    'propertyChange',
    { propertyName, propertyValue: String(after[propertyName] ?? '') },
  ]);
}
