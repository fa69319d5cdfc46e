import { expect } from 'chai';
import {
  defineConnector,
  defineObject,
  type Inputs,
  inputs,
  json,
  list,
  type ObjectSpec,
} from '../../src/connector/index.ts';
import { pluck, useApp } from '../support/app.ts';
import { json as respond, useMisbehavingServer } from '../support/misbehaving-server.ts';
import { expectProblem } from './support/expect-problem.ts';

/** A list of one row, which names the address that was asked for. */
function echo(path: string, more: Partial<ObjectSpec<Inputs>> = {}) {
  return defineObject<Inputs>({
    fields: {
      id: { type: 'string', nullable: false, filter: { '=': 'exact' } },
      asked: { type: 'string' },
    },
    translator: inputs({ id: 'id' }),
    list: list({
      request: ({ filter, parameters }) => ({
        path,
        query: {
          ...filter,
          ...Object.fromEntries(
            Object.entries(parameters).map(([name, value]) => [
              name,
              'value' in value ? String(value.value) : value.text,
            ]),
          ),
        },
      }),
      rows: (body) => json.objects(body, 'the rows'),
      paging: { kind: 'whole' },
    }),
    get: { request: ({ id }) => ({ path: `${path}/${id}` }), read: ({ body }) => json.objects(body, 'the rows')[0] },
    ...more,
  });
}

const text = { type: 'string', description: 'Words' } as const;
const day = { type: 'date', description: 'A day' } as const;

const desk = defineConnector({
  key: 'desk',
  id: 9101,
  name: 'Desk',
  description: 'Names of all kinds',
  hub: 'crm',
  moreHubs: ['helpdesk'],
  auth: { type: 'none' },
  configuration: [],
  baseUrl: () => 'https://desk.example.com',
  hosts: ['desk.example.com'],
  objects: {
    Contact: echo('/c', { aliases: ['contacts', 'tickets', 'accounts'] }),
    tickets: echo('/t'),
    tasks: echo('/tasks'),
    'tasks/search': echo('/found', { children: { 'sub-tasks': echo('/children') } }),
    search: echo('/search', { parameters: { text, path: text, startDate: day, endDate: day, tags: text } }),
  },
  probe: { path: '/' },
});

const other = defineConnector({
  ...desk,
  key: 'other',
  id: 9102,
  hub: 'general',
  moreHubs: [],
  objects: { tasks: echo('/tasks') },
});

describe('names of objects', () => {
  const overrides = { connectors: [desk, other], simulatorsUrl: '' };
  const provider = useMisbehavingServer({
    otherwise: (response, request) => {
      const asked = decodeURIComponent((request.url ?? '').replace(/^\/[a-z]+\/?/, '/'));
      respond([{ id: 'a', asked }])(response, request);
    },
  });
  before(() => void Object.assign(overrides, { simulatorsUrl: provider.url }));
  const service = useApp({ SIMULATORS_PORT: 'off' }, overrides);
  const tokens = new Map<string, string>();
  const call = async (path: string, element = 'desk') => {
    const token = tokens.get(element) ?? (await service.createInstance(element, { simulator: true })).token;
    tokens.set(element, token);
    return service.call(path, { token });
  };
  const asked = async (path: string, element?: string) => {
    const { status, body } = await call(path, element);
    return status === 200 ? [body].flat()[0]?.asked : `${status} ${body.message}`;
  };

  it('have aliases, which are shown and hide no object with such a name of its own', async () => {
    expect(await asked('/contacts')).to.equal('/c');
    expect(await asked('/hubs/crm/contacts/7')).to.equal('/c/7');
    expect(await asked('/tickets')).to.equal('/t');
    // A path of the platform is the element's where it has an alias of that name.
    expect(await asked('/accounts')).to.equal('/c');
    const { body } = await call('/objects?details=true');
    expect(body[0]).to.deep.include({ name: 'Contact', aliases: ['contacts', 'accounts'] });
    expect((await call('/objects')).body).to.deep.equal(['Contact', 'tickets', 'tasks', 'tasks/search', 'search']);
    expect((await call('/objects/contacts/metadata')).body.name).to.equal('Contact');
  });

  it('may have two words, with the slash as it is or encoded, wherever a name stands', async () => {
    for (const path of ['/tasks/search', '/tasks%2Fsearch', '/hubs/crm/tasks/search', '/tasks/search/']) {
      expect(await asked(path), path).to.equal('/found');
    }
    expect(await asked(`/tasks/search?where=${encodeURIComponent("id = 'x/tasks/search'")}`)).to.equal(
      '/found?id=x/tasks/search',
    );
    expect(await asked('/tasks/search/5')).to.equal('/found/5');
    expect(await asked('/tasks/search/5/sub-tasks')).to.equal('/children');
    for (const path of ['/objects/tasks/search/metadata', '/hubs/crm/objects/tasks/search/metadata']) {
      expect((await call(path)).body.name, path).to.equal('tasks/search');
    }
    const { body } = await call(`/tasks/search?where=${encodeURIComponent('idd = 1')}`);
    expect(body.details[0]).to.include({ position: 0, nearest: 'id' });
  });

  it('are those of a record where the element has no such object', async () => {
    expect(await asked('/tasks/search', 'other')).to.equal('/tasks/search');
    expect(await asked('/tasks/search/5')).to.equal('/found/5');
  });

  it('answer below every hub of the element, and below no other', async () => {
    expect(await asked('/hubs/helpdesk/contacts')).to.equal('/c');
    const message = "The element of this instance is in the hubs 'crm' and 'helpdesk', not 'documents'.";
    expectProblem(await call('/hubs/documents/contacts'), 'NOT_FOUND', message);
    const body = await service.get('/elements?hub=helpdesk');
    expect(pluck(body, 'key')).to.deep.equal(['desk']);
  });

  it('are looked for by words, place, days and tags where there is a search', async () => {
    const where = encodeURIComponent("id = 'a' AND asked LIKE '/%'");
    const query = `text=O'Neil&path=/a&startDate=2026-01-01&endDate=2026-02-01&tags[]=x&tags[]=y&where=${where}`;
    expect(await asked(`/search?${query}`)).to.equal(
      "/search?id=a&text=O'Neil&path=/a&startDate=2026-01-01&endDate=2026-02-01&tags=x,y",
    );
    expect(await asked(`/hubs/crm/search?tags=x`)).to.equal('/search?tags=x');
    expect(await asked('/search?where=text%20=%20%27a%27')).to.equal('/search?text=a');
    expect(await asked('/search?startDate=soon')).to.match(/^400 .*'startDate' is of type date/);
    expect(await asked('/search?text=a&where=id%20=')).to.match(/^400 /);
    expectProblem(await call('/search?text=a', 'other'), 'NOT_FOUND', /has no object 'search'/);
    expect(await asked('/tickets?text=a')).to.match(/^400 .*text/);
  });
});
