import { expect } from 'chai';
import { CLIENTS as BOX } from '../../connectors/box/simulator.ts';
import { CLIENTS as CLOVER, MERCHANT_ID } from '../../connectors/clover/simulator.ts';
import { CLIENTS as CONCUR, GEOLOCATION } from '../../connectors/concur/simulator.ts';
import { CLIENTS as FORTNOX } from '../../connectors/fortnoxoauth/simulator.ts';
import { CLIENTS as GOOGLE_DRIVE } from '../../connectors/googledrive/simulator.ts';
import { CLIENTS as QUICKBOOKS, REALM_ID } from '../../connectors/quickbooks/simulator.ts';
import { DEMO_CONFIGURATION } from '../../connectors/servicenow/simulator.ts';
import { CLIENTS as SERVICENOW } from '../../connectors/servicenowoauth/simulator.ts';
import { CLIENTS as SHOPIFY } from '../../connectors/shopify/simulator.ts';
import { CLIENTS as SLACK } from '../../connectors/slack/simulator.ts';
import { CLIENTS as ZENDESK } from '../../connectors/zendesk/simulator.ts';
import { CLIENTS as ZOHO } from '../../connectors/zohocrm/simulator.ts';

import { faultsOf } from '../api/support/expect-problem.ts';
import { withDatabase } from '../api/support/tenants.ts';
import { type ApiCall, useApp } from '../support/app.ts';
import { CALLBACK_URL, CLIENT_ID, simulatedProvider } from './support/simulated-provider.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

