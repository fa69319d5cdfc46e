import { expect } from 'chai';
import { type ServedSimulator, serveSimulator } from '#connector/testing';
import { createSimulator } from './simulator.ts';

const ROOT = '/REST/2.0';
const basic = (password: string) => `Basic ${Buffer.from(`root:${password}`).toString('base64')}`;

/** A Request Tracker 5.0.3 returned the formats, messages and statuses that these tests expect. */
describe('the Request Tracker simulator', () => {
  let served: ServedSimulator;
  before(async () => {
    served = await serveSimulator('requesttracker', createSimulator);
  });
  after(() => served.stop());
  beforeEach(() => served.reset());

  const ask = (path: string, init: RequestInit = {}) => {
    const headers = { authorization: basic('password'), forwarded: 'host=rt.example.com', ...init.headers };
    return served.call<Body>(ROOT + path, { ...init, headers });
  };
  const read = async (path: string, init?: RequestInit) => (await ask(path, init)).body;
  const send = (method: string, path: string, body: unknown) => ask(path, { method, body: JSON.stringify(body) });
  const search = (query: string, more = 'per_page=100', at = '/tickets') =>
    read(`${at}?${more}`, { method: 'POST', body: new URLSearchParams({ query }) });
  const count = async (query: string) => (await search(query)).total;

  it('lets in its user, and nobody else', async () => {
    expect(await read('/rt')).to.deep.equal({ Version: '5.0.3', Plugins: [] });
    const refused = await ask('/rt', { headers: { authorization: basic('wrong') } });
    expect([refused.status, refused.body]).to.deep.equal([401, { message: 'Unauthorized' }]);
    expect((await ask('/rt', { headers: { forwarded: 'host=example.com' } })).status).to.equal(404);
  });

  it('lists nothing without a query, and pages with what their numbers are', async () => {
    const nothing = { items: [], count: 0, total: 0, per_page: 20, page: 1, pages: 0 };
    expect(await search('', '')).to.deep.equal(nothing);
    expect(await read('/users')).to.deep.equal(nothing);
    const page = await search('id > 0', 'per_page=2&page=2&fields=Queue,Due,Started,Priority,Requestor,Nosuch');
    expect(page).to.include({ count: 2, per_page: 2, page: 2, pages: Math.ceil(page.total / 2) });
    expect(page.items[1]).to.deep.equal({
      id: '10',
      type: 'ticket',
      Queue: { type: 'queue', id: '2' },
      Due: '2023-12-31T16:01:01Z',
      Started: '1970-01-01T00:00:00Z',
      Priority: '2147483647',
      Requestor: [],
      Nosuch: '',
    });
    expect(await search('id > 0', 'per_page=1000')).to.include({ per_page: 100 });
    expect((await search('id > 0', 'page=99')).items).to.deep.equal([]);
  });

  it('keeps and finds a sign that it cannot show', async () => {
    const subject = 'a\u{10ffff}\ufffdb';
    const { id } = (await send('POST', '/ticket', { Queue: 1, Subject: subject })).body;
    const [item] = (await search(`id = ${id} AND Subject = '${subject}'`, 'fields=Subject')).items;
    expect(item).to.include({ Subject: 'a\ufffd\ufffdb' });
    expect(await count(`id = ${id} AND Subject LIKE '\u{10ffff}'`)).to.equal(1);
    expect(await count(`id = ${id} AND Subject = 'a\ufffd\ufffdb'`)).to.equal(0);
  });

  it('reads TicketSQL as its grammar has it, and says where it does not', async () => {
    const all = await count('id > 0');
    const open = await count("Status = 'OPEN'");
    expect(open).to.be.within(1, all - 1);
    expect(await count("Status = 'open' OR Status = 'new' AND id = 0")).to.equal(0);
    // The last word between two parentheses determines all of them.
    expect(await count("id = 0 AND Status = 'nosuch' OR Status = 'open'")).to.equal(open);
    expect(await count('id = 1 OR id = 4 AND id = 7 OR id = 1 AND id = 1')).to.equal(0);
    expect(await count("(Status='open')")).to.equal(open);
    expect(await count("Subject = 'x\\' OR \\'x\\'=\\'x'")).to.be.within(1, 9);
    expect(await count('Subject LIKE "b"')).to.equal(await count("Subject LIKE 'B'"));
    expect(await count("Subject = 'CF.{Severity}'")).to.equal(0);
    expect((await search('NOT Priority = 5')).message).to.equal(
      "Wrong query, expecting a OPERATOR in 'NOT >Priority<--here = 5' at /usr/share/request-tracker5/lib/RT/Tickets.pm line 3187.\n",
    );
    expect((await search('id IN (1,2)')).message).to.match(/^Wrong query, expecting a OPERATOR in 'id >IN<--here/);
    expect((await search('Nosuch = 1')).message).to.match(/^Unknown field: Nosuch at /);
    expect((await search('(id = 1')).message).to.match(/^Incomplete query in '\(id = 1' at /);
  });

  it('reads instants on its own clocks, whatever zone is written, and takes = for a day', async () => {
    const { id } = (await send('POST', '/ticket', { Queue: 1, Due: '2026-03-01T10:00:00Z' })).body;
    const isFound = async (condition: string) => (await count(`id = ${id} AND ${condition}`)) === 1;
    expect(await isFound("Due >= '2026-03-01 05:00:00' AND Due <= '2026-03-01 05:00:00'")).to.equal(true);
    expect(await isFound("Due >= '2026-03-01 10:00:00 GMT'")).to.equal(false);
    expect(await isFound("Due = '2026-03-01'")).to.equal(true);
    expect(await isFound('Starts IS NULL AND Due IS NOT NULL')).to.equal(true);
  });

  it('makes, changes and deletes tickets as the server does, which refuses little and late', async () => {
    const made = await send('POST', '/ticket', { Queue: 'General', Subject: 'two\nlines', Priority: 5 });
    const { body } = made;
    expect([made.status, made.headers.get('location')]).to.deep.equal([201, `${ROOT}/ticket/${body.id}`]);
    const refusals = [{}, { Queue: 1, Status: 'stalled' }];
    const messages = await Promise.all(refusals.map(async (each) => (await send('POST', '/ticket', each)).body));
    expect(messages.map(({ message }) => message)).to.deep.equal([
      'Could not create ticket. Queue not set',
      "New tickets can not have status 'stalled' in this queue.",
    ]);
    const changed = await send('PUT', `/ticket/${body.id}`, { Status: 'nosuch', Subject: 'x'.repeat(300), Nosuch: 1 });
    expect([changed.status, changed.body[0]]).to.deep.equal([
      200,
      `Ticket ${body.id}: Status 'nosuch' isn't a valid status for this ticket.`,
    ]);
    const [ticket] = (await search(`id = ${body.id}`, 'fields=Subject,Status,Priority')).items;
    expect(ticket).to.include({ Subject: 'x'.repeat(200), Status: 'new', Priority: '5' });
    const removals = [
      await ask(`/ticket/${body.id}`, { method: 'DELETE' }),
      await ask(`/ticket/${body.id}`, { method: 'DELETE' }),
    ];
    expect(removals.map(({ status }) => status)).to.deep.equal([204, 500]);
    expect(await count(`id = ${body.id}`)).to.equal(0);
  });

  it('keeps messages as transactions and attachments', async () => {
    const made = await send('POST', '/ticket/1/comment', { Content: 'Grüße', ContentType: 'text/plain', TimeTaken: 3 });
    expect(made.body).to.deep.equal(['Comments added']);
    const [id] = /\d+$/.exec(made.headers.get('location') ?? '') ?? [];
    const query = `ObjectType = 'RT::Ticket' AND id = '${id}'`;
    const [row] = (await search(query, 'fields=Type,TimeTaken,ObjectId', '/transactions')).items;
    expect(row).to.include({ Type: 'Comment', TimeTaken: '3', ObjectId: '1' });
    const [attachment] = (await read(`/transaction/${id}/attachments?fields=ContentType`)).items;
    expect((await read(`/attachment/${attachment?.id}`)).Content).to.equal('R3LDvMOfZQ==\n');
    const failures = [await ask('/attachment/99999'), await send('POST', '/ticket/99999/comment', { Content: '' })];
    expect(failures.map(({ status }) => status)).to.deep.equal([500, 400]);
  });
});

interface Item {
  readonly [name: string]: unknown;
  readonly id: string;
}

/** A body: an item, a list of items, an error, or messages. */
interface Body extends Item {
  readonly [index: number]: string;
  readonly items: readonly Item[];
  readonly total: number;
  readonly message: string;
}
