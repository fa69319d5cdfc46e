import { Readable } from 'node:stream';
import { expect } from 'chai';
import {
  basic,
  bearer,
  type Call,
  createBody,
  createBudget,
  createMovableClock,
  createTimeZone,
  empty,
  Fault,
  json,
  keyHeader,
  SYSTEM_CLOCK,
  simulate,
  takePage,
  times,
} from '#connector/simulator';
import { createVirtualClock } from '../../support/virtual-clock.ts';
import { type Served, serve } from './serve.ts';

const HEADERS = { 'x-key': 'right' };

describe('a provider made of tables', () => {
  let served: Served;
  const clock = createMovableClock({ ...SYSTEM_CLOCK, now: () => Date.UTC(2030, 0, 1) });

  before(async () => {
    served = await serve((baseUrl) =>
      simulate(
        {
          clock,
          limits: { bytes: 1000, parts: 2, urlCharacters: 300 },
          headers: { 'x-toy': 'yes' },
          authenticate: keyHeader('x-key', (key) => key === 'right', 'Who are you?'),
          print: ({ status, code, message, fields, headers }) => json({ code, message, fields }, status, headers),
          open: { 'GET /about': ({ origin, host }) => json({ origin, host }) },
          routes: {
            'GET /things/{id}': ({ params }) => json(params),
            'GET /things/{id}/parts/{part}': ({ params }) => json(params),
            'GET /files/{rest*}': ({ params }) => json(params),
            'GET /a.b/(c)': () => json('as it is'),
            'GET /list': (call) =>
              json(
                takePage(
                  times(5, (n) => n),
                  { kind: 'cursor', cursor: 'after', size: 'size', usual: 2, most: 3 },
                  call,
                ),
              ),
            'POST /json': ({ body }) => json(body.object(), 201),
            'POST /form': ({ body }) => json(Object.fromEntries(body.form())),
            'POST /xml': ({ body }) => json(body.xml()),
            'POST /parts': async ({ body }) => json([...(await body.multipart()).keys()]),
            'GET /stream': () => ({
              headers: { 'content-type': 'text/csv' },
              stream: Readable.from(times(3, (n) => Buffer.from(`${n}\n`))),
            }),
            'DELETE /things/{id}': () => empty(),
            'GET /broken': () => {
              throw new TypeError('a bug');
            },
            'GET /refused': () => {
              throw new Fault(422, 'NO', 'It is so.', { fields: ['a'], headers: { 'x-why': 'so' } });
            },
          },
        },
        { baseUrl },
      ),
    );
  });
  after(() => served.stop());

  async function call(
    method: string,
    path: string,
    init: { body?: string | FormData; headers?: Record<string, string> } = {},
  ) {
    const response = await fetch(served.url + path, { ...init, method, headers: { ...HEADERS, ...init.headers } });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  }
  const get = (path: string, headers: Record<string, string> = {}) => call('GET', path, { headers });

  it('finds a route by method and template, its segments decoded', async () => {
    expect((await get('/things/a%2Fb')).body).to.deep.equal({ id: 'a/b' });
    expect((await get('/things/a/parts/%F0%9F%98%80/')).body).to.deep.equal({ id: 'a', part: '😀' });
    expect((await get('/files/a%2Fb/c?d=e')).body).to.deep.equal({ rest: 'a%2Fb/c' });
    expect((await get('/a.b/(c)')).body).to.equal('as it is');
    expect((await get('/axb/(c)')).status).to.equal(404);
  });

  it('says what is not there, which methods are, and what is no encoding', async () => {
    expect(await get('/things')).to.deep.include({
      status: 404,
      body: { code: 'NOT_FOUND', message: 'There is nothing at /things.', fields: [] },
    });
    const wrong = await call('PUT', '/things/1');
    expect([wrong.status, wrong.headers.get('allow')]).to.deep.equal([405, 'GET, DELETE']);
    expect((await get('/things/%FF')).status).to.equal(400);
    expect((await get(`/things/${'x'.repeat(300)}`)).status).to.equal(414);
  });

  it('lets in who has the key, and everybody to what is open', async () => {
    expect(await get('/things/1', { 'x-key': 'wrong' })).to.deep.include({
      status: 401,
      body: { code: 'UNAUTHORIZED', message: 'Who are you?', fields: [] },
    });
    const about = await get('/about', { 'x-key': 'wrong', forwarded: 'for=1.2.3.4;host="Shop.example.com:444"' });
    expect(about.body).to.deep.equal({ origin: 'https://shop.example.com:444', host: 'shop.example.com:444' });
    expect((await get('/about')).body).to.deep.equal({ origin: served.url });
  });

  it('reads JSON, forms, XML and multipart bodies, and says what is none', async () => {
    const xml = '<a id="1"><b>x &amp; y</b></a>';
    const parts = new FormData();
    parts.set('one', 'a');
    parts.set('two', new Blob(['b']), 'b.txt');
    expect((await call('POST', '/json', { body: '{"a":"ü"}' })).body).to.deep.equal({ a: 'ü' });
    expect((await call('POST', '/form', { body: 'a=b+c%26' })).body).to.deep.equal({ a: 'b c&' });
    expect((await call('POST', '/xml', { body: xml })).body).to.deep.equal({ a: { b: 'x & y', id: '1' } });
    expect((await call('POST', '/parts', { body: parts })).body).to.deep.equal(['one', 'two']);
    parts.set('three', 'c');
    const refused = [
      await call('POST', '/parts', { body: parts }),
      await call('POST', '/parts', { body: 'x' }),
      await call('POST', '/json', { body: '[1]' }),
      await call('POST', '/json', { body: '{' }),
      await call('POST', '/json'),
      await call('POST', '/xml', { body: '<a><b></a>' }),
      await call('POST', '/json', { body: 'x'.repeat(1001) }),
    ];
    expect(refused.map(({ status, body }) => [status, body.code])).to.deep.equal([
      ...Array.from({ length: 6 }, () => [400, 'BAD_BODY']),
      [413, 'REQUEST_ENTITY_TOO_LARGE'],
    ]);
  });

  it('refuses bodies and addresses of too many members before it makes anything of them', async () => {
    const body = (text: string, type = '') => createBody(Buffer.from(text), type, 2);
    const part = '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n';
    const form = 'multipart/form-data; boundary="x"';
    const statuses = await Promise.all(
      [
        () => body('&'.repeat(1_000)).form(),
        () => body(`[${'1,'.repeat(1_000_000)}1]`).json(),
        () => body('<a/>'.repeat(100_001)).xml(),
        () => body(`${part.repeat(4)}--x--\r\n`, form).multipart(),
      ].map((read) => Promise.try(read).catch((error: unknown) => error instanceof Fault && error.status)),
    );
    expect(statuses).to.deep.equal([413, 413, 413, 400]);
    expect([...body('&'.repeat(999)).form()]).to.deep.equal([]);
    expect([...(await body(`${part.repeat(2)}--x--\r\n`, form).multipart())]).to.have.length(2);
  });

  it('gives every error the form of the provider, with its headers', async () => {
    const { status, body, headers } = await get('/refused');
    expect([status, body, headers.get('x-why'), headers.get('x-toy')]).to.deep.equal([
      422,
      { code: 'NO', message: 'It is so.', fields: ['a'] },
      'so',
      'yes',
    ]);
  });

  it('shows a bug of its own where it runs, and answers 500', async () => {
    const logged: unknown[] = [];
    const { error } = console;
    console.error = (thrown: unknown) => logged.push(thrown);
    try {
      expect((await get('/broken')).body.code).to.equal('SIMULATOR_FAILED');
    } finally {
      console.error = error;
    }
    expect(logged.map(String)).to.deep.equal(['TypeError: a bug']);
  });

  it('sends a stream as it comes, and cuts it off', async () => {
    const { status, headers, body } = await get('/stream');
    expect([status, headers.get('content-length'), body]).to.deep.equal([200, null, '0\n1\n2\n']);
    const error = await get('/stream', { 'x-simulate': 'cut' }).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(Error);
  });

  it('makes trouble on request, in the form of the provider', async () => {
    const limited = await get('/things/1', { 'x-simulate': '429; retry-after=9' });
    const silent = await get('/things/1', { 'x-simulate': '429; retry-after=none' });
    const down = await get('/things/1', { 'x-simulate': '500' });
    expect([limited, silent, down].map(({ status, headers }) => [status, headers.get('retry-after')])).to.deep.equal([
      [429, '9'],
      [429, null],
      [500, null],
    ]);
    expect(limited.body).to.deep.include({ code: 'TOO_MANY_REQUESTS', message: 'Too many requests' });
    const page = await get('/things/1', { 'x-simulate': 'html; status=503' });
    expect([page.status, page.headers.get('content-type')]).to.deep.equal([503, 'text/html; charset=utf-8']);
    expect((await get('/things/1', { 'x-simulate': 'shape' })).body).to.be.an('array');
    expect((await get('/things/1', { 'x-simulate': 'slow; ms=0' })).body).to.deep.equal({ id: '1' });
    const error = await get('/things/1', { 'x-simulate': 'cut' }).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(Error);
  });

  it('runs in a circle on request', async () => {
    const { next } = (await get('/list')).body;
    const path = `/list?after=${next}`;
    expect((await get(path)).body).to.deep.include({ rows: [2, 3], start: 2 });
    expect((await get(path, { 'x-simulate': 'stuck' })).body.next).to.equal(next);
  });

  for (const wanted of [
    '200',
    'sometimes',
    '429; retry=1',
    'slow; ms=-1',
    'slow; ms=60001',
    'cut; ms=1',
    'html; status=x',
  ]) {
    it(`says what it can do when asked for '${wanted}'`, async () => {
      const { status, body } = await get('/things/1', { 'x-simulate': wanted });
      expect([status, body.message]).to.deep.equal([
        400,
        `'${wanted}' cannot be simulated. There are: 429; retry-after=7 (any status from 400 to 599), slow; ms=1500 (to 60000), cut, html; status=503, shape, stuck.`,
      ]);
    });
  }

  it('makes planned trouble for whom it was planned, as often as planned', async () => {
    const plan = (body: object) => call('POST', '/simulate/trouble', { body: JSON.stringify(body) });
    expect((await plan({ trouble: '503', times: 2, method: 'GET', path: '/things' })).status).to.equal(204);
    const statuses: number[] = [];
    for (const [method, path] of [
      ['GET', '/about'],
      ['DELETE', '/things/1'],
      ['GET', '/things/1'],
      ['GET', '/things/2'],
      ['GET', '/things/3'],
    ] as const) {
      statuses.push((await call(method, path)).status);
    }
    expect(statuses).to.deep.equal([200, 204, 503, 503, 200]);
    await plan({ trouble: '503' });
    expect((await call('DELETE', '/simulate/trouble')).status).to.equal(204);
    expect((await get('/things/1')).status).to.equal(200);
    for (const body of [{}, { trouble: 'maybe' }, { trouble: '500', times: 0 }, { trouble: '500', often: 1 }]) {
      expect((await plan(body)).status, JSON.stringify(body)).to.equal(400);
    }
  });

  it('is told what to do by those who call it as such, and by nobody through the platform', async () => {
    const body = '{"trouble":"500"}';
    const forwarded = { forwarded: 'host=toy.example.com' };
    expect((await call('POST', '/simulate/trouble', { body, headers: forwarded })).status).to.equal(404);
    expect((await get('/things/1')).status).to.equal(200);
  });

  it('has a clock that is moved on', async () => {
    const move = (body: object) => call('POST', '/simulate/clock', { body: JSON.stringify(body) });
    expect((await move({ byMs: 3_600_000 })).body).to.deep.equal({ now: '2030-01-01T01:00:00.000Z' });
    expect(clock.now()).to.equal(Date.UTC(2030, 0, 1, 1));
    expect((await move({ byMs: -1 })).status).to.equal(400);
  });
});