describe('an instance by the login of', () => {
  const service = useApp();
  const box = simulatedProvider(service, 'box', BOX);
  const clover = simulatedProvider(service, 'clover', CLOVER, { merchantId: MERCHANT_ID });
  const concur = simulatedProvider(service, 'concur', CONCUR);
  const fortnox = simulatedProvider(service, 'fortnoxoauth', FORTNOX);
  const googledrive = simulatedProvider(service, 'googledrive', GOOGLE_DRIVE);
  const quickbooks = simulatedProvider(service, 'quickbooks', QUICKBOOKS);
  const servicenow = simulatedProvider(service, 'servicenowoauth', SERVICENOW);
  const slack = simulatedProvider(service, 'slack', SLACK);
  const shopify = simulatedProvider(service, 'shopify', SHOPIFY);
  const zendesk = simulatedProvider(service, 'zendesk', ZENDESK);
  const zoho = simulatedProvider(service, 'zohocrm', ZOHO);
  const HOST = { siteAddress: 'demo.service-now.com' };

  /** @returns the body of an answer that must be 200 */
  async function answerOf(token: string, path: string, call: ApiCall = {}) {
    const { status, body } = await service.call(path, { token, ...call });
    expect(status, `${path}: ${JSON.stringify(body)}`).to.equal(200);
    return body;
  }
  const list = (token: string, path: string, query: ApiCall['query'] = { pageSize: 1 }) =>
    answerOf(token, path, { query });

  const LIVES = [
    { name: 'Shopify', provider: shopify, path: '/orders', lifeMs: HOUR_MS, query: { siteAddress: 'demo' } },
    { name: 'Zendesk', provider: zendesk, path: '/tickets', lifeMs: 30 * MINUTE_MS, query: { siteAddress: 'demo' } },
    { name: 'Zoho CRM', provider: zoho, path: '/leads', lifeMs: HOUR_MS, query: { siteAddress: 'com' } },
    { name: 'Box, whose tokens are good once,', provider: box, path: '/folders/0', lifeMs: HOUR_MS },
    { name: 'SAP Concur, at the data center of its token,', provider: concur, path: '/reports', lifeMs: HOUR_MS },
    { name: 'Fortnox', provider: fortnox, path: '/hubs/erp/invoices', lifeMs: HOUR_MS },
    {
      name: 'QuickBooks, whose refresh token changes by itself,',
      provider: quickbooks,
      path: '/items',
      lifeMs: DAY_MS,
    },
    { name: 'Clover, by another address,', provider: clover, path: '/items', lifeMs: 30 * MINUTE_MS },
    {
      name: 'ServiceNow',
      provider: servicenow,
      path: '/hubs/helpdesk/incidents',
      lifeMs: 30 * MINUTE_MS,
      query: HOST,
    },
    { name: 'Google Drive', provider: googledrive, path: '/hubs/documents/files', lifeMs: HOUR_MS },
    {
      name: 'Slack, whose apps may rotate tokens,',
      provider: slack,
      path: '/hubs/messaging/channels',
      lifeMs: 12 * HOUR_MS,
    },
  ];
  for (const { name, provider, path, lifeMs, query } of LIVES) {
    it(`${name} outlives three access tokens`, async () => {
      const { token } = await provider.connect(query);
      for (let round = 1; round <= 3; round++) {
        await list(token, path, path === '/folders/0' ? {} : undefined);
        await provider.moveClock(lifeMs + 1000);
      }
      await list(token, path, path === '/folders/0' ? {} : undefined);
    });
  }

  const ENDS = [
    { name: 'Fortnox', provider: fortnox, path: '/customers', days: 46, words: 'Invalid refresh token' },
    { name: 'ServiceNow', provider: servicenow, path: '/incidents', days: 101, words: '', query: HOST },
  ];
  for (const { name, provider, path, days, words, query } of ENDS) {
    it(`${name} says that somebody must log in when ${days} days have gone by`, async () => {
      const { id, token } = await provider.connect(query);
      await provider.moveClock(days * DAY_MS);
      const { status, body } = await service.call(path, { token });
      expect([status, body.code], JSON.stringify(body)).to.deep.equal([424, 'INSTANCE_CREDENTIALS_FAILED']);
      expect(body.message).to.include('Authenticate it again').and.include(words);
      expect((await service.call(`/instances/${id}`)).body.valid).to.equal(false);
    });
  }

  const configurationOf = async (id: number) => (await service.call(`/instances/${id}`)).body.configuration;

  describe('Box', () => {
    let token: string;
    before(async () => {
      ({ token } = await box.connect());
    });

    it('is searched by words, folders, days and tags, with a where beside them', async () => {
      const words = { text: 'report', startDate: '2024-01-01', endDate: '2026-12-31' };
      const found = await list(token, '/hubs/documents/search', { ...words, where: "type = 'folder' AND size > 0" });
      expect(found.length).to.be.greaterThan(0);
      for (const { type, size } of found) expect([type, size > 0]).to.deep.equal(['folder', true]);
      const [{ name, id }] = found.filter(({ parent }: { parent: { id: string } }) => parent.id === '0');
      const idsOf = (rows: readonly { readonly id: string }[]) => rows.map((each) => each.id);
      const below = idsOf(await list(token, '/search', { path: `/${name}` }));
      expect(below).to.include.members(idsOf(await list(token, `/folders/${id}/items`, {})));
      const tagged = await list(token, '/search', { ...words, 'tags[]': 'approved' });
      expect(tagged.length).to.be.greaterThan(0);
      for (const each of tagged) expect(each.tag_names).to.include('approved');
    });

    it('is refused precisely', async () => {
      const refusals = [
        [{ startDate: 'soon' }, 400, 'a date-time'],
        [{ path: '/No such folder' }, 404, "its part 'No such folder' does not exist"],
        [{ where: "updated_at > '2026-01-01'" }, 400, 'updated_at'],
      ] as const;
      for (const [query, status, words] of refusals) {
        const response = await service.call('/search', { token, query });
        expect(response.status, JSON.stringify(response.body)).to.equal(status);
        expect(JSON.stringify(response.body)).to.include(words);
      }
    });
  });

  describe('Clover', () => {
    it('is of the region that the login was asked for', async () => {
      const hosts = {
        '': 'www.clover.com',
        la: 'www.la.clover.com',
        'https://www.eu.clover.com/': 'www.eu.clover.com',
      };
      for (const [site, host] of Object.entries(hosts)) {
        const url = await clover.urlFor({ simulator: 'false', ...(site !== '' && { siteAddress: site }) });
        expect(new URL(url).host).to.equal(host);
      }
      const { id, token } = await clover.connect({ siteAddress: 'eu', state: 'simulated' });
      expect(await configurationOf(id)).to.include({ 'clover.region': 'eu' });
      await list(token, '/items');
    });

    it('has an access token that ends when the answer says so', async () => {
      await clover.moveClock(DAY_MS);
      const { id } = await clover.connect({ state: 'of an hour' });
      const { rows } = await withDatabase(service, (knex) =>
        knex.raw(
          'select extract(epoch from access_expires_at - now()) as seconds from oauth_token where instance_id = ?',
          [id],
        ),
      );
      expect(Number(rows[0].seconds)).to.be.within(29 * 60, 30 * 60);
    });
  });

  describe('SAP Concur', () => {
    it('has reports below its hub, by fields and by what is true of their entries', async () => {
      const { token, id } = await concur.connect();
      expect(await configurationOf(id)).to.include({ geolocation: GEOLOCATION });
      const where = "approvalStatusCode IN ('A_APPR', 'A_PEND') AND lastModifiedDate >= '2024-06-01T00:00:00Z'";
      const own = await list(token, '/hubs/expense/reports', { where });
      const all = await list(token, '/hubs/expense/reports', { where: `${where} AND user = 'ALL' AND hasVAT = TRUE` });
      expect([own.length, all.length].every((count) => count > 0)).to.equal(true);
      for (const { reportID } of await list(token, `/reports/${own[0].id}/entries`, { where: 'hasVAT = TRUE' }))
        expect(reportID).to.equal(own[0].id);
      const refused = await service.call('/reports', { token, query: { where: "approvalStatus = 'A_APPR'" } });
      expect(refused.status).to.equal(400);
      expect(JSON.stringify(refused.body)).to.include("'approvalStatus'").and.to.include('approvalStatusCode');
    });
  });

  describe('Fortnox', () => {
    it('logs in at the page that Fortnox documents, with a state of its own where the caller has none', async () => {
      const parametersOf = async (query = {}) => {
        const { origin, pathname, searchParams } = new URL(await fortnox.urlFor({ simulator: 'false', ...query }));
        return { address: origin + pathname, ...Object.fromEntries(searchParams) };
      };
      const { state, ...parameters }: Record<string, string> = await parametersOf();
      expect(state).to.match(/^[\w-]{43}$/);
      expect(parameters).to.deep.equal({
        address: 'https://apps.fortnox.se/oauth-v1/auth',
        response_type: 'code',
        client_id: CLIENT_ID,
        redirect_uri: CALLBACK_URL,
        scope: 'customer supplier article order invoice',
        access_type: 'offline',
      });
      expect(await parametersOf())
        .to.have.property('state')
        .that.does.not.equal(state);
      expect(await parametersOf({ state: 'mine' })).to.include({ state: 'mine' });
    });

    it('is made of the code alone, and with the state that came along', async () => {
      for (const query of [{}, { state: 'mine' }]) {
        const { code, state } = await fortnox.authorize(query);
        const { token } = await fortnox.create({ code });
        expect((await answerOf(token, '/customers/1')).CustomerNumber).to.equal('1');
        expect(state).to.have.length.above(0);
      }
      expect((await fortnox.connect()).valid).to.equal(true);
    });
  });

  describe('QuickBooks', () => {
    it('is of the company that came with the callback, and of none without one', async () => {
      const { code, realmId } = await quickbooks.authorize();
      expect(realmId).to.equal(REALM_ID);
      const { token, id } = await quickbooks.create({ code, realmId });
      expect(await configurationOf(id)).to.include({ realmId: REALM_ID, 'quickbooks.sandbox': false });
      await list(token, '/customers');
      const again = await quickbooks.authorize();
      const refused = await quickbooks.post({ code: again.code });
      expect(refused.status).to.equal(400);
      expect(faultsOf(refused)).to.have.keys('body.providerData.realmId');
    });

    it('is not valid when the company was disconnected, until somebody connects it again', async () => {
      const { token, id } = await quickbooks.connect();
      await list(token, '/items');
      await fetch(`${service.app.simulatorsUrl}/quickbooks/simulate/disconnect`, { method: 'POST' });
      const { status, body } = await service.call('/items', { token, query: { pageSize: 1 } });
      expect([status, body.code], JSON.stringify(body)).to.deep.equal([424, 'INSTANCE_CREDENTIALS_FAILED']);
      expect(body.providerMessage).to.match(/ApplicationAuthorizationFailed.*\(QuickBooks error 3100\)/);
      expect((await service.call(`/instances/${id}`)).body.valid).to.equal(false);
      const providerData = await quickbooks.authorize();
      const again = await service.call(`/instances/${id}`, { method: 'PATCH', body: { providerData } });
      expect([again.status, again.body.valid], JSON.stringify(again.body)).to.deep.equal([200, true]);
      await list(token, '/items');
    });

    it('answers estimates, invoices and the like as PDF to those who ask for it, and as records to others', async () => {
      const { token } = await quickbooks.connect();
      const headers = { accept: 'application/pdf' };
      for (const name of ['estimates', 'invoices', 'sales-receipts', 'payments']) {
        const file = await service.call(`/${name}/1`, { token, headers });
        expect([file.status, file.headers.get('content-type')], name).to.deep.equal([200, 'application/pdf']);
        expect((await answerOf(token, `/${name}/1`)).Id).to.equal('1');
        expect((await service.call(`/${name}/999`, { token, headers })).status, name).to.equal(404);
      }
      expect((await service.call('/bills/1', { token, headers })).status).to.equal(406);
    });

    it('writes nested members, keeps what an update leaves out, and makes inactive what cannot be deleted', async () => {
      const { token } = await quickbooks.connect();
      const write = (path: string, method: string, body?: object) => answerOf(token, path, { method, body });
      const address = { Line1: '1 Main St', City: 'Bayshore' };
      const made = await write('/customers', 'POST', { DisplayName: 'Nested', BillAddr: address });
      expect(made.BillAddr).to.include(address);
      const path = `/customers/${made.Id}`;
      const changed = await write(path, 'PATCH', { BillAddr: { City: 'Middlefield' }, Notes: 'x' });
      expect(changed.BillAddr).to.include({ ...address, City: 'Middlefield' });
      expect(changed).to.include({ DisplayName: 'Nested', Notes: 'x', SyncToken: '1' });
      expect((await write(path, 'PATCH', { Notes: null })).Notes).to.equal(null);
      expect((await service.call(path, { token, method: 'DELETE' })).status).to.equal(405);
      expect((await write(path, 'PATCH', { Active: false })).Active).to.equal(false);
      const where = "DisplayName = 'Nested'";
      expect(await list(token, '/customers', { where })).to.have.length(1);
      expect(await list(token, '/customers', { where: `${where} AND Active = TRUE` })).to.deep.equal([]);
      const line = { Amount: 5, DetailType: 'AccountBasedExpenseLineDetail', AccountBasedExpenseLineDetail: {} };
      const bill = await write('/bills', 'POST', { VendorRef: { value: '2' }, Line: [line] });
      expect(bill).to.include({ TotalAmt: 5 });
      const kept = await write(`/bills/${bill.Id}`, 'PATCH', { PrivateNote: 'y' });
      expect(kept).to.include({ PrivateNote: 'y', TotalAmt: 5 });
      expect(kept.VendorRef.value).to.equal('2');
      const twice = { token, method: 'POST', body: { DisplayName: 'nested' } };
      expect((await service.call('/customers', twice)).status).to.equal(409);
    });
  });

  describe('ServiceNow', () => {
    it('is of the host that the login was asked for, and of no other provider', async () => {
      const url = await servicenow.urlFor({ siteAddress: 'https://demo.service-now.com/' });
      expect(url).to.match(/\/servicenowoauth\/oauth_auth\.do\?/);
      for (const siteAddress of [undefined, 'evil.example', 'demo.service-now.com.evil.example']) {
        const { status, body } = await servicenow.askForUrl({ siteAddress });
        expect([status, body.code], siteAddress).to.deep.equal([400, 'REQUEST_INVALID']);
      }
      const { id } = await servicenow.connect(HOST);
      expect((await configurationOf(id))['company.name']).to.equal('demo.service-now.com');
    });

    it('has comments, files and hours of an incident below it, named as on every help desk', async () => {
      const { token } = await service.createInstance('servicenow', { ...DEMO_CONFIGURATION, simulator: true });
      const values = { short_description: 'x^NQactive=true', caller_id: 'a'.repeat(32), comments: 'Hello, "all"' };
      const made = await answerOf(token, '/incidents', { method: 'POST', body: values });
      expect(made).to.include({ ...values, comments: null });
      const where = `short_description = '${values.short_description}'`;
      expect(await list(token, '/incidents', { where })).to.have.length(1);

      const path = `/hubs/helpdesk/incidents/${made.sys_id}`;
      const [comment] = await list(token, `${path}/comments`, { where: "element = 'comments'" });
      expect(comment.value).to.equal(values.comments);
      expect(await list(token, `${path}/time-entries`, {})).to.deep.equal([]);

      const form = new FormData();
      form.set('table_name', 'incident');
      form.set('table_sys_id', made.sys_id);
      form.set('file', new Blob(['Some text.'], { type: 'text/plain' }), 'it\'s "quoted".txt');
      const { sys_id: id } = await answerOf(token, '/attachments', { method: 'POST', body: form });
      const [attachment] = await list(token, `${path}/attachments`, {});
      expect(attachment).to.include({ sys_id: id, file_name: 'it\'s "quoted".txt' });
      const asText = { headers: { accept: 'text/plain' }, asBytes: true };
      expect(String(await answerOf(token, `/attachments/${id}`, asText))).to.equal('Some text.');
      const readOnly = { token, method: 'POST', body: { ...values, sys_created_by: 'me' } };
      expect((await service.call('/incidents', readOnly)).status).to.equal(400);
    });
  });
});
