import { expect } from 'chai';
import { CLIENTS, REALM_ID } from '../../connectors/quickbooks/simulator.ts';
import { useApp } from '../support/app.ts';

const CALLBACK_URL = 'https://app.example.com/callback';
const CLIENT_ID = 'demo-client';
const DAY_MS = 24 * 60 * 60_000;

describe('an instance of QuickBooks Online', () => {
  const service = useApp();
  const secret = CLIENTS[CLIENT_ID]?.secret ?? '';

  /** What the user comes back with. */
  async function authorize(): Promise<URLSearchParams> {
    const query = { apiKey: CLIENT_ID, apiSecret: secret, callbackUrl: CALLBACK_URL, simulator: 'true', state: 's' };
    const { body } = await service.call('/elements/quickbooks/oauth/url', { query });
    const answer = await fetch(`${body.oauthUrl}&auto=approve`, { redirect: 'manual' });
    return new URL(answer.headers.get('location') ?? '').searchParams;
  }

  const CONFIGURATION = {
    'oauth.api.key': CLIENT_ID,
    'oauth.api.secret': secret,
    'oauth.callback.url': CALLBACK_URL,
    simulator: true,
  };

  it('is of the company that came with the callback, and of none without one', async () => {
    const said = Object.fromEntries(await authorize());
    expect(said.realmId).to.equal(REALM_ID);
    const { token, id } = await service.createInstance('quickbooks', CONFIGURATION, { providerData: said });
    const { body } = await service.call(`/instances/${id}`);
    expect(body.configuration).to.include({ realmId: REALM_ID, 'quickbooks.sandbox': false });
    expect((await service.call('/customers', { token, query: { pageSize: 1 } })).status).to.equal(200);
    const { code } = Object.fromEntries(await authorize());
    const without = { element: { key: 'quickbooks' }, configuration: CONFIGURATION, providerData: { code } };
    const refused = await service.call('/instances', { method: 'POST', body: { name: 'x', ...without } });
    expect(refused.status, JSON.stringify(refused.body)).to.equal(400);
    expect(JSON.stringify(refused.body)).to.include('realmId');
  });

  it('lives on while its refresh token changes by itself', async () => {
    const providerData = Object.fromEntries(await authorize());
    const { token } = await service.createInstance('quickbooks', CONFIGURATION, { providerData });
    for (const round of ['with the first refresh token', 'with the second', 'with the third']) {
      const body = JSON.stringify({ byMs: DAY_MS + 1000 });
      const moved = await fetch(`${service.app.simulatorsUrl}/quickbooks/simulate/clock`, { method: 'POST', body });
      expect(moved.ok).to.equal(true);
      const answer = await service.call('/items', { token, query: { pageSize: 1 } });
      expect(answer.status, `${round}: ${JSON.stringify(answer.body)}`).to.equal(200);
    }
  });

  it('is not valid when the company was disconnected, until somebody connects it again', async () => {
    const { token, id } = await service.createInstance('quickbooks', CONFIGURATION, {
      providerData: Object.fromEntries(await authorize()),
    });
    const list = () => service.call('/items', { token, query: { pageSize: 1 } });
    expect((await list()).status).to.equal(200);
    await fetch(`${service.app.simulatorsUrl}/quickbooks/simulate/disconnect`, { method: 'POST' });
    const { status, body } = await list();
    expect([status, body.code], JSON.stringify(body)).to.deep.equal([424, 'INSTANCE_CREDENTIALS_FAILED']);
    expect(body.providerMessage).to.match(/ApplicationAuthorizationFailed.*\(QuickBooks error 3100\)/);
    expect((await service.call(`/instances/${id}`)).body.valid).to.equal(false);
    const providerData = Object.fromEntries(await authorize());
    const again = await service.call(`/instances/${id}`, { method: 'PATCH', body: { providerData } });
    expect([again.status, again.body.valid], JSON.stringify(again.body)).to.deep.equal([200, true]);
    expect((await list()).status).to.equal(200);
  });

  it('answers estimates, invoices and the like as PDF to those who ask for it, and as records to others', async () => {
    const providerData = Object.fromEntries(await authorize());
    const { token } = await service.createInstance('quickbooks', CONFIGURATION, { providerData });
    for (const name of ['estimates', 'invoices', 'sales-receipts', 'payments']) {
      const headers = { accept: 'application/pdf' };
      const file = await service.call(`/${name}/1`, { token, headers });
      expect([file.status, file.headers.get('content-type')], name).to.deep.equal([200, 'application/pdf']);
      expect((await service.call(`/${name}/1`, { token })).body.Id).to.equal('1');
      expect((await service.call(`/${name}/999`, { token, headers })).status, name).to.equal(404);
    }
    const bill = await service.call('/bills/1', { token, headers: { accept: 'application/pdf' } });
    expect(bill.status).to.equal(406);
  });

  it('writes nested members, keeps what an update leaves out, and makes inactive what cannot be deleted', async () => {
    const providerData = Object.fromEntries(await authorize());
    const { token } = await service.createInstance('quickbooks', CONFIGURATION, { providerData });
    const call = (path: string, method: 'POST' | 'PATCH' | 'DELETE', body?: object) =>
      service.call(path, { token, method, ...(body !== undefined && { body }) });
    const address = { Line1: '1 Main St', City: 'Bayshore' };
    const made = await call('/customers', 'POST', { DisplayName: 'Nested', BillAddr: address });
    expect(made.body.BillAddr, JSON.stringify(made.body)).to.include(address);
    const path = `/customers/${made.body.Id}`;
    const changed = await call(path, 'PATCH', { BillAddr: { City: 'Middlefield' }, Notes: 'x' });
    expect(changed.body.BillAddr).to.include({ ...address, City: 'Middlefield' });
    expect(changed.body).to.include({ DisplayName: 'Nested', Notes: 'x', SyncToken: '1' });
    expect((await call(path, 'PATCH', { Notes: null })).body.Notes).to.equal(null);
    expect((await call(path, 'DELETE')).status).to.equal(405);
    expect((await call(path, 'PATCH', { Active: false })).body.Active).to.equal(false);
    const where = "DisplayName = 'Nested'";
    expect((await service.call('/customers', { token, query: { where } })).body).to.have.length(1);
    const active = { where: `${where} AND Active = TRUE` };
    expect((await service.call('/customers', { token, query: active })).body).to.deep.equal([]);
    const line = { Amount: 5, DetailType: 'AccountBasedExpenseLineDetail', AccountBasedExpenseLineDetail: {} };
    const bill = await call('/bills', 'POST', { VendorRef: { value: '2' }, Line: [line] });
    expect(bill.body, JSON.stringify(bill.body)).to.include({ TotalAmt: 5 });
    const kept = await call(`/bills/${bill.body.Id}`, 'PATCH', { PrivateNote: 'y' });
    expect(kept.body).to.include({ PrivateNote: 'y', TotalAmt: 5 });
    expect(kept.body.VendorRef.value).to.equal('2');
    expect((await call('/customers', 'POST', { DisplayName: 'nested' })).status).to.equal(409);
  });
});
