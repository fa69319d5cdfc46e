import { expect } from 'chai';
import twilio from 'twilio';
import { type ServedSimulator, serveSimulator } from '#connector/testing';
import { webhooks } from '../../src/connector/kit/webhooks.ts';
import { ACCOUNT_SID, AUTH_TOKEN, createSimulator, deliver } from './simulator.ts';

type CallsPage = Pick<Awaited<ReturnType<twilio.Twilio['calls']['page']>>, 'instances' | 'nextPage'>;

/** Creates Twilio's own client, which sends its requests to the simulator instead of api.twilio.com. */
function createClient(url: string, password = AUTH_TOKEN): twilio.Twilio {
  const httpClient = new twilio.RequestClient({ keepAlive: false });
  httpClient.axios.interceptors.request.use((request) => ({
    ...request,
    url: request.url?.replace('https://api.twilio.com', url) ?? '',
  }));
  return twilio(ACCOUNT_SID, password, { httpClient });
}

describe("the Twilio simulator, to Twilio's SDK", () => {
  let served: ServedSimulator;
  let client: twilio.Twilio;
  before(async () => {
    served = await serveSimulator('twilio', createSimulator);
    client = createClient(served.url);
  });
  after(() => served.stop());
  beforeEach(() => served.reset());

  it('gives lists by its filters', async () => {
    const to = '+14158675309';
    const [all, sent, busy] = await Promise.all([
      client.messages.list(),
      client.messages.list({ to, dateSentAfter: new Date('2024-01-01'), dateSentBefore: new Date('2024-12-31') }),
      client.calls.list({ status: 'busy' }),
    ]);
    expect(all).to.have.lengthOf(240);
    const meant = all.filter((message) => message.to === to && message.dateSent?.getUTCFullYear() === 2024);
    expect(sent.map(({ sid }) => sid))
      .to.have.members(meant.map(({ sid }) => sid))
      .and.not.to.have.lengthOf(0);
    expect(new Set(busy.map(({ status }) => status))).to.deep.equal(new Set(['busy']));
    const [first] = all;
    expect(first?.dateCreated).to.be.an.instanceOf(Date);
    expect((await client.recordings.list({ limit: 3 })).map(({ sid }) => sid.slice(0, 2))).to.deep.equal([
      'RE',
      'RE',
      'RE',
    ]);
  });

  it('pages by its iterators, page by page and row by row', async () => {
    const whole = (await client.calls.list()).map(({ sid }) => sid);
    const paged: string[] = [];
    for (let page: CallsPage = await client.calls.page({ pageSize: 40 }); ; ) {
      paged.push(...page.instances.map(({ sid }) => sid));
      const next = await page.nextPage();
      if (next === undefined) break;
      page = next;
    }
    const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
    const each: string[] = [];
    client.calls.each({
      pageSize: 40,
      callback: ({ sid }) => each.push(sid),
      done: (error?: Error) => (error ? reject(error) : resolve(each)),
    });
    expect(paged).to.deep.equal(whole).and.to.have.lengthOf(150);
    expect(await promise).to.deep.equal(whole);
  });

  it('creates, fetches, changes and removes', async () => {
    const body = "O'Brien & 👩‍🚀 +1";
    const made = await client.messages.create({ to: '+14158675309', from: '+15005550006', body });
    expect(made).to.include({ body, status: 'queued', direction: 'outbound-api', errorCode: null });
    expect(await client.messages(made.sid).fetch()).to.include({ sid: made.sid, body });
    expect(await client.messages(made.sid).update({ body: '' })).to.include({ body: '' });
    expect(await client.messages(made.sid).remove()).to.equal(true);
    expect(await failureOf(client.messages(made.sid).fetch())).to.include({ status: 404, code: 20404 });
    const call = await client.calls.create({ to: 'client:jane', from: '+15005550006', twiml: '<Response/>' });
    expect(call.status).to.equal('queued');
    expect(await client.calls(call.sid).fetch()).to.include({ sid: call.sid, to: 'client:jane', status: 'completed' });
    expect(await client.calls(call.sid).remove()).to.equal(true);
  });

  it('is refused in words that it understands', async () => {
    expect(await failureOf(createClient(served.url, 'wrong').messages.list())).to.include({ status: 401, code: 20003 });
    const unreachable = client.messages.create({ to: '+15005550001', from: '+15005550006', body: 'x' });
    const failure = await failureOf(unreachable);
    expect(failure).to.include({ status: 400, code: 21211 });
    expect(failure.moreInfo).to.equal('https://www.twilio.com/docs/errors/21211');
  });
});

