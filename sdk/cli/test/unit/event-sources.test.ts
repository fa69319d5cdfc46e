import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type EventSource, eventsWithoutPolls } from '../../src/event-sources.js';

const webhooksOf = (registration: 'automatic' | 'manual'): EventSource => ({
  name: 'Acme',
  webhooks: { signed: true, registration },
});

describe('the events of an instance without polls', () => {
  it('are none where the provider sends no webhooks', () => {
    assert.equal(
      eventsWithoutPolls({ name: 'Acme' }, {}),
      'No change at Acme becomes an event, because the instance has no polls and Acme sends no webhooks. Add --objects <names> to poll for changes.',
    );
  });

  it('are none where the configuration drops webhooks', () => {
    assert.match(
      eventsWithoutPolls(webhooksOf('manual'), { 'event.vendor.type': 'polling' }),
      /^No change at Acme becomes an event, .* its event\.vendor\.type is polling, which drops webhooks\./,
    );
  });

  it('are none where the webhook is not registered, which a setting changes', () => {
    assert.equal(
      eventsWithoutPolls(webhooksOf('automatic'), {}),
      'No change at Acme becomes an event, because the instance has no polls and its webhook is not registered. Add --objects <names> to poll for changes. Or set its event.vendor.type to webhook, which registers the webhook.',
    );
  });

  it('come from the webhook that the service registers', () => {
    assert.equal(
      eventsWithoutPolls(webhooksOf('automatic'), { 'event.vendor.type': 'webhook' }),
      'The instance has no polls. Its events come from the webhook that the service registers at Acme.',
    );
  });

  it('depend on the person who enters the eventUrl', () => {
    assert.equal(
      eventsWithoutPolls(webhooksOf('manual'), {}),
      'The instance has no polls. A change at Acme becomes an event only if somebody has entered the eventUrl of the instance there. Add --objects <names> to poll for changes.',
    );
  });
});
