import { expect } from 'chai';
import type { SentWebhook } from '#connector';
import { type CreateSimulator, serveSimulator } from '#connector/testing';
import * as github from '../../connectors/github/simulator.ts';
import * as keap from '../../connectors/keap/simulator.ts';
import * as pipedrive from '../../connectors/pipedrive/simulator.ts';
import * as shopify from '../../connectors/shopify/simulator.ts';
import * as stripe from '../../connectors/stripe/simulator.ts';
import * as zendesk from '../../connectors/zendesk/simulator.ts';
import * as zohocrm from '../../connectors/zohocrm/simulator.ts';

const URL = 'https://app.example.com/hook';

interface Case {
  readonly createSimulator: CreateSimulator;
  readonly headers: Readonly<Record<string, string>>;
  readonly path: string;
  /** The body that registers `URL`. */
  readonly body: object;
  /** The table whose changes the webhook reports. */
  readonly table: string;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const CASES: Readonly<Record<string, Case>> = {
  github: {
    ...{ ...github, headers: bearer(github.DEMO_ACCESS_TOKEN), path: '/orgs/octo-org/hooks', table: 'issues' },
    body: { name: 'web', config: { url: URL, content_type: 'json' }, events: ['issues'] },
  },
  keap: {
    ...{ ...keap, headers: bearer(keap.DEMO_ACCESS_TOKEN), path: '/crm/rest/v1/hooks', table: 'contacts' },
    body: { eventKey: 'contact.edit', hookUrl: URL },
  },
  pipedrive: {
    ...{ ...pipedrive, headers: bearer(pipedrive.DEMO_ACCESS_TOKEN), path: '/v1/webhooks', table: 'deals' },
    body: { name: 'x', subscription_url: URL, event_action: '*', event_object: 'deal', version: '2.0' },
  },
  shopify: {
    ...{ ...shopify, headers: { 'x-shopify-access-token': shopify.DEMO_ACCESS_TOKEN } },
    ...{ path: '/admin/api/2026-07/graphql.json', table: 'customers' },
    body: {
      query: `mutation { webhookSubscriptionCreate(topic: CUSTOMERS_UPDATE, webhookSubscription: { uri: "${URL}" }) { userErrors { message } } }`,
    },
  },
  stripe: {
    ...{ ...stripe, headers: bearer(stripe.DEMO_SECRET_KEY), path: '/v1/webhook_endpoints', table: 'customers' },
    body: new URLSearchParams([
      ['url', URL],
      ['enabled_events[]', '*'],
    ]),
  },
  zendesk: {
    ...{ ...zendesk, headers: bearer(zendesk.DEMO_ACCESS_TOKEN), path: '/api/v2/webhooks', table: 'users' },
    body: {
      webhook: {
        ...{ name: 'x', endpoint: URL, http_method: 'POST', request_format: 'json', status: 'active' },
        subscriptions: ['zen:event-type:user.*'],
      },
    },
  },
  zohocrm: {
    ...{ ...zohocrm, headers: { authorization: `Zoho-oauthtoken ${zohocrm.DEMO_ACCESS_TOKEN}` } },
    ...{ path: '/crm/v8/actions/watch', table: 'Leads' },
    body: {
      watch: [{ channel_id: 1, events: ['Leads.all'], notify_url: URL, channel_expiry: '2099-01-01T00:00:00+00:00' }],
    },
  },
};

describe('the webhook that a client registered at a simulator', () => {
  for (const [key, { createSimulator, headers, path, body, table }] of Object.entries(CASES)) {
    it(`is still sent after a restart, of ${key}`, async () => {
      const sent: SentWebhook[] = [];
      const held: { value?: unknown } = {};
      const memory = {
        load: () => held.value,
        save: (value: unknown) => Object.assign(held, { value: structuredClone(value) }),
      };
      const send = (webhook: SentWebhook) => void sent.push(webhook);
      const served = await serveSimulator(key, (options) => createSimulator({ ...options, memory, send }));
      try {
        const isForm = body instanceof URLSearchParams;
        const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
        const registered = await fetch(served.url + path, {
          ...{ method: 'POST', headers: { ...headers, 'content-type': type } },
          body: isForm ? body.toString() : JSON.stringify(body),
        });
        expect(registered.status, await registered.text()).to.be.within(200, 201);
        served.reset();
        sent.length = 0;
        await served.command('/simulate/changes', { table, update: 1 });
        expect(sent.map(({ url }) => url)).to.deep.equal([URL]);
      } finally {
        await served.stop();
      }
    });
  }
});