async function failureOf(call: Promise<unknown>): Promise<twilio.RestException> {
  const outcome = await call.catch((error: unknown) => error);
  if (outcome instanceof twilio.RestException) return outcome;
  throw new Error(`It did not fail as Twilio fails: ${String(outcome)}`);
}

const URL_OF_EVENTS = "https://app.example.com/events/1?a=b%20c&name=O'Brien";
const FORM = { MessageSid: `SM${'0'.repeat(32)}`, Body: 'Grüße & 👩‍🚀 +1', MessageStatus: 'delivered', Z: '', a: '=&' };

/** Verifies a signature as the declaration of the connector does. */
const verify = webhooks.hmac({
  header: 'x-twilio-signature',
  algorithm: 'sha1',
  encoding: 'base64',
  signed: ({ url, body }) => [
    url,
    ...[...new URLSearchParams(Buffer.from(body).toString())].toSorted(([a], [b]) => (a < b ? -1 : 1)).flat(),
  ],
});

describe("X-Twilio-Signature, made here and by Twilio's SDK", () => {
  const known = { secret: AUTH_TOKEN, now: 0, config: {} };
  const callWith = (signature: string, form: Readonly<Record<string, string>> = FORM) => ({
    method: 'POST',
    url: URL_OF_EVENTS,
    headers: { 'x-twilio-signature': signature },
    body: Buffer.from(new URLSearchParams(form).toString()),
  });

  it('is good to the SDK where the simulator made it, and over nothing else', () => {
    const { headers, url, body } = deliver({ form: FORM }, URL_OF_EVENTS);
    const signature = headers['x-twilio-signature'] ?? '';
    const received = Object.fromEntries(new URLSearchParams(body));
    expect(twilio.validateRequest(AUTH_TOKEN, signature, url, received)).to.equal(true);
    expect(twilio.validateRequest(AUTH_TOKEN, signature, url, { ...received, Z: 'x' })).to.equal(false);
    expect(twilio.validateRequest(AUTH_TOKEN, signature, `${url}x`, received)).to.equal(false);
    expect(twilio.validateRequest('other', signature, url, received)).to.equal(false);
  });

  it('is good to the SDK over JSON, whose digest stands in the address', () => {
    const { headers, url, body } = deliver({ json: { text: 'Grüße' } }, URL_OF_EVENTS);
    const check = (text: string) =>
      twilio.validateRequestWithBody(AUTH_TOKEN, headers['x-twilio-signature'] ?? '', url, text);
    expect([check(body), check(`${body} `)]).to.deep.equal([true, false]);
  });

  it('is genuine to the kit where the SDK made it, and forged over anything else', () => {
    const signature = twilio.getExpectedTwilioSignature(AUTH_TOKEN, URL_OF_EVENTS, FORM);
    expect(verify(callWith(signature), known)).to.equal('genuine');
    expect(verify(callWith(signature, { ...FORM, Z: 'x' }), known)).to.equal('forged');
    expect(verify({ ...callWith(signature), url: `${URL_OF_EVENTS}x` }, known)).to.equal('forged');
    expect(verify(callWith(signature), { ...known, secret: 'other' })).to.equal('forged');
    expect(verify(callWith(''), known)).to.equal('unsigned');
  });
});
