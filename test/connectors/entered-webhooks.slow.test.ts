import { expect } from 'chai';
import { loggedIn } from '#connector/suite';
import * as dynamics from '../../connectors/dynamics/simulator.ts';
import * as hubspot from '../../connectors/hubspot/simulator.ts';
import * as intercom from '../../connectors/intercom/simulator.ts';
import * as jira from '../../connectors/jira/simulator.ts';
import * as notion from '../../connectors/notion/simulator.ts';
import * as odata from '../../connectors/odata/simulator.ts';
import * as redmine from '../../connectors/redmine/simulator.ts';
import * as requesttracker from '../../connectors/requesttracker/simulator.ts';
import * as salesforce from '../../connectors/salesforce/simulator.ts';
import * as servicenow from '../../connectors/servicenow/simulator.ts';
import * as slack from '../../connectors/slack/simulator.ts';
import * as xero from '../../connectors/xero/simulator.ts';
import { QUICK, useReceiver } from '../api/events/receiving.ts';
import { post } from '../api/events/shop.ts';
import { type ApiAnswer, useApp } from '../support/app.ts';
import { until } from '../support/until.ts';

const SECRET_KEY = 'webhook.secret';
const SECRET = 'what-the-instance-and-the-provider-know';
const JSON_TYPE = { 'content-type': 'application/json' };

interface Sender {
  readonly key: string;
  readonly configuration: object;
  /** Whether calls are not signed. */
  readonly isUnsigned?: true;
  /** Whether the provider also signs the address, so that a copy for another address is forged. */
  readonly signsUrl?: true;
  /** The name of a table for `POST /simulate/changes`. */
  readonly table: string;
  /** The name of its object. Default: that of the table. */
  readonly objectName?: string;
  /** What the webhook says of each change. Absent: it says nothing of it. Default: it tells of all three. */
  readonly told?: Readonly<Partial<Record<'create' | 'update' | 'remove', string>>>;
}

const CHANGED = { create: 'created', update: 'updated' };
const SENDERS: readonly Sender[] = [
  {
    key: 'salesforce',
    isUnsigned: true,
    configuration: {
      ...salesforce.DEMO_CONFIGURATION,
      ...loggedIn(salesforce.DEMO_ACCESS_TOKEN, salesforce.CLIENTS),
    },
    table: 'Account',
    told: CHANGED,
  },
  {
    key: 'servicenow',
    configuration: servicenow.DEMO_CONFIGURATION,
    table: 'incident',
  },
  {
    key: 'servicenowoauth',
    configuration: {
      'company.name': servicenow.INSTANCE,
      ...loggedIn(servicenow.DEMO_ACCESS_TOKEN, servicenow.CLIENTS),
    },
    table: 'problem',
  },
  {
    key: 'dynamics',
    configuration: { ...dynamics.DEMO_CONFIGURATION, ...loggedIn(dynamics.DEMO_ACCESS_TOKEN, dynamics.CLIENTS) },
    table: 'account',
  },
  {
    key: 'hubspot',
    configuration: { ...hubspot.DEMO_CONFIGURATION, ...loggedIn(hubspot.DEMO_ACCESS_TOKEN, hubspot.CLIENTS) },
    signsUrl: true,
    table: 'deals',
  },
  {
    key: 'intercom',
    configuration: loggedIn(intercom.DEMO_ACCESS_TOKEN, intercom.CLIENTS),
    table: 'contacts',
  },
  {
    key: 'notion',
    configuration: loggedIn(notion.DEMO_ACCESS_TOKEN, notion.CLIENTS),
    table: 'tasks',
    objectName: 'pages',
  },
  {
    key: 'xero',
    configuration: loggedIn(xero.DEMO_ACCESS_TOKEN, xero.CLIENTS),
    table: 'invoices',
    told: CHANGED,
  },
  {
    key: 'slack',
    configuration: loggedIn(slack.DEMO_ACCESS_TOKEN, slack.CLIENTS),
    table: 'files',
  },
  {
    key: 'jira',
    configuration: jira.DEMO_CONFIGURATION,
    table: 'issues',
  },
  {
    key: 'redmine',
    configuration: redmine.DEMO_CONFIGURATION,
    table: 'issues',
  },
  {
    key: 'odata',
    configuration: odata.DEMO_CONFIGURATION,
    table: 'Products',
  },
  {
    key: 'requesttracker',
    configuration: requesttracker.DEMO_CONFIGURATION,
    table: 'tickets',
  },
];