describe('the credentials of a simulated provider', () => {
  const callWith = (authorization?: string): Call => ({
    method: 'GET',
    path: '/',
    query: new URLSearchParams(),
    search: '',
    headers: authorization === undefined ? {} : { authorization },
    host: undefined,
    origin: 'https://toy.example.com',
    body: createBody(Buffer.alloc(0)),
    params: {},
    isStuck: false,
  });
  const statusOf = (attempt: () => void) => {
    try {
      attempt();
      return 200;
    } catch (error) {
      return error instanceof Fault ? error.status : error;
    }
  };

  it('are a name and a password that may have colons', () => {
    const guard = basic('toy', ({ username, password }) => username === 'a' && password === 'b:c');
    const tries = [btoa('a:b:c'), btoa('a:b'), btoa('a'), '***'].map((text) => callWith(`Basic ${text}`));
    expect([...tries, callWith()].map((call) => statusOf(() => guard(call)))).to.deep.equal([200, 401, 401, 401, 401]);
  });

  it('are a token', () => {
    const guard = bearer((token) => token === 't');
    const tries = ['Bearer t', 'bearer  t', 'Bearer u', 'Basic t', ''].map(callWith);
    expect(tries.map((call) => statusOf(() => guard(call)))).to.deep.equal([200, 200, 401, 401, 401]);
  });
});

