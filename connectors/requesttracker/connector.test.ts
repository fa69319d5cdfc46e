import { expect } from 'chai';
import { type Connection, failureOf, objectOf, type Provider, startProvider } from '#connector/testing';
import { prepareQuery } from '../../src/where/index.ts';
import requesttracker from './index.ts';
import { attachments, tickets, transactions } from './objects.ts';
import { createSimulator, DEMO_CONFIGURATION } from './simulator.ts';

const nativeOf = (where: string) => prepareQuery({ where }, objectOf({ tickets }, 'tickets')).plan.native;

/** Returns the query for a filter. */
function asked(where: string): unknown {
  const object = objectOf({ tickets }, 'tickets');
  const native = nativeOf(where);
  if (object.list === undefined || !('request' in object.list)) throw new Error('Two halves were expected.');
  return object.list.request({ filter: native, parameters: {}, fields: [], orderBy: [], limit: 5 }, {}).form?.query;
}

describe('Request Tracker, from the connector to its simulator', () => {
  let simulator: Provider;
  let connection: Connection;

  before(async () => {
    simulator = await startProvider(requesttracker, createSimulator, DEMO_CONFIGURATION);
    connection = simulator.connect();
  });
  after(() => simulator.stop());
  beforeEach(() => simulator.reset());

  it('asks in TicketSQL, which has no IN and no NOT', () => {
    expect(asked("subject = 'O''Neil \\'")).to.equal(String.raw`id > 0 AND (Subject = 'O\'Neil \\')`);
    const both = "id > 0 AND ((Status = 'new' OR Status = 'open'))";
    expect(asked("status IN ('new', 'open')")).to.equal(both);
    expect(asked("NOT (priority > 5 OR status = 'new')")).to.equal(
      "id > 0 AND ((Priority <= '5' AND Status != 'new'))",
    );
    expect(asked('owner IS NULL')).to.equal('id > 0');
  });

  it('asks for patterns by what they begin or end with or contain', () => {
    const query = (pattern: string) => asked(`subject LIKE '${pattern}'`);
    expect(query('a%')).to.equal("id > 0 AND (Subject STARTSWITH 'a')");
    expect(query('%a')).to.equal("id > 0 AND (Subject ENDSWITH '%a')");
    expect(query('%a%')).to.equal("id > 0 AND (Subject LIKE '%a')");
    expect(query('a_b%c')).to.equal("id > 0 AND (Subject LIKE '%a_b%c')");
    expect(query('%')).to.equal('id > 0 AND (id > 0)');
  });

  it('keeps a text from being taken for a custom field', () => {
    expect(asked("subject = 'CF.{Severity}'")).to.equal("id > 0 AND (Subject LIKE '%CF.{Severity}')");
    expect(asked("subject LIKE 'cf.x%'")).to.equal("id > 0 AND (Subject LIKE '%cf.x')");
    expect(asked("owner = '12'")).to.equal('id > 0');
  });

  it('does not ask for the sign that is shown in place of others', () => {
    expect(asked("subject = 'a\ufffdb'")).to.equal('id > 0');
    expect(asked("subject LIKE 'a\ufffdb%'")).to.equal("id > 0 AND (Subject LIKE '%a_b%')");
  });

  it('finds every text by what is shown of it, also where other signs are kept', async () => {
    const subjects = (rows: readonly object[]) => rows.map((row) => String(Reflect.get(row, 'subject')));
    const shown = new Set(subjects(await connection.listAll(tickets)));
    expect([...shown]).to.include.members(['\ufffd', 'a\ufffdb']);
    for (const text of shown) {
      const literal = text.replaceAll("'", "''");
      for (const where of [`subject = '${literal}'`, `subject LIKE '%${literal.replace(/[%_\\]/g, '\\$&')}%'`]) {
        expect(subjects(await connection.listAll(tickets, { filter: nativeOf(where) })), where).to.include(text);
      }
    }
  });

  it('asks for a day more on either side of an instant, as nobody knows on whose clocks it is read', () => {
    const bounds = "(Due >= '2026-02-28 10:00:00' AND Due <= '2026-03-02 10:00:00')";
    expect(asked("due = '2026-03-01T10:00:00Z'")).to.equal(`id > 0 AND (${bounds})`);
    expect(asked("created > '2026-03-01T10:00:00Z'")).to.equal("id > 0 AND (Created >= '2026-02-28 10:00:00')");
    expect(asked("due < '9999-12-31T00:00:00Z'")).to.equal('id > 0 AND (Due IS NOT NULL)');
  });

  it('tells of a change that is refused with a success, in its words', async () => {
    const update = (values: object) => connection.run(tickets.update, { id: '1', values: { ...values }, fields: [] });
    const failure = await failureOf(update({ Status: 'nosuch' }));
    expect(failure.code).to.equal('PROVIDER_REJECTED');
    expect(failure.message).to.equal("Ticket 1: Status 'nosuch' isn't a valid status for this ticket.");
    expect((await failureOf(update({ Queue: 99 }))).message).to.equal('Ticket 1: Queue 99 does not exist');
    expect(await update({ Status: 'OPEN', Owner: 'root', Queue: 2 })).to.include({ Status: 'open' });
  });

  it('does not find deleted tickets, and neither changes nor deletes them', async () => {
    await connection.run(tickets.remove, { id: '1' });
    const before = connection.requests.length;
    const key = { id: '1', fields: [], values: { Subject: 'x' } };
    for (const operation of [tickets.get, tickets.update, tickets.remove]) {
      expect((await failureOf(connection.run<typeof key, unknown>(operation, key))).code).to.equal('NOT_FOUND');
    }
    expect(connection.requests.slice(before).filter((request) => /^(?:PUT|DELETE) /.test(request))).to.deep.equal([]);
  });

  it('writes comments and replies, and reads their text', async () => {
    const { create } = transactions;
    const fields = ['id', 'Type', 'Content', 'ContentType'].map((native) => ({
      name: native,
      native,
      type: 'string' as const,
    }));
    const values = { ObjectId: 1, Type: 'Correspond', Content: 'Grüße 😀', TimeTaken: 3 };
    const made = await connection.run(create, { values, fields });
    expect(made).to.include({ Type: 'Correspond', Content: 'Grüße 😀', ContentType: 'text/plain' });
    const refused = connection.run(create, { values: { ...values, Type: 'Set' }, fields });
    expect((await failureOf(refused)).message).to.equal(
      "A new transaction cannot have the type 'Set'. Use Comment or Correspond.",
    );
    const file = await connection.run(attachments.get, { id: '1', fields });
    expect(Buffer.from(String(Reflect.get(Object(file), 'Content')), 'base64').toString()).to.equal('text');
  });

  it('reads pages to the end where nobody says how many there are', async () => {
    const { list } = tickets;
    if (list === undefined || !('read' in list)) throw new Error('Two halves were expected.');
    const input = { parameters: {}, fields: [], orderBy: [], limit: 2 };
    const pageOf = (count: number) => ({
      items: Array(count).fill({ id: '1' }),
      count,
      page: 3,
      per_page: 2,
      total: null,
    });
    const read = (count: number) => list.read({ status: 200, headers: {}, body: pageOf(count) }, input).next;
    expect([read(2), read(1), read(0)]).to.deep.equal(['4x2', '4x2', undefined]);
    const { query } = list.request({ ...input, limit: 7, cursor: '4x2' }, {});
    expect(query).to.include({ page: '4', per_page: '2' });
  });
});
