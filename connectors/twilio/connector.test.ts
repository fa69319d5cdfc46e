import { expect } from 'chai';
import { type Connection, failureOf, objectOf, type Provider, startProvider } from '#connector/testing';
import { prepareQuery } from '../../src/where/index.ts';
import twilio from './index.ts';
import { calls, messages, recordings } from './objects.ts';
import { createSimulator, DEMO_CONFIGURATION } from './simulator.ts';

/** Returns the requests to Twilio in their order. */
function asked(name: string, where: string): readonly unknown[] {
  const object = objectOf({ messages, calls, recordings }, name);
  const { plan } = prepareQuery({ where }, object);
  return (plan.queries ?? [plan]).map(({ native }) => {
    if (object.list === undefined || !('request' in object.list)) throw new Error('Two halves were expected.');
    return object.list.request({ filter: native, parameters: {}, fields: [], orderBy: [], limit: 5 }, {}).query;
  });
}

describe('Twilio, from the connector to its simulator', () => {
  let simulator: Provider;
  let connection: Connection;

  before(async () => {
    simulator = await startProvider(twilio, createSimulator, DEMO_CONFIGURATION);
    connection = simulator.connect();
  });
  after(() => simulator.stop());
  beforeEach(() => simulator.reset());

  it('filters by phone number with the keyword from', () => {
    const [one, other] = ['+15550000001', 'whatsapp:+15550000002'];
    expect(asked('messages', `from = '${one}'`)).to.deep.equal([{ From: one, PageSize: 5 }]);
    const both = [one, other].map((From) => ({ From, PageSize: 5 }));
    expect(asked('calls', `from IN ('${one}', '${other}')`)).to.deep.equal(both);
    for (const odd of ['', ' +1', '+1\n', 'é']) {
      expect(asked('messages', `from = '${odd}'`), odd).to.deep.equal([{ PageSize: 5 }]);
    }
  });

  it('bounds days, and includes the last one in every reading of the documents', () => {
    const february = "dateSent >= '2026-01-31T10:00:00+05:00' AND dateSent < '2026-02-28T23:59:59Z'";
    const bounds = { 'DateSent>': '2026-01-31', 'DateSent<': '2026-03-01' };
    expect(asked('messages', february)).to.deep.equal([{ ...bounds, PageSize: 5 }]);
    const day = { 'StartTime>': '2023-12-31', 'StartTime<': '2024-01-01' };
    expect(asked('calls', "startTime = '2023-12-31T00:30:00Z'")).to.deep.equal([{ ...day, PageSize: 5 }]);
  });

  it('encodes what a URL takes for something else, and follows the links of the pages', async () => {
    await connection.list(messages, { filter: { From: '+1555', 'DateSent>': '2020-01-01' }, limit: 2 });
    expect(connection.requests.at(-1)).to.match(/Messages\.json\?From=%2B1555&DateSent%3E=2020-01-01&PageSize=2$/);
    const { next } = await connection.list(messages, { limit: 10 });
    expect(next).to.match(/^https:\/\/api\.twilio\.com\/2010-04-01\/Accounts\/AC\w+\/Messages\.json\?/);
  });

  it('lists deleted recordings to those who ask for them', async () => {
    const [{ id } = {}, ...others] = await connection.listAll(recordings);
    await connection.run(recordings.remove, { id: String(id) });
    expect(await connection.listAll(recordings)).to.have.length(others.length);
    const parameters = { includeDeleted: { kind: 'boolean', value: true } } as const;
    const all = await connection.listAll(recordings, { parameters });
    expect(all.filter(({ status }) => status === 'deleted').map((each) => each.id)).to.deep.equal([id]);
  });

  it('logs in by a key where there is one', () => {
    const credentials = 'credentials' in twilio.auth ? twilio.auth.credentials : () => undefined;
    expect(credentials({ username: 'AC1', password: 'p' })).to.deep.equal({ username: 'AC1', password: 'p' });
    expect(credentials({ username: 'AC1', password: 's', 'api.key': 'SK1' })?.username).to.equal('SK1');
  });

  it('empties the body of a message, ends no call that is over, and fetches the file of a recording', async () => {
    const [message] = await connection.listAll(messages);
    const id = String(message?.id);
    const emptied = await connection.run(messages.update, { id, values: { body: null }, fields: [] });
    expect(emptied).to.include({ sid: id, body: '' });

    const over = (await connection.listAll(calls)).find(({ status }) => status === 'completed');
    const end = { id: String(over?.id), values: { status: 'completed' }, fields: [] };
    const failure = await failureOf(connection.run(calls.update, end));
    expect(failure.code).to.equal('CONFLICT');
    expect(failure)
      .to.have.property('providerMessage')
      .that.matches(/\(Twilio error 21220\)$/);

    const sounding = (await connection.listAll(recordings)).find(({ status }) => status === 'completed');
    const request = recordings.media?.request({ id: String(sounding?.id) }, DEMO_CONFIGURATION) ?? {};
    expect((await connection.context.send(request)).headers).to.include({ 'content-type': 'audio/mpeg' });
  });
});
