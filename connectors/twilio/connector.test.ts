import { expect } from 'chai';
import { type Connection, failureOf, objectOf, type Provider, startProvider } from '#connector/testing';
import { prepareQuery } from '../../src/where/index.ts';
import twilio from './index.ts';
import { calls, messages, recordings } from './objects.ts';
import { createSimulator, DEMO_CONFIGURATION } from './simulator.ts';

const OBJECTS = { messages, calls, recordings };

/** What Twilio is asked, in one call after the other. */
function asked(name: keyof typeof OBJECTS, where: string): readonly unknown[] {
  const object = objectOf(OBJECTS, name);
  const { plan } = prepareQuery({ where }, object);
  if (object.list === undefined || !('request' in object.list)) throw new Error('Two halves were expected.');
  const { request } = object.list;
  const input = { parameters: {}, fields: [], orderBy: [], limit: 50 };
  return (plan.queries ?? [plan]).map(
    ({ native }) => request({ ...input, ...(native !== undefined && { filter: native }) }, {}).query,
  );
}

describe('the parameters of Twilio', () => {
  it('filter by phone number with the keyword from', () => {
    expect(asked('messages', "from = '+15552229999'")).to.deep.equal([{ From: '+15552229999', PageSize: 50 }]);
    expect(asked('calls', "from IN ('+15550000001', '+15550000002')")).to.deep.equal([
      { From: '+15550000001', PageSize: 50 },
      { From: '+15550000002', PageSize: 50 },
    ]);
    for (const odd of ['', ' +1', '+1\n', 'é']) {
      expect(asked('messages', `from = '${odd}'`), odd).to.deep.equal([{ PageSize: 50 }]);
    }
  });

  it('bound days, and include the last one in every reading of the documents', () => {
    expect(
      asked('messages', "dateSent >= '2026-01-31T10:00:00+05:00' AND dateSent < '2026-02-28T23:59:59Z'"),
    ).to.deep.equal([{ 'DateSent>': '2026-01-31', 'DateSent<': '2026-03-01', PageSize: 50 }]);
    expect(asked('calls', "startTime = '2023-12-31T00:30:00Z'")).to.deep.equal([
      { 'StartTime>': '2023-12-31', 'StartTime<': '2024-01-01', PageSize: 50 },
    ]);
    expect(asked('recordings', "dateCreated > '2026-01-01' AND dateCreated > '2026-01-05'")).to.deep.equal([
      { 'DateCreated>': '2026-01-05', PageSize: 50 },
    ]);
  });

  it('are asked for what can be there', () => {
    const call = `CA${'0a'.repeat(16)}`;
    expect(asked('calls', `parentCallSid = '${call}' AND status = 'no-answer'`)).to.deep.equal([
      { ParentCallSid: call, Status: 'no-answer', PageSize: 50 },
    ]);
    for (const where of ["callSid = 'CA1'", "dateCreated > '9999-12-31'"]) {
      expect(prepareQuery({ where }, recordings).plan.pushed?.kind ?? 'none', where).to.not.equal('compare');
    }
  });
});

describe('Twilio, from the connector to its simulator', () => {
  let simulator: Provider;
  let connection: Connection;

  before(async () => {
    simulator = await startProvider(twilio, createSimulator, DEMO_CONFIGURATION);
    connection = simulator.connect();
  });
  after(() => simulator.stop());
  beforeEach(() => simulator.reset());

  it('follows the links of the pages, and encodes what a URL takes for something else', async () => {
    const filter = { From: '+15550000001', 'DateSent>': '2020-01-01' };
    await connection.list(messages, { filter, limit: 2 });
    expect(connection.requests.at(-1)).to.match(
      /Messages\.json\?From=%2B15550000001&DateSent%3E=2020-01-01&PageSize=2$/,
    );
    const before = connection.requests.length;
    const { next } = await connection.list(messages, { limit: 10 });
    expect(next).to.match(/^https:\/\/api\.twilio\.com\/2010-04-01\/Accounts\/AC\w+\/Messages\.json\?/);
    const rows = await connection.listAll(messages, { limit: 10 });
    expect(connection.requests.length - before).to.be.greaterThan(2);
    expect(new Set(rows.map(({ id }) => id)).size).to.equal(rows.length);
  });

  it('passes on the words and the code of an error', async () => {
    const failure = await failureOf(connection.run(messages.get, { id: `SM${'f'.repeat(32)}`, fields: [] }));
    expect(failure.code).to.equal('NOT_FOUND');
    expect(failure)
      .to.have.property('providerMessage')
      .that.matches(/\(Twilio error 20404\)$/);
  });

  it('empties the body of a message, and fetches the file of a recording', async () => {
    const [message] = await connection.listAll(messages);
    const id = String(message?.id);
    const emptied = await connection.run(messages.update, { id, values: { body: null }, fields: [] });
    expect(emptied).to.include({ sid: id, body: '' });
    const [recording] = await connection.listAll(recordings);
    const request = recordings.media?.request({ id: String(recording?.id) }, DEMO_CONFIGURATION);
    expect((await connection.context.send(request ?? {})).headers).to.include({ 'content-type': 'audio/mpeg' });
  });
});
