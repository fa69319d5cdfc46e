import { expect } from 'chai';
import { type ApiAnswer, type ApiCall, pluck, useApp, useSharedApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { expectProblem } from './support/expect-problem.ts';
import { BAMBOOHR, PRIVATE_SHOP, SHOP } from './support/simulated.ts';
import { authorizationOf, countRows, createUser, type Tenant, useTenants } from './support/tenants.ts';

interface Made {
  readonly name: string;
  readonly tags: readonly string[];
}

const MADE: readonly Made[] = [
  { name: 'Alpha', tags: ['payroll', 'emea'] },
  { name: 'beta 100%', tags: ['payroll'] },
  { name: 'under_score', tags: ['emea', 'Payroll'] },
  { name: 'back\\slash', tags: [] },
  { name: 'ALPHABET', tags: ['payroll', 'emea', 'a,b', '%'] },
  { name: '<b>Zoë</b>', tags: ['{emea}', '"quoted"', "it's"] },
  { name: 'last one', tags: ['emea'] },
];

describe('listing instances', () => {
  const service = useSharedApp();
  const tenants = useTenants(service);
  before(async () => {
    for (const { name, tags } of MADE) await service.createInstance('odata', SHOP, { name, tags });
    const body = { element: { key: 'odata' }, name: 'Alpha of another', tags: ['payroll'], configuration: SHOP };
    await tenants.stranger.send('POST', '/instances', body);
  });

  const list = (query: Readonly<Record<string, string | number | readonly string[]>> = {}) =>
    service.call('/instances', { query });
  const namesOf = ({ body }: ApiAnswer): string[] => pluck(body, 'name');

  it('shows all of the account, oldest first, with how many they are', async () => {
    const response = await list();
    expect(namesOf(response)).to.deep.equal(MADE.map(({ name }) => name));
    expect(response.headers.get('elements-returned-count')).to.equal('7');
    expect(response.headers.has('link')).to.equal(false);
    expect(response.headers.has('elements-next-page-token')).to.equal(false);
  });

  it('shows each as it is got', async () => {
    for (const record of (await list()).body) {
      expect(await service.get(`/instances/${record.id}`)).to.deep.equal(record);
    }
  });

  describe('by tags', () => {
    const cases: readonly (readonly [readonly string[], readonly string[]])[] = [
      [['payroll'], ['Alpha', 'beta 100%', 'ALPHABET']],
      [
        ['payroll', 'emea'],
        ['Alpha', 'ALPHABET'],
      ],
      [
        ['emea', 'payroll', 'payroll'],
        ['Alpha', 'ALPHABET'],
      ],
      [['Payroll'], ['under_score']],
      [['a,b'], ['ALPHABET']],
      [['{emea}', '"quoted"', "it's"], ['<b>Zoë</b>']],
      [['%'], ['ALPHABET']],
      [['pay'], []],
      [['payroll', 'nowhere'], []],
      [['\0'], []],
    ];
    for (const [tags, names] of cases) {
      it(`has every one of ${JSON.stringify(tags)}`, async () => {
        expect(namesOf(await list({ 'tags[]': tags }))).to.deep.equal(names);
      });
    }

    it('takes brackets that are percent-encoded and those that are not', async () => {
      for (const query of ['tags[]=payroll&tags[]=emea', 'tags%5B%5D=payroll&tags%5b%5d=emea']) {
        expect(namesOf(await service.call(`/instances?${query}`))).to.deep.equal(['Alpha', 'ALPHABET']);
      }
    });

    it('takes an empty one as absent', async () => {
      expect(await service.get('/instances?tags[]=')).to.deep.equal(await service.get('/instances'));
      expect(namesOf(await service.call('/instances?tags[]=&tags[]=payroll&tags[]=emea'))).to.deep.equal([
        'Alpha',
        'ALPHABET',
      ]);
    });
  });

  describe('by searchText', () => {
    const cases: Readonly<Record<string, readonly string[]>> = {
      alpha: ['Alpha', 'ALPHABET'],
      '%': ['beta 100%'],
      _: ['under_score'],
      '\\': ['back\\slash'],
      '\\%': [],
      'a%a': [],
      'k\\s': ['back\\slash'],
      'ZOË</B>': ['<b>Zoë</b>'],
      "' or 1=1 --": [],
      ODATA: MADE.map(({ name }) => name),
      '\0': [],
    };
    for (const [text, names] of Object.entries(cases)) {
      it(`finds ${JSON.stringify(text)} as plain text in name or element key`, async () => {
        expect(namesOf(await list({ searchText: text }))).to.deep.equal(names);
      });
    }

    it('and tags together narrow down', async () => {
      expect(namesOf(await list({ searchText: 'alpha', 'tags[]': ['a,b'] }))).to.deep.equal(['ALPHABET']);
    });
  });

  describe('page by page', () => {
    for (const pageSize of [1, 2, 3, 7, 8]) {
      it(`has no gap and no overlap with ${pageSize} on a page, following the Link as it is`, async () => {
        const found: string[] = [];
        let url: string | undefined = `${service.app.baseUrl}/instances?pageSize=${pageSize}`;
        while (url !== undefined) {
          const response: Response = await fetch(url, { headers: authorizationOf(service) });
          const page: readonly Made[] = JSON.parse(await response.text());
          found.push(...page.map(({ name }) => name));
          expect(response.headers.get('elements-returned-count')).to.equal(String(page.length));
          expect(page.length).to.equal(Math.min(pageSize, MADE.length - (found.length - page.length)));
          url = /^<([^>]+)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1];
          const token = response.headers.get('elements-next-page-token');
          expect(url === undefined).to.equal(token === null);
          if (url !== undefined) expect(new URL(url).searchParams.get('nextPage')).to.equal(token);
        }
        expect(found).to.deep.equal(MADE.map(({ name }) => name));
      });
    }

    it('keeps its filters on the next page', async () => {
      const query = { 'tags[]': ['payroll', 'emea'], searchText: 'alpha', pageSize: 1 };
      const first = await list(query);
      expect(namesOf(first)).to.deep.equal(['Alpha']);
      const url = /^<([^>]+)>/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
      const next = await fetch(url, { headers: authorizationOf(service) });
      expect(pluck(JSON.parse(await next.text()), 'name')).to.deep.equal(['ALPHABET']);
      expect(next.headers.has('link')).to.equal(false);
    });

    it('does not shift when instances come and go', async () => {
      const first = await list({ pageSize: 3 });
      const extra = await service.createInstance('odata', SHOP, { name: 'extra' });
      const nextPage = first.headers.get('elements-next-page-token') ?? '';
      expect(namesOf(await list({ pageSize: 3, nextPage }))).to.deep.equal(MADE.slice(3, 6).map(({ name }) => name));
      await service.send('DELETE', `/instances/${extra.id}`);
    });

    const NOT_OURS =
      'nextPage does not belong to this listing. Send the token of the previous page, with the same filters.';

    it('refuses a token of other filters, of another account, of records, a changed one and nonsense', async () => {
      const nextPage = (await list({ pageSize: 2 })).headers.get('elements-next-page-token') ?? '';
      expectProblem(await list({ nextPage, searchText: 'alpha' }), 'REQUEST_INVALID', NOT_OURS);
      expectProblem(await list({ nextPage, 'tags[]': 'emea' }), 'REQUEST_INVALID', NOT_OURS);
      const others = await tenants.stranger.call('/instances', { query: { nextPage } });
      expectProblem(others, 'REQUEST_INVALID', NOT_OURS);

      const { token } = (await list({ pageSize: 1 })).body[0];
      const records = await service.call('/Products?pageSize=1', { token });
      const ofRecords = records.headers.get('elements-next-page-token') ?? '';
      expectProblem(await list({ nextPage: ofRecords }), 'REQUEST_INVALID', NOT_OURS);
      const toRecords = await service.call('/Products', { token, query: { nextPage } });
      expectProblem(toRecords, 'REQUEST_INVALID', /^nextPage does not belong to this query\. /);

      for (const wrong of ['x', '5', nextPage.slice(1), `${nextPage}A`, flipLast(nextPage), '../..', '\0', 'ü']) {
        expectProblem(await list({ nextPage: wrong }), 'REQUEST_INVALID', NOT_OURS);
      }
    });

    it('takes a token with another page size', async () => {
      const nextPage = (await list({ pageSize: 2 })).headers.get('elements-next-page-token') ?? '';
      expect(namesOf(await list({ nextPage, pageSize: 100 }))).to.deep.equal(MADE.slice(2).map(({ name }) => name));
    });
  });

  describe('of an account', () => {
    const FIELDS = [
      ...['id', 'name', 'createdDate', 'token', 'element', 'elementId', 'tags', 'provisionInteractions', 'valid'],
      ...['disabled', 'maxCacheSize', 'cacheTimeToLive', 'providerData', 'configuration', 'eventsEnabled'],
      ...['eventsNotificationCallbackUrl', 'traceLoggingEnabled', 'cachingEnabled', 'externalAuthentication'],
      'user',
    ];
    const ELEMENT_FIELDS = [
      ...['id', 'name', 'key', 'image', 'deleted', 'typeOauth', 'trialAccount', 'transformationsEnabled'],
      ...['bulkDownloadEnabled', 'bulkUploadEnabled', 'cloneable', 'extendable', 'beta', 'extended'],
    ];

    it('has exactly the fields of the contract, the same for one’s own account and for its id', async () => {
      const own = await service.call('/accounts/instances');
      const byId = await service.call(`/accounts/${service.accountId}/instances`);
      expect(byId.body).to.deep.equal(own.body);
      expect(namesOf(own)).to.deep.equal(MADE.map(({ name }) => name));
      expect(own.headers.get('elements-returned-count')).to.equal('7');
      for (const record of own.body) {
        expect(record).to.have.all.keys(FIELDS);
        expect(record.element).to.have.all.keys(ELEMENT_FIELDS);
        expect(record.user).to.deep.equal({ id: service.userId });
        expect(record.configuration).to.deep.equal({});
        expect(record.eventsNotificationCallbackUrl).to.equal('false');
      }
    });

    it('shows the owner’s id to a colleague', async () => {
      const headers = authorizationOf(tenants.colleague);
      const { id } = await createAs(headers);
      const own = await service.call('/accounts/instances', { headers });
      const owners = new Set(own.body.map(({ user }: { user: { id: number } }) => user.id));
      expect(owners).to.have.property('size', 2);
      const record = await service.get(`/instances/${id}`);
      expect(record.user).to.deep.include({ emailAddress: 'colleague@example.com', firstName: '', lastName: '' });
      await service.send('DELETE', `/instances/${id}`);
    });

    async function createAs(headers: Readonly<Record<string, string>>) {
      const body = { element: { key: 'bamboohr' }, name: 'Of a colleague', configuration: BAMBOOHR };
      return await service.change('POST', '/instances', body, { headers });
    }

    it('takes neither tags nor a text to search for', async () => {
      for (const query of ['searchText=x', 'tags[]=x']) {
        const [name] = query.split(/=|\[/);
        const response = await service.call(`/accounts/instances?${query}`);
        expectProblem(response, 'REQUEST_INVALID', new RegExp(`^Unknown query parameter '${name}`));
      }
    });
  });

  it('shows no secret anywhere', async () => {
    const { id } = await service.createInstance('odata', PRIVATE_SHOP, { name: 'with a secret' });
    for (const path of ['/instances', '/accounts/instances', '/elements', '/elements/odata']) {
      const body = await service.get(path);
      expect(JSON.stringify(body)).not.to.include(PRIVATE_SHOP.password);
    }
    await service.send('DELETE', `/instances/${id}`);
  });
});

describe('listing the instances of an account', () => {
  const service = useSharedApp();
  const NAMES = ['one', 'two', 'three', 'four'];

  before(async () => {
    for (const name of NAMES) await service.createInstance('odata', SHOP, { name });
  });

  const namesOf = ({ body }: ApiAnswer): string[] => pluck(body, 'name');

  const list = (path: string, call: ApiCall = {}) =>
    service.call(path.replace('{own}', String(service.accountId)), call);

  for (const path of ['/accounts/instances', '/accounts/{own}/instances']) {
    it(`answers all at once, or all for which where is true: ${path}`, async () => {
      const all = await list(path);
      expect(namesOf(all)).to.deep.equal(NAMES);
      expect(all.headers.get('elements-total-count')).to.equal('4');
      const some = await list(path, { query: { where: "name LIKE 't%'" } });
      expect(namesOf(some)).to.deep.equal(['two', 'three']);
      expect(some.headers.has('elements-next-page-token')).to.equal(false);
      expectProblem(await list(path, { query: { where: 'nmae IS NULL' } }), 'WHERE_INVALID');
    });

    it(`comes page by page when it is asked to: ${path}`, async () => {
      const first = await list(path, { query: { pageSize: 3 } });
      expect(namesOf(first)).to.deep.equal(NAMES.slice(0, 3));
      expect(first.headers.has('elements-total-count')).to.equal(false);
      const nextPage = first.headers.get('elements-next-page-token') ?? '';
      expect(namesOf(await list(path, { query: { nextPage } }))).to.deep.equal(NAMES.slice(3));
      expectProblem(await list(path, { query: { nextPage, where: 'valid = TRUE' } }), 'REQUEST_INVALID');
    });
  }
});

/** Another last character, of which all bits count. */
function flipLast(token: string): string {
  const middle = Math.floor(token.length / 2);
  return token.slice(0, middle) + (token[middle] === 'A' ? 'B' : 'A') + token.slice(middle + 1);
}

describe('the last calls of instances', () => {
  const service = useApp({ SIMULATORS_PORT: '0' }, { recorderOptions: { flushMs: 20 } });
  let ids: Readonly<Record<'zebra' | 'Apple' | 'mango', number>>;
  let tokens: Readonly<Record<'zebra' | 'Apple' | 'mango', string>>;
  let colleague: Tenant;

  before(async () => {
    colleague = await createUser(service, { accountId: 1, name: 'Aaron', role: 'org-admin' });
    const zebra = await service.createInstance('odata', SHOP, { name: 'zebra' });
    const body = { element: { key: 'bamboohr' }, name: 'Apple', configuration: BAMBOOHR };
    const headers = authorizationOf(colleague);
    const apple = await service.change('POST', '/instances', body, { headers });
    const mango = await service.createInstance('odata', SHOP, { name: 'mango' });
    ids = { zebra: zebra.id, Apple: apple.id, mango: mango.id };
    tokens = { zebra: zebra.token, Apple: apple.token, mango: mango.token };
  });

  const get = async (id: number) => await service.get(`/instances/${id}`);
  const namesBy = async (orderBy: string, more = {}) =>
    pluck(await service.get('/instances', { query: { orderBy, ...more } }), 'name');

  /** Until it is recorded. */
  async function callOn(name: keyof typeof ids, path: string) {
    const headers = authorizationOf(colleague, tokens[name]);
    const response = await service.call(path, { headers });
    const requestId = response.headers.get('elements-request-id');
    await until(async () => (await service.call(`/activity/${requestId}`)).status === 200);
    return { ...response, requestId };
  }

  it('are shown with the last one that failed, and not without one', async () => {
    expect(await get(ids.mango)).to.not.have.any.keys('lastCallDate', 'lastError');
    const failed = await callOn('zebra', '/Products?where=nosuch%20%3D%201');
    const { lastCallDate, lastError } = await get(ids.zebra);
    expect(lastError).to.deep.equal({
      date: lastCallDate,
      status: 400,
      code: 'WHERE_INVALID',
      requestId: failed.requestId,
    });
    await callOn('zebra', '/Products?pageSize=1');
    const after = await get(ids.zebra);
    expect(after.lastError).to.deep.equal(lastError);
    expect(Date.parse(after.lastCallDate)).to.be.above(Date.parse(lastCallDate));
    const listed = await service.get('/instances');
    expect(listed.find(({ id }: { readonly id: number }) => id === ids.zebra)).to.deep.equal(after);
    await callOn('Apple', '/employees?pageSize=1');
    expect(await get(ids.Apple)).to.not.have.property('lastError');
    // Reading an instance is no call on it.
    expect(await get(ids.mango)).to.not.have.any.keys('lastCallDate', 'lastError');
  });

  it('may stand in the body of a PUT, as they were read', async () => {
    const read = await service.get(`/instances/${ids.zebra}`);
    const { status } = await service.send('PUT', `/instances/${ids.zebra}`, read);
    expect(status).to.equal(200);
  });

  const ORDERS: Readonly<Record<string, readonly string[]>> = {
    name: ['Apple', 'mango', 'zebra'],
    'name desc': ['zebra', 'mango', 'Apple'],
    'element.key': ['Apple', 'zebra', 'mango'],
    'createdDate DESC': ['mango', 'Apple', 'zebra'],
    'user.emailAddress asc': ['Apple', 'zebra', 'mango'],
    'lastCallDate desc': ['Apple', 'zebra', 'mango'],
    'lastError.date desc': ['zebra', 'mango', 'Apple'],
    state: ['mango', 'zebra', 'Apple'],
  };
  for (const [orderBy, names] of Object.entries(ORDERS))
    it(`order the list, as the other columns do: ${orderBy}, in pages as well`, async () => {
      await service.send('DELETE', `/instances/${ids.mango}/enabled`);
      expect(await namesBy(orderBy)).to.deep.equal(names);
      const found: string[] = [];
      let nextPage: string | undefined;
      do {
        const { body, headers } = await service.call('/instances', { query: { orderBy, pageSize: 1, nextPage } });
        found.push(...pluck(body, 'name'));
        nextPage = headers.get('elements-next-page-token') ?? undefined;
      } while (nextPage !== undefined);
      expect(found).to.deep.equal(names);
      expect(await namesBy(orderBy, { where: "element.key = 'odata'" })).to.deep.equal(
        names.filter((name) => name !== 'Apple'),
      );
    });

  it('refuse another order, and the page of another one', async () => {
    const message =
      'orderBy must be one of name, element.key, state, createdDate, user.emailAddress, lastCallDate, lastError.date, followed by asc (the default) or desc.';
    for (const orderBy of ['token', 'name up', 'name, state', '1; drop table instance', 'constructor'])
      expectProblem(await service.call('/instances', { query: { orderBy } }), 'REQUEST_INVALID', message);
    const { headers } = await service.call('/instances', { query: { orderBy: 'name', pageSize: 1 } });
    const nextPage = headers.get('elements-next-page-token') ?? '';
    const other = await service.call('/instances', { query: { orderBy: 'state', pageSize: 1, nextPage } });
    expectProblem(other, 'REQUEST_INVALID');
  });

  it('go with their instance', async () => {
    await service.send('DELETE', `/instances/${ids.zebra}`);
    expect(await countRows(service, 'instance_call')).to.equal(1);
  });
});
