import type { ElementDetail } from '@causeway/client';
import type { Settings } from './settings.js';

/** The members of an element that say which changes its instances report without polls. */
export type EventSource = Pick<ElementDetail, 'name' | 'webhooks'>;

const POLL = 'Add --objects <names> to poll for changes.';

/** Says which events an instance without polls receives, and the reason if it receives none. */
export function eventsWithoutPolls({ name, webhooks }: EventSource, configuration: Settings): string {
  const source = configuration['event.vendor.type'];
  const none = (reason: string) =>
    `No change at ${name} becomes an event, because the instance has no polls and ${reason}. ${POLL}`;
  if (webhooks === undefined) return none(`${name} sends no webhooks`);
  if (source === 'polling') return none('its event.vendor.type is polling, which drops webhooks');
  if (webhooks.registration === 'manual') {
    return `The instance has no polls. A change at ${name} becomes an event only if somebody has entered the eventUrl of the instance there. ${POLL}`;
  }
  if (source !== 'webhook') {
    return `${none('its webhook is not registered')} Or set its event.vendor.type to webhook, which registers the webhook.`;
  }
  return `The instance has no polls. Its events come from the webhook that the service registers at ${name}.`;
}
