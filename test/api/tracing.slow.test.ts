import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { expect } from 'chai';
import pg from 'pg';
import { defineConnector, defineObject, path, json as read } from '#connector';
import { createPolled, runNow, startThingsProvider, THINGS, untilRun } from '../polls/things.ts';
import { type ApiAnswer, type ApiCall, type StartedApp, startTestApp } from '../support/app.ts';
import { createTestDatabase } from '../support/database.ts';
import { json, type MisbehavingServer, startMisbehavingServer, status } from '../support/misbehaving-server.ts';
import { type Collector, type ExportedSpan, startCollector } from '../support/otlp/collector.ts';
import { until } from '../support/until.ts';
import { DELIVERIES, QUICK, type Receiver, startReceiver } from './events/receiving.ts';
import { findSpan, isStatement, traceOfRequest, treeOf } from './support/span-tree.ts';

/** With OAuth and pages, and a filter of which more comes than was asked for. */
const PAGED = defineConnector({
  key: 'paged',
  id: 990_301,
  name: 'Paged',
  description: 'A provider of the tests.',
  hub: 'general',
  auth: {
    type: 'oauth2',
    grant: 'clientCredentials',
    tokenUrl: (config) => `${String(config['base.url'])}/token`,
    scopes: [],
  },
  configuration: [{ key: 'base.url', type: 'url', required: true, description: 'Where it is.' }],
  baseUrl: (config) => String(config['base.url']),
  hosts: (config) => [new URL(String(config['base.url'])).host],
  probe: { path: '/me' },
  objects: {
    items: defineObject<string>({
      fields: {
        id: { type: 'integer', nullable: false },
        state: { type: 'string', filter: { '=': 'superset' }, createable: true },
      },
      translator: {
        and: (operands) => operands.join(' and '),
        compare: ({ native }, operator, value) => `${native} ${operator} ${'text' in value ? value.text : value.value}`,
      },
      list: {
        request: ({ cursor, filter }) => ({ path: cursor ?? '/items/first', query: { filter } }),
        read: ({ body }) => {
          const next = read.findText(read.at(body, 'next'));
          return { records: read.array(read.at(body, 'records'), 'records'), ...(next !== undefined && { next }) };
        },
        maxPageSize: 2,
      },
      get: { request: ({ id }) => ({ path: path`/items/${id}` }), read: ({ body }) => body },
      create: {
        request: ({ values }) => ({ path: '/items', method: 'POST', json: values }),
        read: ({ body }) => body,
      },
    }),
  },
});

