import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Causeway,
  type Instance,
  NotFoundError,
  SignatureError,
  verifyEvent,
  WhereError,
  where,
} from '../src/index.js';
import { hostileTexts, randomFrom, textsIn } from './literals.js';

// The steps of sdk/scenario.md.

const LANGUAGE = 'typescript';
const ANOTHER_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const POLL_MS = 100;
const MOST_POLLS = 100;
const LIST_LENGTH = 100;
/** Maximum length of a filter that the service accepts: 16 KB. */
const LONGEST_FILTER = 16_000;

interface Incident {
  readonly sys_id: string;
  readonly number: string;
  readonly priority: number;
  readonly caller_id: string;
  readonly short_description: string;
}

interface Delivery {
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

const skip = process.env.CAUSEWAY_URL === undefined && 'CAUSEWAY_URL is not set: node scripts/sdk-scenario.ts sets it';

describe('the scenario', { skip }, () => {
  const deliveries: Delivery[] = [];
  const receiver = createServer(async (request, response) => {
    deliveries.push({ body: await text(request), headers: request.headers });
    response.writeHead(204).end();
  });
  let causeway: Causeway;
  let account: Causeway;
  let instance: Instance;
  let callerId = '';
  let receiverUrl = '';

  before(async () => {
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    receiverUrl = `http://127.0.0.1:${Object(receiver.address()).port}/events`;
  });

  after(() => {
    receiver.closeAllConnections();
    receiver.close();
  });

  const incidents = () => account.records<Incident>('incident');

  it('1. connects an account', async () => {
    causeway = Causeway.fromEnvironment({ elementToken: undefined });
    instance = await causeway.instances.createInstance({
      instanceCreate: {
        element: { key: 'servicenow' },
        name: `${LANGUAGE}: the scenario`,
        configuration: {
          username: 'admin',
          password: 'demo-password',
          'company.name': 'demo',
          simulator: true,
          'event.notification.enabled': true,
          'event.notification.callback.url': receiverUrl,
          'event.vendor.type': 'polling',
          'event.objects': 'incident',
          'event.poller.refresh_interval': 0.05,
        },
      },
    });
    account = causeway.withInstance(instance.token);
    const ids: number[] = [];
    const instances = causeway.all((page) => causeway.instances.listInstancesRaw({ pageSize: 1, ...page }));
    for await (const { id } of instances) ids.push(id);
    assert.ok(ids.includes(instance.id));
  });

  it('2. discovers objects and fields', async () => {
    const objects = await account.objects.listObjects();
    assert.ok(objects.some(({ name }) => name === 'incident'));
    const { fields } = await account.objects.getObjectMetadata({ objectName: 'incident' });
    const types = new Map(fields.map(({ name, type }) => [name, type]));
    assert.equal(types.get('short_description'), 'string');
    assert.equal(types.get('priority'), 'integer');
  });

  it('3. queries over several pages', async () => {
    const query = {
      where: where`priority IN ${[1, 2]}`,
      fields: ['sys_id', 'priority', 'caller_id'],
      orderBy: 'sys_id',
    };
    const rows: Incident[] = [];
    for await (const row of incidents().all({ ...query, pageSize: 7 })) rows.push(row);
    const ids = rows.map(({ sys_id }) => sys_id);
    assert.ok(rows.length > 14);
    assert.ok(rows.every(({ priority }) => priority === 1 || priority === 2));
    assert.deepEqual(ids, [...new Set(ids)].sort());
    assert.equal((await incidents().list({ ...query, pageSize: 5000 })).rows.length, rows.length);
    callerId = rows.find((row) => row.caller_id !== null)?.caller_id ?? '';
  });

  it('4. creates, changes, finds and deletes', async () => {
    const said = `${LANGUAGE} says: it's 100% "fine" ?`;
    const { sys_id } = await incidents().create({ short_description: said, caller_id: callerId });
    assert.equal((await incidents().get(sys_id)).short_description, said);
    const changed = await incidents().update(sys_id, { short_description: `${said}!` });
    assert.equal(changed.short_description, `${said}!`);
    const found = await incidents().list({ where: where`short_description = ${`${said}!`}` });
    assert.deepEqual(
      found.rows.map((row) => row.sys_id),
      [sys_id],
    );
    assert.equal((await incidents().delete(sys_id)).id, sys_id);
    await assert.rejects(incidents().get(sys_id), NotFoundError);
  });

  it('5. connects by OAuth', async () => {
    const callbackUrl = `${new URL(causeway.url).origin}/oauth/callback`;
    const client = { apiKey: 'demo-client', apiSecret: 'demo-secret' };
    const { oauthUrl } = await causeway.elements.getOAuthUrl({
      keyOrId: 'salesforce',
      ...client,
      state: LANGUAGE,
      callbackUrl,
      simulator: true,
    });
    const page = await fetch(`${oauthUrl}&auto=approve`, { redirect: 'manual' });
    const code = new URL(page.headers.get('Location') ?? '').searchParams.get('code') ?? '';
    const { id, valid } = await causeway.instances.createInstance({
      instanceCreate: {
        element: { key: 'salesforce' },
        name: `${LANGUAGE}: by OAuth`,
        providerData: { code, state: LANGUAGE },
        configuration: {
          'oauth.api.key': client.apiKey,
          'oauth.api.secret': client.apiSecret,
          'oauth.callback.url': callbackUrl,
          simulator: true,
        },
      },
    });
    assert.equal(valid, true);
    await causeway.instances.deleteInstance({ id });
  });

  it('6. explains a query', async () => {
    const filter = where`priority = ${1} AND short_description LIKE ${'a%'}`.text;
    const explained = await account.query.explainQuery({ queryExplain: { objectName: 'incident', where: filter } });
    assert.equal(explained.parsed, filter);
    assert.ok(explained.predicates.some(({ pushed, exactness }) => pushed && exactness === 'exact'));
  });

  it('7. gets every value to the service as it is', async () => {
    const parsed = async (filter: string) => {
      const explained = await account.query.explainQuery({ queryExplain: { objectName: 'incident', where: filter } });
      return explained.parsed ?? '';
    };
    const sendTexts = async (texts: readonly string[]): Promise<void> => {
      const filter = where`short_description IN ${texts}`.text;
      if (new TextEncoder().encode(filter).length > LONGEST_FILTER) {
        const half = Math.ceil(texts.length / 2);
        await sendTexts(texts.slice(0, half));
        await sendTexts(texts.slice(half));
        return;
      }
      assert.deepEqual(textsIn(await parsed(filter)), [...new Set(texts)]);
    };
    const random = randomFrom(17);
    const texts = hostileTexts(10_000, random);
    for (let at = 0; at < texts.length; at += LIST_LENGTH) await sendTexts(texts.slice(at, at + LIST_LENGTH));

    const numbers = Array.from({ length: 100 }, () => Math.floor(random() * 2e9) - 1e9);
    const listed = async (filter: string) => (/ IN \((.*)\)$/.exec(await parsed(filter))?.[1] ?? '').split(', ');
    assert.deepEqual((await listed(where`priority IN ${numbers}`.text)).map(Number), numbers);
    const times = numbers.map((number) => new Date((number + 1.5e9) * 1000));
    const created = await listed(where`sys_created_on IN ${times}`.text);
    assert.deepEqual(
      created.map((literal) => Date.parse(literal)),
      times.map(Number),
    );
    assert.equal(await parsed(where`active = ${true}`.text), 'active = TRUE');
    assert.equal(await parsed(where`active = ${false}`.text), 'active = FALSE');
  });

  it('8. says where a filter is wrong', async () => {
    await assert.rejects(incidents().list({ where: where`short_descriptio = ${'x'}` }), (error) => {
      assert.ok(error instanceof WhereError);
      const { code, status, position, length, suggestion } = error;
      assert.deepEqual(
        { code, status, position, length, suggestion },
        { code: 'WHERE_INVALID', status: 400, position: 0, length: 16, suggestion: 'short_description' },
      );
      assert.match(error.requestId ?? '', /^[0-9a-f-]{36}$/);
      return true;
    });
  });

  it('9. receives an event and verifies it', async () => {
    await until(async () => {
      const polls = await causeway.instances.listInstancePolls({ id: instance.id });
      return polls.some(({ lastSuccessDate }) => lastSuccessDate !== undefined);
    });
    const { sys_id } = await incidents().create({ short_description: 'An event', caller_id: callerId });
    const isOfIncident = ({ body }: Delivery) => {
      const { type, data } = JSON.parse(body);
      return type === 'incident.created' && data.objectId === sys_id;
    };
    await until(async () => deliveries.some(isOfIncident));
    const { body, headers } = deliveries.find(isOfIncident) ?? assert.fail();

    const subscriptions = causeway.all((page) => causeway.notifications.listSubscriptionsRaw(page));
    let secret = '';
    for await (const { id, config } of subscriptions) {
      if (config.url === receiverUrl) ({ secret } = await causeway.notifications.getSubscription({ id }));
    }
    assert.equal(verifyEvent<Incident>(body, headers, secret).data.object?.sys_id, sys_id);
    assert.equal(verifyEvent(body, headers, [ANOTHER_SECRET, secret]).type, 'incident.created');
    assert.throws(() => verifyEvent(body.replace('created', 'deleted'), headers, secret), SignatureError);
    assert.throws(() => verifyEvent(body, headers, ANOTHER_SECRET), SignatureError);
    await incidents().delete(sys_id);
  });

  it('10. downloads in bulk', async () => {
    const request = { objectName: 'incident', fields: ['sys_id', 'number'] };
    const ids: string[] = [];
    for await (const row of account.bulk.rows<Incident>(request)) ids.push(row.sys_id);
    const { rows } = await incidents().list({ fields: request.fields, pageSize: 5000 });
    assert.deepEqual(new Set(ids), new Set(rows.map(({ sys_id }) => sys_id)));
    assert.equal(ids.length, rows.length);

    const folder = await mkdtemp(join(tmpdir(), 'causeway-'));
    const download = await account.bulk.start({ ...request, format: 'csv' });
    await download.wait();
    await download.toFile(join(folder, 'incidents.csv'));
    const lines = (await readFile(join(folder, 'incidents.csv'), 'utf8')).trim().split('\r\n');
    assert.equal(lines.length, rows.length + 1);
    await rm(folder, { recursive: true });
    await download.delete();
  });

  it('11. deletes the account', async () => {
    assert.equal((await causeway.instances.deleteInstance({ id: instance.id })).id, instance.id);
  });
});

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < MOST_POLLS; tries++) {
    if (await condition()) return;
    await sleep(POLL_MS);
  }
  assert.fail('It did not come to be.');
}
