import { expect } from 'chai';
import { type Connection, failureOf, objectOf, type Provider, startProvider } from '#connector/testing';
import { prepareQuery } from '../../src/where/index.ts';
import { parametersOf } from './filters.ts';
import redmine from './index.ts';
import { attachments, issues, projects, timeEntries } from './objects.ts';
import { createSimulator, DEMO_CONFIGURATION } from './simulator.ts';

/** Returns the conditions of a filter as a query. */
function asked(where: string, name = 'issues'): string {
  const object = objectOf({ issues, projects, 'time-entries': timeEntries }, name);
  const { native } = prepareQuery({ where }, object).plan;
  if (object.list === undefined || !('request' in object.list)) throw new Error('Two halves were expected.');
  const { query = {} } = object.list.request({ filter: native, parameters: {}, fields: [], orderBy: [], limit: 5 }, {});
  const conditions = Object.entries(query).filter(([key]) => /^(?:f|op|v)\[/.test(key));
  return conditions.map(([key, value]) => `${key}=${[value].flat().join('|')}`).join('&');
}

describe('Redmine, from the connector to its simulator', () => {
  let simulator: Provider;
  let connection: Connection;

  before(async () => {
    simulator = await startProvider(redmine, createSimulator, DEMO_CONFIGURATION);
    connection = simulator.connect();
  });
  after(() => simulator.stop());
  beforeEach(() => simulator.reset());

  it('asks for closed issues, too, and for references by their ids', () => {
    expect(asked("status_id = 5 OR subject = 'x'")).to.equal('f[]=');
    expect(asked('status_id = 5 AND assigned_to_id IS NULL')).to.equal(
      'f[]=|status_id|assigned_to_id&op[status_id]==&v[status_id][]=5&op[assigned_to_id]=!*',
    );
    expect(asked('id IN (1, 2)')).to.equal('f[]=|issue_id&op[issue_id]==&v[issue_id][]=1,2');
    expect(asked('id NOT IN (1, 2)', 'projects')).to.equal('f[]=|id&op[id]=!&v[id][]=1|2');
    expect(asked('is_private = true')).to.equal('f[]=|is_private&op[is_private]==&v[is_private][]=1');
  });

  it('lets any text stand as it is, and asks for no blanks', () => {
    const subject = (operator: string, value: string) => `f[]=|subject&op[subject]=${operator}&v[subject][]=${value}`;
    expect(asked("subject = '!*|~x'")).to.equal(subject('^', '!*|~x'));
    expect(asked("subject LIKE '%a\\%b'")).to.equal(subject('$', 'a%b'));
    expect(asked("subject LIKE '%x y%'")).to.equal(subject('~', 'x y'));
    expect(asked("subject = ' '")).to.equal('f[]=');
    for (const pattern of [' %', '% ', '% %']) expect(asked(`subject LIKE '${pattern}'`), pattern).to.equal('f[]=');
  });

  it('has one condition for a field, and a range of two bounds', () => {
    expect(asked('done_ratio > 10 AND done_ratio < 50')).to.equal(
      'f[]=|done_ratio&op[done_ratio]=><&v[done_ratio][]=11|49',
    );
    expect(asked("subject LIKE 'a%' AND subject LIKE '%b'")).to.match(/^f\[\]=\|subject&op\[subject\]=[$^]&/);
    const text = '日'.repeat(255);
    const ids = Array.from({ length: 50 }, (_, index) => 1_000_000 + index).join(', ');
    const long = asked(`subject = '${text}' AND description = '${text}' AND status_id IN (${ids})`);
    expect(encodeURI(long).length).to.be.within(1000, 6000);
  });

  it('asks for a day, an hour and a hundredth more on either side', () => {
    const range = (name: string, low: string, high: string) =>
      `f[]=|${name}&op[${name}]=><&v[${name}][]=${low}|${high}`;
    expect(asked("due_date = '2024-03-01'")).to.equal(range('due_date', '2024-02-29', '2024-03-02'));
    expect(asked("created_on = '2026-03-01T10:00:00Z'")).to.equal(
      range('created_on', '2026-03-01T08:59:59Z', '2026-03-01T11:00:01Z'),
    );
    expect(asked('estimated_hours = 1.5')).to.equal(range('estimated_hours', '1.490', '1.510'));
    expect(asked("due_date <= '9999-12-31'")).to.equal('f[]=|due_date&op[due_date]=*');
    expect(parametersOf([])).to.deep.equal({ 'f[]': [''] });
  });

  it('says what the workflow kept from being set', async () => {
    const { update } = issues;
    if (update === undefined || !('run' in update)) throw new Error('A function was expected.');
    const { run } = update;
    const context = {
      ...connection.context,
      send: async () => ({ status: 200, headers: {}, body: { issue: { id: 1, status: { id: 1 } } } }),
    };
    const change = (id: number | null) => run(context, { id: '1', values: { status: { id } }, fields: [] });
    const failure = await failureOf(change(5));
    expect(failure.code).to.equal('PROVIDER_REJECTED');
    expect(failure.message).to.equal(
      'Redmine did not change status_id: the workflow or the role of this user does not allow it.',
    );
    expect(await change(1)).to.deep.equal({ id: 1, status: { id: 1 } });
  });

  it('takes no text for an id of which Redmine would read the digits in front, or the name of a project', async () => {
    const before = connection.requests.length;
    for (const id of ['1abc', 'project-1', '01', '']) {
      expect((await failureOf(connection.run(projects.get, { id, fields: [] }))).code).to.equal('NOT_FOUND');
      expect((await failureOf(connection.run(issues.remove, { id }))).code).to.equal('NOT_FOUND');
    }
    expect(connection.requests.length).to.equal(before);
  });

  it('takes parents away and sets them by their own name', async () => {
    const set = (id: number | null) =>
      connection.run(issues.update, { id: '2', values: { parent: { id } }, fields: [] });
    expect(await set(3)).to.deep.include({ parent: { id: 3 } });
    expect(await set(null)).not.to.have.property('parent');
  });

  it('warns where everybody is answered', async () => {
    const { examine } = redmine;
    const contextOf = (status: number) => ({
      ...connection.context,
      send: async () => {
        if (status === 401) throw new Error('refused');
        return { status, headers: {}, body: {} };
      },
    });
    expect(await examine?.(connection.context)).to.deep.equal({ 'api.warning': undefined });
    expect((await examine?.(contextOf(200)))?.['api.warning']).to.include('Authentication required');
    expect(attachments.media?.types).to.deep.equal(['*']);
  });
});