describe('the rate budget of a simulated provider', () => {
  it('is refilled when its window ends, and says when that is', async () => {
    const clock = createVirtualClock();
    const headers = ({ left }: { readonly left: number }) => ({ 'x-left': String(left) });
    const budget = createBudget({ calls: 2, windowMs: 10_000, clock, headers });
    expect([budget.take(), budget.take()]).to.deep.equal([{ 'x-left': '1' }, { 'x-left': '0' }]);
    await clock.advance(3500);
    expect(() => budget.take())
      .to.throw(Fault, 'More than 2 calls in 10000 ms.')
      .with.deep.include({
        status: 429,
        headers: { 'retry-after': '7', 'x-left': '0' },
      });
    await clock.advance(6500);
    expect(budget.take()).to.deep.equal({ 'x-left': '1' });
  });

  it('may keep back when that is', () => {
    const budget = createBudget({ calls: 1, windowMs: 10_000, clock: createVirtualClock(), sendsRetryAfter: false });
    budget.take();
    expect(() => budget.take())
      .to.throw(Fault)
      .with.deep.include({ status: 429, headers: {} });
  });
});

describe('the clocks where a provider is', () => {
  it('print an instant with the offset that they have at it', () => {
    const winter = Date.parse('2026-01-01T02:03:04.567Z');
    const pacific = createTimeZone('America/Los_Angeles');
    expect(pacific.print(winter)).to.equal('2025-12-31T18:03:04-08:00');
    expect(pacific.print(winter, 3)).to.equal('2025-12-31T18:03:04.567-08:00');
    expect(createTimeZone('Asia/Kolkata').print(winter)).to.equal('2026-01-01T07:33:04+05:30');
    expect(createTimeZone('UTC').print(winter)).to.equal('2026-01-01T02:03:04+00:00');
    // The clocks go forward at 10:00 UTC.
    const change = Date.parse('2026-03-08T10:00:00Z');
    expect([change - 1, change].map((ms) => pacific.print(ms))).to.deep.equal([
      '2026-03-08T01:59:59-08:00',
      '2026-03-08T03:00:00-07:00',
    ]);
  });
});
