import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { theRow } from '../support/database.ts';
import { attemptsOf, deliveries } from '../support/event-rows.ts';
import { ACCOUNT_ID, newEvent, quickSchedules, SECRET, useEngines } from '../support/events.ts';
import { json, status } from '../support/misbehaving-server.ts';
import { isDistributedRun } from '../support/nodes.ts';
import { until } from '../support/until.ts';

describe('the engine of events', () => {
  const bench = useEngines();
  const { start, startFor, received } = bench;

  it('stores only what the subscription wants', async () => {
    const engine = await startFor('/choosy');
    const url = `${bench.receiver.url}/choosy`;
    const row = { account_id: ACCOUNT_ID, url, secrets: 'sealed', event_types: ['orders.updated', 'files.*'] };
    await bench.knex('subscription').insert(row);
    const types = ['orders.created', 'orders.updated', 'files.deleted', 'filesystems.created'] as const;
    const { eventIds } = await engine.events.accept(types.map((type) => newEvent(1, { type })));
    expect(eventIds.map((id) => id !== undefined)).to.deep.equal([false, true, true, false]);
    const stored = await bench.knex('event').select('type');
    expect(stored.map(({ type }) => type)).to.have.members(['orders.updated', 'files.deleted']);
  });

  it('delivers an accepted event, signed, and keeps the attempt', async () => {
    bench.receiver.answer('/plain', json({ ok: true }));
    const engine = await startFor('/plain');
    engine.sources.set(1, { signatureKey: 'a key of the caller' });
    const { eventIds } = await engine.events.accept([newEvent(1, { object: { name: 'Žofie' } })]);
    await until(async () => (await attemptsOf(bench.knex)).length === 1);

    const [request] = received('/plain');
    if (request === undefined) throw new Error('nothing was received');
    const body: unknown = new Webhook(SECRET).verify(request.body, {
      'webhook-id': String(request.headers['webhook-id']),
      'webhook-timestamp': String(request.headers['webhook-timestamp']),
      'webhook-signature': String(request.headers['webhook-signature']),
    });
    expect(body).to.deep.include({ id: eventIds[0], type: 'orders.created' });
    expect(body)
      .to.have.property('data')
      .that.deep.equals({
        objectName: 'orders',
        objectId: '7',
        elementKey: 'odata',
        hub: 'general',
        accountId: ACCOUNT_ID,
        instance: { id: 1, name: 'Instance 1', tags: ['test'] },
        object: { name: 'Žofie' },
      });
    expect(request.headers).to.include({ 'webhook-id': eventIds[0], 'content-type': 'application/json' });
    expect(request.headers['elements-webhook-signature']).to.match(/^sha256=\S{44}$/);
    expect(await deliveries(bench.knex)).to.deep.equal([]);
    expect((await attemptsOf(bench.knex))[0]).to.include({
      attempt: 1,
      delivered: true,
      status_code: 200,
      answer: '{"ok":true}',
    });
  });

  it('answers undefined for an instance that wants no events, and stores nothing', async () => {
    const engine = await start();
    expect(await engine.events.accept([newEvent(9)])).to.deep.equal({ eventIds: [undefined] });
    expect(await bench.knex('event')).to.deep.equal([]);
  });

  it('drops an event whose key was seen before, in the same call and in another', async () => {
    bench.receiver.answer('/keys', status(204));
    const engine = await startFor('/keys');
    const twice = [newEvent(1, { deduplicationKey: 'k' }), newEvent(1, { deduplicationKey: 'k' }), newEvent(1)];
    const first = await engine.events.accept(twice);
    expect(first.eventIds.map((id) => id !== undefined)).to.deep.equal([true, false, true]);
    const second = await engine.events.accept([newEvent(1, { deduplicationKey: 'k' })]);
    expect(second.eventIds).to.deep.equal([undefined]);
    await until(async () => (await attemptsOf(bench.knex)).length === 2);
    expect(received('/keys')).to.have.length(2);
  });

  it('refuses an event above 8 MB with its size, and stores nothing of the call', async () => {
    const engine = await startFor('/large');
    const call = engine.events.accept([newEvent(1), newEvent(1, { object: 'x'.repeat(9 * 1024 * 1024) })]);
    const error = await call.then(
      () => undefined,
      (reason) => reason,
    );
    expect(error).to.include({ code: 'PAYLOAD_TOO_LARGE' });
    expect(error.message).to.match(
      /^The event orders\.created of instance 1 has 9437\d{3} bytes; the maximum is 8388608\.$/,
    );
    expect(await bench.knex('event')).to.deep.equal([]);
  });

  it('stores many calls in few statements', async () => {
    bench.receiver.answer('/many', status(204));
    const engine = await startFor('/many');
    let statements = 0;
    const count = ({ sql }: { sql: string }) => {
      if (/insert into (?:delivery\n|"delivery" )/.test(sql)) statements++;
    };
    bench.knex.on('query', count);
    await Promise.all(Array.from({ length: 1_000 }, () => engine.events.accept([newEvent(1)])));
    bench.knex.off('query', count);
    expect(statements).to.be.within(2, 8);
    await until(async () => (await deliveries(bench.knex)).length === 0);
    expect(received('/many')).to.have.length(1_000);
  });

  it('stores large events in statements of their own, without a look at their characters', async () => {
    bench.receiver.answer('/large-ones', status(204));
    const engine = await startFor('/large-ones');
    const sizes: number[][] = [];
    const note = ({ sql, bindings }: { sql: string; bindings: readonly unknown[] }) => {
      if (sql.includes('insert into delivery\n'))
        sizes.push(bindings.filter(Buffer.isBuffer).map(({ length }) => length));
    };
    bench.knex.on('query', note);
    const text = '"\\é{},\ud800\0'.repeat(50_000);
    await Promise.all(Array.from({ length: 4 }, () => engine.events.accept([newEvent(1, { object: { text } })])));
    bench.knex.off('query', note);
    const printed = Buffer.byteLength(JSON.stringify({ text }));
    // A distributed database gets them as texts, row by row.
    if (!isDistributedRun) expect(sizes.map(([first = 0]) => Math.floor(first / printed))).to.deep.equal([1, 1, 1, 1]);
    await until(async () => (await deliveries(bench.knex)).length === 0);
    const bodies = received('/large-ones').map(({ body }) => JSON.parse(body.toString()).data.object.text);
    expect(bodies.every((body) => body === text)).to.equal(true);
    const stored = await bench.knex('event').select('payload');
    expect(stored.every(({ payload }) => JSON.parse(payload).data.object.text === text)).to.equal(true);
  });

  it('keeps answers as they came, beside receivers that say nothing, without a look at their characters', async () => {
    const words = '"\\{},é'.repeat(400);
    bench.receiver.answer('/wordy', status(200, {}, words));
    bench.receiver.answer('/silent', status(204));
    const engine = await startFor('/wordy');
    engine.urls.set(2, `${bench.receiver.url}/silent`);
    let binary = 0;
    const note = ({ sql, bindings }: { sql: string; bindings: readonly unknown[] }) => {
      if (sql.includes('insert into delivery_attempt')) binary += bindings.filter(Buffer.isBuffer).length;
    };
    bench.knex.on('query', note);
    await engine.events.accept([newEvent(1), newEvent(2)]);
    await until(async () => (await attemptsOf(bench.knex)).length === 2);
    bench.knex.off('query', note);
    expect((await attemptsOf(bench.knex)).map(({ answer: response }) => response)).to.have.members([words, null]);
    if (!isDistributedRun) expect(binary).to.be.at.least(1);
  });

  it('retries by the schedule until it is delivered, under the same id', async () => {
    bench.receiver.answer('/retry', status(500, {}, 'no\0t now'), status(503), status(204));
    const engine = await startFor('/retry', { options: { schedules: quickSchedules(3) } });
    await engine.events.accept([newEvent(1)]);
    await until(async () => (await attemptsOf(bench.knex)).length === 3);
    const attempts = await attemptsOf(bench.knex);
    expect(attempts.map(({ attempt, delivered, status_code }) => [attempt, delivered, status_code])).to.deep.equal([
      [1, false, 500],
      [2, false, 503],
      [3, true, 204],
    ]);
    expect(attempts[0]).to.include({ error: 'status: The receiver returned 500.', answer: 'no\ufffdt now' });
    expect(new Set(received('/retry').map(({ headers }) => headers['webhook-id'])).size).to.equal(1);
    expect(engine.told).to.deep.equal([]);
  });

  it('deactivates the subscription after the last retry, queues what waits, and tells it once', async () => {
    bench.receiver.answer('/dead', status(500));
    const engine = await startFor('/dead', { options: { schedules: quickSchedules(2) } });
    await engine.events.accept([newEvent(1), newEvent(1), newEvent(1)]);
    await until(async () => (await deliveries(bench.knex)).every(({ state }) => state === 'queued'));
    const subscription = await theRow(bench.knex('subscription'));
    expect(subscription.state).to.equal('deactivated');
    expect(subscription.reason).to.match(
      /^Every retry of delivery \d+ failed\. Last error: status: The receiver returned 500\.$/,
    );
    expect(await deliveries(bench.knex)).to.have.length(3);
    expect(engine.told.filter(({ type }) => type === 'subscription.deactivated')).to.have.length(1);

    const before = received('/dead').length;
    await engine.events.accept([newEvent(1)]);
    expect((await deliveries(bench.knex)).map(({ state }) => state)).to.deep.equal(Array(4).fill('queued'));
    expect(received('/dead')).to.have.length(before);
  });

  it('stores events as queued under the policy queue', async () => {
    const engine = await startFor('/policy');
    engine.settings = { failurePolicy: 'queue', retryCount: 5 };
    await engine.events.accept([newEvent(1)]);
    expect((await deliveries(bench.knex)).map(({ state }) => state)).to.deep.equal(['queued']);
    expect(received('/policy')).to.deep.equal([]);
  });
});
