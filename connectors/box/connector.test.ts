import { expect } from 'chai';
import { failureOf, objectOf, type Provider, startProvider } from '#connector/testing';
import { prepareQuery } from '../../src/where/index.ts';
import box from './index.ts';
import { OBJECTS } from './objects.ts';
import { createSimulator, DEMO_ACCESS_TOKEN } from './simulator.ts';

const files = objectOf(OBJECTS, 'files');
const folders = objectOf(OBJECTS, 'folders');
const search = objectOf(OBJECTS, 'search');

const text = (value: string) => ({ kind: 'string', value }) as const;
const instant = (day: string) => ({ kind: 'datetime', text: day, epochMs: Date.parse(day), nanos: 0 }) as const;

describe('Box, from the connector to its simulator', () => {
  let provider: Provider;

  before(async () => {
    provider = await startProvider(box, createSimulator, { 'oauth.user.token': DEMO_ACCESS_TOKEN });
  });
  after(() => provider.stop());
  beforeEach(() => provider.reset());

  /** Returns the parameters of the search request for a `where` and parameters. A missing `where` stays undefined. */
  async function asked(where: string | undefined, parameters: object = {}) {
    const connection = provider.connect();
    const { plan } = prepareQuery({ ...(where !== undefined && { where }) }, search);
    const filter = plan.queries[0]?.native;
    await connection.list(search, { parameters: { ...parameters }, ...(filter !== undefined && { filter }) });
    return connection.requests.map((request) => {
      const { pathname, searchParams } = new URL(request.replace(/^GET /, ''));
      const { fields, limit, offset, usemarker, ...query } = Object.fromEntries(searchParams);
      return { path: pathname.replace('/2.0', ''), ...query };
    });
  }

  it('asks for words, and for all that goes with them', async () => {
    const where = "size > 5 AND created_at <= '2026-01-31T08:30:00Z' AND extension IN ('pdf', 'txt') AND type = 'file'";
    expect(await asked(where, { text: text('plan OR "Blue-Box"') })).to.deep.equal([
      {
        path: '/search',
        query: 'plan OR "Blue-Box"',
        size_range: '5,',
        created_at_range: ',2026-01-31T08:30:01Z',
        file_extensions: 'pdf,txt',
        type: 'file',
      },
    ]);
    const [named] = await asked("name = 'Quarterly report 1'");
    expect(named).to.deep.equal({ path: '/search', query: '"Quarterly report 1"', content_types: 'name' });
    const [begun] = await asked("name LIKE 'Blue-Bo%'");
    expect(begun).to.deep.equal({ path: '/search', query: 'blue', content_types: 'name' });
    const [tagged] = await asked(undefined, { tags: text('approved, Needs review') });
    const query = '"approved" AND "needs review"';
    expect(tagged).to.deep.equal({ path: '/search', query, content_types: 'tags' });
  });

  it('reads folders where there are no words that can be asked for', async () => {
    for (const where of [
      undefined,
      'size > 5',
      "name = '?!'",
      `name = 'a "b"'`,
      "name LIKE 'O''Brien%'",
      "name LIKE '%x'",
    ]) {
      expect((await asked(where))[0], where).to.deep.equal({ path: '/folders/0/items' });
    }
  });

  it('finds what has all tags and was changed on the days, with words and without', async () => {
    const rows = await provider.connect().listAll(search);
    const tag = String(rows.flatMap((row) => row.tag_names ?? [])[0]);
    const days = { startDate: instant('2024-03-01T00:00:00Z'), endDate: instant('2024-06-30T00:00:00Z') };
    const inDays = ({ modified_at }: (typeof rows)[number]) =>
      String(modified_at) >= '2024-03-01' && String(modified_at) < '2024-07-01';
    const ids = (found: typeof rows) => found.map(({ id }) => id).sort();
    const find = async (parameters: object) =>
      ids(await provider.connect().listAll(search, { parameters: { ...parameters } }));
    const expected = rows.filter(inDays);
    expect(expected.length).to.be.within(5, rows.length - 5);
    expect(await find(days)).to.deep.equal(ids(expected));
    const tagged = (found: typeof rows) =>
      found.filter(({ tag_names }) => Array.isArray(tag_names) && tag_names.includes(tag));
    expect(await find({ ...days, tags: text(tag.toUpperCase()) })).to.deep.equal(ids(tagged(expected)));
    expect(await find({ tags: text(`${tag},nothing has this`) })).to.deep.equal([]);
    const worded = ids(tagged(expected).filter(({ name }) => String(name).includes('report')));
    expect(await find({ ...days, tags: text(tag), text: text('report') })).to.include.members(worded);
  });

  it('searches below a folder by its path, whatever its letter case', async () => {
    const connection = provider.connect();
    const rows = await connection.listAll(search);
    const inner = rows.find(({ type, parent }) => type === 'folder' && Object(parent).id !== '0');
    const outer = rows.find(({ id }) => id === Object(inner?.parent).id);
    const position = `/${String(outer?.name).toUpperCase()}/${inner?.name}/`;
    const isBelow = ({ path_collection }: (typeof rows)[number]) =>
      Object(path_collection).entries.some(({ id }: { id: string }) => id === inner?.id);
    const below = await connection.listAll(search, { parameters: { path: text(position) } });
    expect(below.map(({ id }) => id)).to.have.members(rows.filter(isBelow).map(({ id }) => id));
    const requests = await asked(undefined, { path: text(position), text: text('report') });
    expect(requests.at(-1)).to.include({ path: '/search', ancestor_folder_ids: inner?.id });
    const failure = await failureOf(connection.list(search, { parameters: { path: text('/No such/x') } }));
    expect([failure.code, failure.message]).to.deep.equal([
      'NOT_FOUND',
      "Box has no folder '/No such/x': its part 'No such' does not exist.",
    ]);
  });

  it('stops loudly where Box shows no more', async () => {
    const position = { parameters: { text: text('report') }, cursor: JSON.stringify({ place: '10000 0' }) };
    const failure = await failureOf(provider.connect().list(search, position));
    expect(failure.message).to.equal(
      'Box returns only the first 10000 results of a search, and this search has more. Narrow the search.',
    );
  });

  it('uploads to one host, downloads from another, and takes only a name with a new version', async () => {
    const connection = provider.connect();
    const file = { name: `it's "new".txt`, type: 'text/plain' };
    const stored = await connection.upload(files.upload?.create, { values: {}, fields: [], file }, Buffer.from('one'));
    const { id, ...record } = 'record' in stored ? Object(stored.record) : stored;
    expect(record).to.include({ name: file.name, size: 3, version_number: '1' });
    expect(connection.requests[0]).to.match(/^POST https:\/\/upload\.box\.com\/api\/2\.0\/files\/content\?/);
    const version = { id, values: { name: 'renamed.txt' }, fields: [], file };
    const second = await connection.upload(files.upload?.replace, version, Buffer.from('two'));
    expect('record' in second && second.record).to.include({ id, name: 'renamed.txt' });
    const more = { ...version, values: { description: 'x' } };
    const failure = await failureOf(connection.upload(files.upload?.replace, more, Buffer.from('three')));
    expect(failure.message).to.include("Set 'description' in a request of its own.");
    const { body } = await connection.context.send(files.media?.request({ id }, {}) ?? {});
    expect(String(body)).to.equal('two');
    expect(connection.requests.at(-1)).to.match(/^GET https:\/\/dl\.boxcloud\.com\//);
  });

  it('deletes no folder with all that is in it', async () => {
    const connection = provider.connect();
    const row = (await connection.listAll(files)).find(({ parent }) => Object(parent).id !== '0');
    const failure = await failureOf(connection.run(folders.remove, { id: Object(row?.parent).id }));
    expect(failure.code).to.equal('CONFLICT');
  });
});
