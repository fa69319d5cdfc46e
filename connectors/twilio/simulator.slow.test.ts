import { expect } from 'chai';
import { type ServedSimulator, serveSimulator } from '#connector/testing';
import { ACCOUNT_SID, AUTH_TOKEN, createSimulator, deliver } from './simulator.ts';

const ROOT = `/2010-04-01/Accounts/${ACCOUNT_SID}`;
const basic = (password: string) => `Basic ${Buffer.from(`${ACCOUNT_SID}:${password}`).toString('base64')}`;

describe('the Twilio simulator', () => {
  let served: ServedSimulator;
  before(async () => {
    served = await serveSimulator('twilio', createSimulator);
  });
  after(() => served.stop());
  beforeEach(() => served.reset());

  const ask = (path: string, init: RequestInit = {}) =>
    served.call<Body>(path, { ...init, headers: { authorization: basic(AUTH_TOKEN), ...init.headers } });
  const read = async (path: string, init?: RequestInit) => (await ask(path, init)).body;
  const post = (path: string, form: Record<string, string>) =>
    read(ROOT + path, { method: 'POST', body: new URLSearchParams(form) });
  const count = async (list: string, query: Record<string, string>) =>
    rowsOf(await read(`${ROOT}/${list}.json?${new URLSearchParams({ PageSize: '1000', ...query })}`)).length;

  it('lets in the account with its token, to its own resources', async () => {
    expect(await read(`${ROOT}.json`)).to.include({ sid: ACCOUNT_SID, status: 'active' });
    const error = {
      code: 20003,
      message: 'Authenticate',
      more_info: 'https://www.twilio.com/docs/errors/20003',
      status: 401,
    };
    expect(await read(`${ROOT}.json`, { headers: { authorization: basic('wrong') } })).to.deep.equal(error);
    expect(await read(`/2010-04-01/Accounts/AC${'0'.repeat(32)}/Calls.json`)).to.deep.equal(error);
    expect((await ask(`${ROOT}.json`, { headers: { forwarded: 'host=example.com' } })).status).to.equal(404);
  });

  it('gives a list in parts that hold every record once, also when the last one seen is deleted meanwhile', async () => {
    const before = await count('Messages', { To: '+14158675309' });
    const sids: unknown[] = [];
    const removed: number[] = [];
    for (let path: string | null = `${ROOT}/Messages.json?PageSize=7&To=%2B14158675309`; path !== null; ) {
      const page: Body = await read(path);
      sids.push(...rowsOf(page).map(({ sid }) => sid));
      removed.push((await ask(`${ROOT}/Messages/${sids.at(-1)}.json`, { method: 'DELETE' })).status);
      path = page.next_page_uri ?? null;
    }
    expect([sids.length, new Set(sids).size]).to.deep.equal([before, before]);
    const gone = removed.filter((status) => status === 204).length;
    expect(gone).to.be.within(2, removed.length);
    expect(await count('Messages', {})).to.equal(240 - gone);
    const pages = await Promise.all(
      ['', '&Page=1', '&Page=1&PageToken=PAx', '&PageSize=5000'].map((more) => read(`${ROOT}/Calls.json?x=1${more}`)),
    );
    expect(pages.map((page) => [page.page_size, page.message])).to.deep.equal([
      [50, undefined],
      [undefined, 'PageToken is required for paging.'],
      [undefined, 'PageToken is invalid.'],
      [1000, undefined],
    ]);
  });

  it('takes bounds as days: of messages and recordings with the last one, of calls without', async () => {
    const [on, until, from, all] = await Promise.all(
      ['DateSent', 'DateSent<', 'DateSent>']
        .map((name) => count('Messages', { [name]: '2024-02-29' }))
        .concat(count('Messages', {})),
    );
    const unsent = 60;
    expect(Number(until) + Number(from) - Number(on)).to.equal(Number(all) - unsent);
    expect(on).to.be.greaterThan(2);
    expect(await count('Messages', { 'DateSent>': '2024-02-29', 'DateSent<': '2024-02-29' })).to.equal(on);
    expect(await count('Calls', { 'StartTime>': '2024-02-29', 'StartTime<': '2024-02-29' })).to.equal(0);
    expect(await count('Calls', { 'StartTime>': '2024-02-29', 'StartTime<': '2024-03-01' })).to.equal(
      await count('Calls', { StartTime: '2024-02-29T12:00:00Z' }),
    );
  });

  it('compares numbers sign by sign, and passes over what it does not know', async () => {
    const plus = await count('Messages', { From: '+15005550006' });
    expect([plus > 0, await count('Messages', { From: ' 15005550006' })]).to.deep.equal([true, 0]);
    expect(await count('Messages', { Status: 'sent', From: '' })).to.equal(240);
    expect(await count('Calls', { Status: 'busy' })).to.be.within(1, 149);
  });

  it('sends, empties and deletes a message, of a form only', async () => {
    const texts = { To: '+14158675309', From: '+15005550006', Body: "O'Brien & 👩‍🚀 +1" };
    const made = await post('/Messages.json', texts);
    expect(made).to.include({ status: 'queued', body: texts.Body, date_sent: null, direction: 'outbound-api' });
    expect(await read(String(made.uri))).to.include({ status: 'delivered', sid: made.sid });
    expect(await post(`/Messages/${made.sid}.json`, { Body: 'other' })).to.include({ status: 400 });
    expect(await post(`/Messages/${made.sid}.json`, { Body: '' })).to.include({ body: '' });
    const statuses = [
      await ask(String(made.uri), { method: 'DELETE' }),
      await ask(String(made.uri), { method: 'DELETE' }),
    ];
    expect(statuses.map(({ status }) => status)).to.deep.equal([204, 404]);
    const headers = { 'content-type': 'application/json' };
    const json = await read(`${ROOT}/Messages.json`, {
      method: 'POST',
      headers,
      body: `${new URLSearchParams(texts)}`,
    });
    const wrong = [json, ...(await Promise.all(WRONG.map((form) => post('/Messages.json', { ...texts, ...form }))))];
    expect(wrong.map(({ code }) => code)).to.deep.equal([21602, 21211, 21211, 21603, 21602]);
  });

  it('ends calls that are under way, and deletes those that are over', async () => {
    const [going] = rowsOf(await read(`${ROOT}/Calls.json?Status=in-progress`));
    expect(await read(String(going?.uri), { method: 'DELETE' })).to.include({ status: 409, code: 20009 });
    expect(await post(`/Calls/${going?.sid}.json`, { Status: 'canceled' })).to.include({ code: 21220 });
    expect(await post(`/Calls/${going?.sid}.json`, { Status: 'completed' })).to.include({ status: 'completed' });
    expect((await ask(String(going?.uri), { method: 'DELETE' })).status).to.equal(204);
    const made = await post('/Calls.json', { To: 'client:jane', From: '+15005550006', Twiml: '<Response/>' });
    expect(made).to.include({ status: 'queued', end_time: null });
    expect(await post('/Calls.json', { To: 'client:jane', From: '+15005550006' })).to.include({ code: 21205 });
  });

  it('answers the sound of recordings until they are deleted, and what was deleted to those who ask for it', async () => {
    const recording = rowsOf(await read(`${ROOT}/Recordings.json`)).find(({ status }) => status === 'completed');
    const path = `${ROOT}/Recordings/${recording?.sid}`;
    expect((await ask(`${path}.mp3`)).headers.get('content-type')).to.equal('audio/mpeg');
    await ask(`${path}.json`, { method: 'DELETE' });
    expect((await ask(`${path}.mp3`)).status).to.equal(404);
    expect(await read(`${path}.json?IncludeSoftDeleted=true`)).to.include({ status: 'deleted' });
    expect([await count('Recordings', {}), await count('Recordings', { IncludeSoftDeleted: 'true' })]).to.deep.equal([
      89, 90,
    ]);
  });

  it('runs in a circle and has others change it, for tests', async () => {
    const stuck = await read(`${ROOT}/Calls.json?PageSize=3`, { headers: { 'x-simulate': 'stuck' } });
    expect([stuck.next_page_uri, (await read(String(stuck.next_page_uri))).calls]).to.deep.equal([
      stuck.uri,
      stuck.calls,
    ]);
    await served.command('/simulate/changes', { table: 'messages', create: 2, update: 1, remove: 1 });
    expect(await count('Messages', {})).to.equal(241);
  });

  // Source: https://www.twilio.com/docs/usage/security
  it('signs what it delivers', () => {
    const form = {
      To: '+18005551212',
      From: '+14158675309',
      Digits: '1234',
      Caller: '+14158675309',
      CallSid: 'CA1234567890ABCDE',
    };
    const { headers } = deliver({ form }, 'https://mycompany.com/myapp.php?foo=1&bar=2', '12345');
    expect(headers['x-twilio-signature']).to.equal('RSOYDt4T1cUTdK1PDd93/VVr8B8=');
    expect(deliver({ json: {} }, 'https://mycompany.com/a').url).to.match(
      /\/a\?bodySHA256=44136fa355b3678a1146ad16f7e8649e/,
    );
  });
});

const WRONG = [{ To: 'nope' }, { To: '+15005550001' }, { From: '' }, { Body: '' }];

/** A response body. Its type is not checked, because the tests compare every member that they read. */
type Body = Readonly<Record<string, unknown>> & { readonly next_page_uri?: string | null };

function rowsOf({ messages, calls, recordings }: Body): readonly Record<string, unknown>[] {
  return (messages ?? calls ?? recordings ?? []) as readonly Record<string, unknown>[];
}