const CALLER = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
const CALLED = { traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-01`, tracestate: 'vendor=canary-of-the-state' };
const BASE = '/elements/api-v2';

const page = (ids: readonly number[], next?: string) =>
  json({
    records: ids.map((id) => ({ id, state: id % 2 === 0 ? 'even' : 'odd' })),
    ...(next !== undefined && { next }),
  });

describe('traces', function traces() {
  this.timeout(60_000);
  let collector: Collector;
  let provider: MisbehavingServer;
  let receiver: Receiver;
  let databaseUrl: string;
  const started = new Set<StartedApp>();

  async function start(environment: Readonly<Record<string, string>> = {}): Promise<StartedApp> {
    const given = {
      DATABASE_URL: databaseUrl,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '20',
      SIMULATORS_PORT: 'off',
      ...environment,
    };
    const service = await startTestApp(given, { connectors: [PAGED, THINGS], engineOptions: QUICK });
    started.add(service);
    return service;
  }

  async function stop(service: StartedApp): Promise<void> {
    started.delete(service);
    await service.stop();
  }

  beforeEach('the servers', async () => {
    [collector, provider, receiver, databaseUrl] = await Promise.all([
      startCollector(),
      startMisbehavingServer(),
      startReceiver(),
      createTestDatabase(),
    ]);
    const token = (text: string) => json({ access_token: text, token_type: 'bearer' });
    provider.answer('/token', token('token-the-first'), token('token-the-second'));
    provider.answer('/me', json({}));
  });

  afterEach(async () => {
    await Promise.all([...started].map(stop));
    await Promise.all([collector.close(), provider.close(), receiver.close()]);
  });

  const connect = (service: StartedApp, more: object = {}): Promise<ApiAnswer['body']> =>
    service.createInstance('paged', {
      'base.url': provider.url,
      'oauth.api.key': 'client',
      'oauth.api.secret': 'secret-of-the-client',
      ...more,
    });

  /** An event by way of the API, to a receiver that refuses it. */
  async function sendRefusedEvent(service: StartedApp, call: ApiCall = {}) {
    const url = receiver.open('hook');
    receiver.fail(url);
    const { id } = await connect(service, {
      'event.notification.enabled': true,
      'event.notification.callback.url': `${url}?key=canary-of-the-callback`,
    });
    const response = await service.call('/events/test', {
      method: 'POST',
      body: { instanceId: id, data: {} },
      ...call,
    });
    expect(response.status).to.equal(200);
    return { url, eventId: response.body.eventId };
  }

  const wasDelivered = (spans: readonly ExportedSpan[]) =>
    spans.some(({ attributes }) => attributes['causeway.delivery.outcome'] === 'delivered');

  it('show a filtered list over two pages of the provider, with a new token between', async () => {
    const service = await start();
    const { id, token } = await connect(service);
    provider.answer('/items/first', status(401), page([1, 2], '/items/second'));
    provider.answer('/items/second', page([3, 4]));
    const response = await service.call('/items', {
      token,
      query: { where: "state = 'even'", pageSize: 2 },
      headers: CALLED,
    });
    expect(response.body).to.have.length(2);
    const spans = await traceOfRequest(collector, response);
    expect(treeOf(spans.filter((span) => !isStatement(span)))).to.deep.equal([
      ...[`SERVER GET ${BASE}/{objectName} 200`, '  INTERNAL authorize', '  INTERNAL plan'],
      ...['  CLIENT GET 401 ERROR 401', '  CLIENT POST 200', '  CLIENT GET 200', '  CLIENT GET 200'],
    ]);
    const server = findSpan(spans, 'SERVER');
    expect(server).to.include({ traceId: CALLER.traceId, parentSpanId: CALLER.spanId });
    expect(server.attributes).to.include({
      'http.request.method': 'GET',
      'http.route': `${BASE}/{objectName}`,
      'http.response.status_code': 200,
      'url.scheme': 'http',
      'url.path': `${BASE}/items`,
      'server.address': '127.0.0.1',
      'client.address': '127.0.0.1',
      'user_agent.original': 'node',
      'causeway.request.id': response.headers.get('elements-request-id'),
      'causeway.operation': 'listRecords',
      'causeway.account.id': 1,
      'causeway.instance.id': id,
      'causeway.element': 'paged',
      'causeway.pushdown': 'partial',
      'causeway.rows': 2,
      'causeway.provider.calls': 3,
    });
    const calls = spans.filter(({ name }) => name === 'GET');
    expect(calls.map(({ attributes }) => attributes['url.full'])).to.deep.equal([
      `${provider.url}/items/first?REDACTED`,
      `${provider.url}/items/first?REDACTED`,
      `${provider.url}/items/second?REDACTED`,
    ]);
    expect(calls.map(({ attributes }) => attributes['http.request.resend_count'])).to.deep.equal([
      undefined,
      1,
      undefined,
    ]);
  });

  it('show statements with their placeholders, below the work that they are for', async () => {
    const service = await start();
    const { token } = await connect(service);
    const response = await service.call('/instances', { query: { where: "name = 'canary-of-a-value'" } });
    const spans = await traceOfRequest(collector, response);
    const select = spans.filter(isStatement).find(({ name }) => name === 'SELECT instance');
    expect(select?.parentSpanId).to.equal(findSpan(spans, 'SERVER').spanId);
    expect(select?.attributes).to.include({
      'db.system.name': 'postgresql',
      'db.operation.name': 'SELECT',
      'db.collection.name': 'instance',
      'db.namespace': new URL(databaseUrl).pathname.slice(1),
      'server.address': '127.0.0.1',
    });
    expect(select?.attributes['db.query.text']).to.match(/ from "instance" where .*\$1/);
    provider.answer('/items/first', page([]));
    const onInstance = await traceOfRequest(collector, await service.call('/items', { token }));
    const authorization = onInstance.find(({ name }) => name === 'authorize');
    const below = onInstance.filter(({ parentSpanId }) => parentSpanId === authorization?.spanId);
    expect(below.map(({ name }) => name)).to.include('SELECT instance');
    expect(collector.bytes().includes('canary-of-a-value')).to.equal(false);
  });

  it('say why a write failed', async () => {
    const service = await start();
    const { token } = await connect(service);
    provider.answer('/items', status(503));
    const failed = await service.send('POST', '/items', { state: 'odd' }, { token });
    expect([failed.status, failed.body.code]).to.deep.equal([502, 'PROVIDER_UNAVAILABLE']);
    const spans = await traceOfRequest(collector, failed);
    expect(treeOf(spans.filter((span) => !isStatement(span)))).to.deep.equal([
      `SERVER POST ${BASE}/{objectName} 502 ERROR PROVIDER_UNAVAILABLE`,
      '  INTERNAL authorize',
      '  CLIENT POST 503 ERROR 503',
    ]);
    const refused = await service.call('/items', { token, query: { where: 'stat = 1' } });
    expect(treeOf((await traceOfRequest(collector, refused)).filter((span) => !isStatement(span)))).to.deep.equal([
      `SERVER GET ${BASE}/{objectName} 400`,
      '  INTERNAL authorize',
      '  INTERNAL plan ERROR WHERE_INVALID',
    ]);
  });

  it('go with an event from one process to another, over every attempt to its delivery', async () => {
    const api = await start({ ROLE: 'api', OTEL_SERVICE_NAME: 'accepting' });
    const { url, eventId } = await sendRefusedEvent(api, { headers: CALLED });
    await stop(api);
    const worker = await start({ ROLE: 'worker', OTEL_SERVICE_NAME: 'delivering' });
    await until(async () => receiver.server.requests.length > 0);
    receiver.recover(url);
    await until(async () => wasDelivered(collector.spans));
    await stop(worker);
    const spans = collector.spans.filter(({ traceId }) => traceId === CALLER.traceId);
    const attempts = spans.filter(({ name }) => name === 'POST');
    const repeated = attempts.slice(2).map(() => '    CLIENT POST 503 ERROR 503');
    expect(treeOf(spans.filter((span) => !isStatement(span)))).to.deep.equal([
      `SERVER POST ${BASE}/events/test 200`,
      '  INTERNAL authorize',
      '  PRODUCER create test.created',
      '    CLIENT POST 503 ERROR 503',
      ...repeated,
      '    CLIENT POST 204',
      '  INTERNAL store events',
    ]);
    expect(findSpan(spans, 'PRODUCER').attributes).to.include({
      'messaging.system': 'causeway',
      'messaging.operation.type': 'create',
      'messaging.destination.name': 'test.created',
      'messaging.message.id': eventId,
    });
    const outcomes = attempts.map(({ attributes }) => attributes['causeway.delivery.outcome']);
    expect(outcomes).to.deep.equal([...attempts.slice(1).map(() => 'failed'), 'delivered']);
    expect(attempts[0]?.attributes).to.include({ 'causeway.delivery.state': 'waiting', 'causeway.event.id': eventId });
    expect(attempts.at(-1)?.attributes).to.include({
      'url.full': `${receiver.server.url}/REDACTED?REDACTED`,
      'http.request.resend_count': attempts.length - 1,
    });
    const services = (of: readonly ExportedSpan[]) => [...new Set(of.map(({ resource }) => resource['service.name']))];
    expect([services(attempts), services([findSpan(spans, 'PRODUCER')])]).to.deep.equal([
      ['delivering'],
      ['accepting'],
    ]);
  });

  it('show a run of a poll with its calls; its events are traces of their own that it is linked to', async () => {
    const service = await start();
    const things = await startThingsProvider();
    const url = receiver.open('polled');
    const { id } = await createPolled(service, { provider: things, url });
    await untilRun(service, id);
    things.add('one');
    await runNow(service, id);
    await until(async () => wasDelivered(collector.spans));
    await things.close();
    const created = findSpan(collector.spans, 'PRODUCER');
    expect(treeOf(collector.spans.filter(({ traceId }) => traceId === created.traceId))[0]).to.equal(
      'PRODUCER create things.created',
    );
    const [link] = created.links;
    const run = collector.spans.find(({ spanId }) => spanId === link?.spanId);
    expect(run).to.include({ name: 'poll things', parentSpanId: '', traceId: link?.traceId });
    expect(run?.attributes).to.include({ 'causeway.poll.outcome': 'events', 'causeway.events': 1 });
    const calls = collector.spans.filter(({ parentSpanId, name }) => parentSpanId === run?.spanId && name === 'GET');
    expect(calls).to.have.length(Number(run?.attributes['causeway.provider.calls']));
    // A distributed database stores them with several statements.
    const stored = collector.spans.find(({ attributes }) =>
      /insert into "?event"? /.test(String(attributes['db.query.text'])),
    );
    expect(stored?.traceId).to.equal(run?.traceId);
    // What the engine does then is of other events too.
    const claims = collector.spans.filter(({ attributes }) =>
      /with recursive hop/.test(String(attributes['db.query.text'])),
    );
    expect(claims).to.have.length(0);
  });

  it('have attributes of the semantic conventions, and our own', async () => {
    const service = await start();
    const { url } = await sendRefusedEvent(service);
    receiver.recover(url);
    const { token } = await connect(service);
    provider.answer('/items', status(503));
    await service.send('POST', '/items', { state: 'odd' }, { token });
    await service.call('/instances/999');
    await fetch(`${service.app.url}/health/live`).then((response) => response.text());
    await until(async () => wasDelivered(collector.spans));
    await stop(service);
    const known = new Set<unknown>(Object.values(conventions));
    const names = new Set(
      collector.spans.flatMap(({ attributes, resource }) => [attributes, resource].flatMap(Object.keys)),
    );
    expect([...names].filter((name) => !known.has(name) && !name.startsWith('causeway.'))).to.deep.equal([]);
    expect(collector.spans.map(({ name }) => name)).to.include('GET /health/live');
    expect(collector.spans[0]?.resource).to.include({ 'service.name': 'causeway', 'telemetry.sdk.language': 'nodejs' });
  });

  it('are told of to hosts that are configured, and to nobody else', async () => {
    const quiet = await start();
    const { token } = await connect(quiet);
    provider.answer('/items/1', json({ id: 1, state: 'odd' }));
    provider.answer('/own', json({}));
    await quiet.call('/items/1', { token, headers: CALLED });
    await quiet.call('/passthrough/own', { token, headers: { ...CALLED, baggage: 'a=canary-of-the-baggage' } });
    const { url } = await sendRefusedEvent(quiet, { headers: CALLED });
    await until(async () => receiver.server.requests.length > 0);
    receiver.recover(url);
    await stop(quiet);
    const sent = [...provider.requests, ...receiver.server.requests];
    for (const { headers } of sent) expect(headers).not.to.have.any.keys('traceparent', 'tracestate', 'baggage');

    const telling = await start({ TRACE_CONTEXT_HOSTS: '*.example.com,127.0.0.1' });
    const response = await telling.call('/items/1', { token, headers: CALLED });
    const { traceparent, tracestate } = provider.requests.at(-1)?.headers ?? {};
    const calls = (await traceOfRequest(collector, response)).filter(
      ({ kind, name }) => kind === 'CLIENT' && name === 'GET',
    );
    expect(calls.map(({ spanId }) => `00-${CALLER.traceId}-${spanId}-01`)).to.include(traceparent);
    expect(tracestate).to.equal(CALLED.tracestate);
  });

  describe('and their sampler', () => {
    const storedContexts = async () => {
      const client = new pg.Client(databaseUrl);
      await client.connect();
      const { rows } = await client.query('select traceparent from event');
      await client.end();
      return rows.map(({ traceparent }) => traceparent);
    };

    it('which takes none: nothing is exported, nothing is stored', async () => {
      const service = await start({ OTEL_TRACES_SAMPLER: 'always_off' });
      await sendRefusedEvent(service, { headers: CALLED });
      await stop(service);
      expect(collector.spans).to.deep.equal([]);
      expect(await storedContexts()).to.deep.equal([null]);
    });

    it('which goes by the caller', async () => {
      const service = await start({ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' });
      await sendRefusedEvent(service);
      await service.call('/instances', { headers: CALLED });
      await stop(service);
      expect([...new Set(collector.spans.map(({ traceId }) => traceId))]).to.deep.equal([CALLER.traceId]);
      expect(await storedContexts()).to.deep.equal([null]);
    });
  });

  it('are not there without a collector, nor where they are switched off', async () => {
    const off = await start({ OTEL_SDK_DISABLED: 'True' });
    await sendRefusedEvent(off, { headers: CALLED });
    await stop(off);
    const without = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: '' });
    await without.call('/instances', { headers: CALLED });
    await stop(without);
    expect(collector.spans).to.deep.equal([]);
    expect([...off.logged, ...without.logged].filter((line) => line.includes('trace_id'))).to.deep.equal([]);
  });

  it('send the headers that are configured', async () => {
    const service = await start({
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=one,authorization=Bearer%20canary-of-the-collector',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-tenant=two',
    });
    await traceOfRequest(collector, await service.call('/instances'));
    expect(collector.headers[0]).to.include({
      'x-tenant': 'two',
      authorization: 'Bearer canary-of-the-collector',
      'content-type': 'application/x-protobuf',
    });
  });

  it('name the request in every line of the log, with its place in the trace', async () => {
    const service = await start({ LOG_LEVEL: 'debug' });
    const { token } = await connect(service);
    provider.answer('/items/1', status(503), json({ id: 1 }));
    const response = await service.call('/items/1', { token });
    const spans = await traceOfRequest(collector, response);
    const requestId = response.headers.get('elements-request-id');
    const lines = service.logged.map((line) => JSON.parse(line)).filter((line) => line.requestId === requestId);
    expect(lines.map(({ msg }) => msg)).to.deep.equal(['provider request', 'provider request', 'request']);
    const ids = new Set(spans.map(({ spanId }) => spanId));
    for (const line of lines) {
      expect(line.trace_id).to.equal(spans[0]?.traceId);
      expect(ids.has(line.span_id)).to.equal(true);
    }
  });

  describe('whose collector', () => {
    const spansOf = async (service: StartedApp, outcome: string): Promise<number> => {
      const text = await fetch(`${service.app.url}/metrics`).then((response) => response.text());
      return Number(new RegExp(`^causeway_trace_spans_total{outcome="${outcome}"} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
    };
    const warnings = (service: StartedApp) =>
      service.logged.map((line) => JSON.parse(line)).filter(({ msg }) => msg.includes('the collector of traces'));

    it('refuses them: calls go on, spans are counted, and the log says it once', async () => {
      const service = await start();
      collector.behave('refuse');
      for (let round = 1; round <= 3; round++) {
        expect((await service.call('/instances')).status).to.equal(200);
        const before = await spansOf(service, 'failed');
        await until(async () => (await spansOf(service, 'failed')) > before);
      }
      expect(warnings(service)).to.have.length(1);
      expect(warnings(service)[0]).to.include({ level: 'warn' }).and.not.to.have.any.keys('requestId', 'trace_id');
      collector.behave('take');
      await traceOfRequest(collector, await service.call('/instances'));
      await until(async () => (await spansOf(service, 'exported')) > 0);
    });

    it('hangs: what is too much is dropped, and a stop does not wait for it', async () => {
      const service = await start({
        OTEL_BSP_MAX_QUEUE_SIZE: '5',
        OTEL_EXPORTER_OTLP_TIMEOUT: '60000',
        SHUTDOWN_TIMEOUT: '1',
      });
      collector.behave('hang');
      while ((await spansOf(service, 'dropped')) === 0) {
        expect((await service.call('/instances')).status).to.equal(200);
      }
      await stop(service);
      expect(warnings(service).map(({ msg }) => msg)).to.deep.equal([
        'the collector of traces did not accept the last spans in time',
      ]);
    });
  });

  it('end with the last attempt at an event, and have nothing of what is stored for many at a time', async () => {
    const service = await start();
    await sendRefusedEvent(service, { headers: CALLED });
    await until(async () => {
      const { body } = await service.call(DELIVERIES, { query: { where: "status = 'queued'" } });
      return body.length === 1;
    });
    const attempts = () => collector.spans.filter(({ name }) => name === 'POST');
    // A span comes to the collector by itself, after the outcome is stored.
    await until(async () => attempts().some(({ attributes }) => attributes['causeway.delivery.state'] === 'queued'));
    expect(attempts().at(-1)?.attributes).to.include({
      'causeway.delivery.outcome': 'exhausted',
      'causeway.delivery.state': 'queued',
    });
    const statements = collector.spans.filter((span) => isStatement(span) && span.traceId === CALLER.traceId);
    const isRead = ({ attributes }: ExportedSpan) => attributes['db.operation.name'] === 'SELECT';
    expect(statements.some(isRead)).to.equal(true);
    const changes = statements.filter((span) => !isRead(span));
    expect(changes.map(({ attributes }) => attributes['db.query.text'])).to.deep.equal([]);
  });
});