describe('webhooks of providers where people enter the address', () => {
  const service = useApp({}, { engineOptions: QUICK });
  const receiver = useReceiver();

  const command = (key: string, path: string, body: object) =>
    post(`${service.app.simulatorsUrl}/${key}/simulate/${path}`, JSON.stringify(body), JSON_TYPE);

  const connect = ({ key, configuration, isUnsigned }: Sender, url: string) =>
    service.createInstance(key, {
      ...configuration,
      ...(!isUnsigned && { [SECRET_KEY]: SECRET }),
      ...{ simulator: true, 'event.vendor.type': 'webhook' },
      ...{ 'event.notification.enabled': true, 'event.notification.callback.url': url },
    });

  /** The events of a record that came to the URL, as `<type> <id of the object in it>`. */
  const about = (url: string, objectId: string) =>
    receiver.at(url).filter(({ body }) => String(body.data.objectId) === objectId);

  for (const sender of SENDERS) {
    const { key, isUnsigned, signsUrl, table, objectName = table, told = { ...CHANGED, remove: 'deleted' } } = sender;

    describe(`those of ${key}`, () => {
      let url: string;
      let instance: ApiAnswer['body'];

      before(async () => {
        url = receiver.open(key);
        instance = await connect(sender, url);
      });
      after(() => fetch(`${service.app.simulatorsUrl}/${key}/simulate/webhooks`, { method: 'DELETE' }));

      it('are described by the element', async () => {
        const { body: element } = await service.call(`/elements/${key}`);
        expect([element.webhooks.signed, element.webhooks.registration, element.webhooks.secretKey]).to.deep.equal([
          !isUnsigned,
          'manual',
          isUnsigned ? undefined : SECRET_KEY,
        ]);
        expect(element.webhooks.setup.join(' ')).to.include('`eventUrl`');
        const { body: metadata } = await service.call(`/elements/${key}/metadata`);
        expect(metadata.events.methods).to.deep.equal(['polling', 'webhook']);
      });

      it('become events with the records of the API', async () => {
        await command(key, 'webhooks', { url: instance.eventUrl, secret: SECRET });
        for (const [done, action] of Object.entries(told)) {
          const { body } = await command(key, 'changes', { table, [done]: 1 });
          const [id] = [...body.created, ...body.updated, ...body.removed];
          await until(async () => about(url, id).some(({ body }) => body.type === `${objectName}.${action}`));
          const [event] = about(url, id).filter(({ body }) => body.type === `${objectName}.${action}`);
          if (done === 'remove') {
            expect(event?.body.data).not.to.have.property('object');
            continue;
          }
          const { body: record } = await service.call(`/${objectName}/${id}`, { token: instance.token });
          expect(event?.body.data.object, done).to.deep.equal(record);
        }
      });

      it('count once when they come again, and are refused when others send them', async () => {
        const capture = receiver.open(`capture-${key}`);
        await command(key, 'webhooks', { url: capture, secret: SECRET });
        const seen = receiver.at(url).length;
        await command(key, 'changes', { table, update: 1 });
        await until(async () => receiver.server.requests.some((request) => request.url === new URL(capture).pathname));
        const [sent] = receiver.server.requests.filter((request) => request.url === new URL(capture).pathname);
        const again = (headers: object = {}) => {
          const names = Object.entries({ ...sent?.headers, ...headers }).filter(
            ([name, value]) => value !== undefined && !['host', 'connection', 'content-length'].includes(name),
          );
          return post(instance.eventUrl, sent?.body ?? '', Object.fromEntries(names.map(([n, v]) => [n, String(v)])));
        };
        await until(async () => receiver.at(url).length > seen);
        const count = async () => (await service.call(`/instances/${instance.id}/events`)).body.length;
        const before = await count();
        expect([(await again()).status, await count()]).to.deep.equal([signsUrl ? 401 : 200, before]);
        if (isUnsigned || signsUrl) return;
        const signature = Object.entries(sent?.headers ?? {}).filter(([name]) =>
          /signature|authorization|webhook-key/.test(name),
        );
        expect(signature).not.to.have.length(0);
        for (const [name, value] of signature) {
          expect((await again({ [name]: `${String(value).slice(0, -4)}0000` })).status, name).to.equal(401);
          expect((await again({ [name]: undefined })).status, `without ${name}`).to.equal(401);
        }
        expect(await count()).to.equal(before);
      });
    });
  }

  it('of an organization of Salesforce that is not the own one are refused', async () => {
    const own = { 'identity.url': 'https://login.salesforce.com/id/00D5g0000000099AAA/0055g0000000001AAA' };
    const [sender] = SENDERS;
    if (sender === undefined) throw new Error('There is no Salesforce here.');
    const { eventUrl, id } = await connect(
      { ...sender, configuration: { ...sender.configuration, ...own } },
      receiver.open('stranger'),
    );
    const { body } = salesforce.writeMessage('Account', [{ id: '04l1', row: { Id: '0015g0000000001AAA' } }]);
    const response = await post(eventUrl, body, { 'content-type': 'text/xml' });
    expect([response.status, response.body.message]).to.deep.equal([
      400,
      'The message comes from another Salesforce organization than the instance.',
    ]);
    expect((await service.call(`/instances/${id}/events`)).body).to.deep.equal([]);
  });
});
