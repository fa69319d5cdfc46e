import { expect } from 'chai';
import { type ServedSimulator, serveSimulator } from '#connector/testing';
import { createSimulator, DEMO_CONFIGURATION } from './simulator.ts';

/** The members of bodies that these tests read. */
interface Body {
  readonly issues: readonly { readonly id: number; readonly due_date: string | null }[];
  readonly issue: { readonly id: number; readonly status: object };
  readonly total_count: number;
  readonly user: object;
  readonly upload: { readonly id: number; readonly token: string };
  readonly attachment: object;
}

/** A Redmine 5.0.4 returned the responses that these tests expect. */
describe('the Redmine simulator', () => {
  let served: ServedSimulator;
  before(async () => {
    served = await serveSimulator('redmine', createSimulator);
  });
  after(() => served.stop());
  beforeEach(() => served.reset());

  const ask = (path: string, init: RequestInit = {}) => {
    const headers = {
      'x-redmine-api-key': DEMO_CONFIGURATION['api.key'],
      forwarded: 'host=redmine.example.com',
      ...init.headers,
    };
    return served.call<Body>(`/pm${path}`, { ...init, headers });
  };
  const read = async (path: string) => (await ask(path)).body;
  const send = (method: string, path: string, body: unknown) => ask(path, { method, body: JSON.stringify(body) });
  const count = async (field: string, operator: string, ...values: readonly string[]) => {
    const query = new URLSearchParams([
      ['f[]', field],
      [`op[${field}]`, operator],
      ...values.map((value) => [`v[${field}][]`, value] as [string, string]),
    ]);
    const response = await ask(`/issues.json?${query}`);
    return response.status === 200 ? response.body.total_count : response.status;
  };

  it('lets in whoever has the key, with no words for others', async () => {
    const refused = await ask('/issues.json', { headers: { 'x-redmine-api-key': 'wrong' } });
    expect([refused.status, refused.text]).to.deep.equal([401, '']);
    expect((await read('/users/current.json')).user).to.include({ id: 1, status: 1 });
  });

  it('lists open issues, or what is asked for, a hundred at most', async () => {
    const open = await read('/issues.json');
    const all = await read('/issues.json?f[]=&limit=1000&offset=2');
    expect(open).to.include({ offset: 0, limit: 25 });
    expect(all).to.include({ offset: 2, limit: 100 });
    expect(open.total_count).to.be.within(1, all.total_count - 1);
    expect(open.issues.map(({ id }) => id)).to.deep.equal(open.issues.map(({ id }) => id).sort((a, b) => b - a));
    const [first] = (await read('/issues.json?f[]=&sort=id:asc')).issues;
    expect(first).to.deep.include({ id: 1, project: { id: 2, name: 'Project 2' }, estimated_hours: null });
    const unassigned = all.issues.filter((issue) => !('assigned_to' in issue));
    expect(unassigned.length).to.be.within(1, all.issues.length - 1);
  });

  it('compares as its database does, and passes over filters that it does not have', async () => {
    const all = await count('', '');
    expect(await count('nosuch', '=', '1')).to.equal(all);
    expect(await count('subject', '^', 'AB')).to.equal(await count('subject', '^', 'ab'));
    expect(await count('subject', '~', 'one three "two"')).to.equal(await count('subject', '~', 'three'));
    expect(await count('issue_id', '=', '1,2,1')).to.equal(2);
    expect(await count('assigned_to_id', '!', '1')).to.be.above(await count('assigned_to_id', '=', '5', '6'));
    expect(Number(await count('due_date', '*')) + Number(await count('due_date', '!*'))).to.equal(all);
  });

  it('begins a day when the user does, who lives in the west', async () => {
    const { issues } = await read('/issues.json?f[]=&limit=100');
    const days = issues.flatMap(({ due_date }) => due_date ?? []);
    const day = days[7] ?? '';
    expect(await count('due_date', '>=', day)).to.equal(days.filter((each) => each > day).length);
  });

  it('refuses what is blank or no day, without words', async () => {
    expect(await count('subject', '~', ' ')).to.equal(400);
    expect(await count('due_date', '>=', 'tomorrow')).to.equal(400);
  });

  it('makes, changes and deletes records, and knows them by the digits in front', async () => {
    const refused = await send('POST', '/issues.json', { issue: { project_id: 1, subject: ' ' } });
    expect([refused.status, refused.body]).to.deep.equal([422, { errors: ['subject cannot be blank'] }]);
    const made = await send('POST', '/issues.json', { issue: { project_id: 2, subject: '  x', nosuch_thing: 1 } });
    const { issue } = made.body;
    expect(made.status).to.equal(201);
    expect(issue).to.deep.include({
      subject: '  x',
      project: { id: 2, name: 'Project 2' },
      status: { id: 1, name: 'Status 1', is_closed: false },
    });
    const changed = await send('PUT', `/issues/${issue.id}.json`, { issue: { status_id: 5, notes: 'n' } });
    expect([changed.status, changed.text]).to.deep.equal([204, '']);
    expect((await read(`/issues/${issue.id}abc.json`)).issue.status).to.include({ is_closed: true });
    const removals = [await send('DELETE', `/issues/${issue.id}.json`, {}), await ask(`/issues/${issue.id}.json`)];
    expect(removals.map(({ status }) => status)).to.deep.equal([204, 404]);
  });

  it('takes files as bytes only, and replaces what no name may have', async () => {
    const upload = (type: string) =>
      ask('/uploads.json?filename=x%22y.txt&content_type=text/plain', {
        method: 'POST',
        body: 'abc',
        headers: { 'content-type': type },
      });
    expect((await upload('text/plain')).status).to.equal(406);
    const { upload: made } = (await upload('application/octet-stream')).body;
    expect(made.token).to.match(/^\d+\.[0-9a-f]{64}$/);
    expect((await read(`/attachments/${made.id}.json`)).attachment).to.include({ filename: 'x_y.txt', filesize: 3 });
    expect((await ask(`/attachments/download/${made.id}`)).text).to.equal('abc');
  });
});
