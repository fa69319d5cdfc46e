/**
 * Counts how many files and named functions of the project run for a request, and how many of them are on the stack when the request to the
 * provider or the receiver is passed to the network. `node scripts/bench/hops.ts [--list <part of a name>] [--json]` prints the table, and
 * with `--list` what ran for one request. Simulators run in a thread and are not counted.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Ask, createAsk } from '../event-load/channel.ts';
import type { Hops } from './hops-probe.ts';
import { connectDemo, type RunningService, withService } from './running-service.ts';

const PROBE = join(import.meta.dirname, 'hops-probe.ts');
/** Milliseconds after which the background work of a request has ended. Later, periodic work would be counted too. */
const SETTLE_MS = 60;
/** Number of attempts for each request. Functions that do not run in all of them are periodic work. */
const TRIES = 4;

const { values: options } = parseArgs({
  options: { list: { type: 'string' }, json: { type: 'boolean', default: false } },
});

const receiver = createServer((request, response) => {
  request.resume().once('end', () => {
    response.writeHead(204).end();
    receiver.emit('delivered');
  });
});
receiver.listen(0, '127.0.0.1');
await once(receiver, 'listening');
const callbackUrl = `http://127.0.0.1:${Object(receiver.address()).port}/`;

try {
  await withService({ execArgv: ['--import', PROBE], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }, (service) =>
    measureAll(service, createAsk(service.child)),
  );
} finally {
  receiver.close();
}

async function measureAll(service: RunningService, ask: Ask<'take'>): Promise<void> {
  const { call, origin } = service;
  const take = () => ask<Hops>('take');

  const search = new URLSearchParams({ where: "status = 'Active' AND hireDate >= 2020-01-01", pageSize: '10' });
  const query = `/employees?${search}`;
  const read = (token: string) => call(query, { token });

  const toReceiver = { 'event.notification.enabled': true, 'event.notification.callback.url': callbackUrl };
  const { id } = await connectDemo(service, toReceiver);
  const delivered = async (work: () => Promise<unknown>) => {
    const arrived = once(receiver, 'delivered');
    await work();
    await arrived;
  };
  const accept = () =>
    delivered(() => call('/events/test', { body: { instanceId: id, type: 'employees.updated', data: { n: 1 } } }));
  await accept();
  const [delivery] = await call<readonly { readonly id: number }[]>('/notifications/subscriptions/deliveries');

  const warm = await connectDemo(service);
  await read(warm.token);
  const rows: Record<string, object> = {};
  await measure('GET with where, warm', () => read(warm.token));
  await measure('GET with where, cold', async (prepared) => read((await prepared(() => connectDemo(service))).token));
  await measure('POST /instances, OAuth', async (prepared) => {
    const body = await prepared(() => salesforceBody());
    await call('/instances', { body });
  });
  await measure('event accepted → delivered', accept);
  await measure('redelivery → delivered', () =>
    delivered(() => call(`/notifications/subscriptions/deliveries/${delivery?.id}/redelivery`, { method: 'POST' })),
  );
  if (options.json) console.log(JSON.stringify(rows));
  else console.table(rows);

  /** Logs in as the README does: approves the simulated page, and sends the code that the callback shows. */
  async function salesforceBody(): Promise<object> {
    const callback = `${origin}/oauth/callback`;
    const settings = { apiKey: 'demo-client', apiSecret: 'demo-secret', callbackUrl: callback, simulator: 'true' };
    const path = `/elements/salesforce/oauth/url?${new URLSearchParams(settings)}`;
    const { oauthUrl } = await call<{ readonly oauthUrl: string }>(path);
    const approved = await fetch(`${oauthUrl}&auto=approve`, { redirect: 'manual' });
    const code = new URL(approved.headers.get('location') ?? '').searchParams.get('code');
    return {
      element: { key: 'salesforce' },
      name: 'hops',
      providerData: { code },
      configuration: {
        'oauth.api.key': 'demo-client',
        'oauth.api.secret': 'demo-secret',
        'oauth.callback.url': callback,
        simulator: true,
      },
    };
  }

  /** Counts what runs for a request, without the work of `prepared`. */
  async function measure(
    name: string,
    run: (prepared: <Result>(work: () => Promise<Result>) => Promise<Result>) => Promise<unknown>,
  ): Promise<void> {
    const tries: Hops[] = [];
    for (let n = 0; n < TRIES; n++) {
      await sleep(SETTLE_MS);
      await take();
      await run(async (work) => {
        const result = await work();
        await sleep(SETTLE_MS);
        await take();
        return result;
      });
      await sleep(SETTLE_MS);
      tries.push(await take());
    }
    const [first, ...others] = tries;
    const inAll = (pick: (hops: Hops) => readonly string[]) =>
      others.reduce((common, each) => common.intersection(new Set(pick(each))), new Set(first && pick(first)));
    const functions = inAll((hops) => hops.functions);
    rows[name] = {
      files: inAll((hops) => hops.files).size,
      'named functions': functions.size,
      frames: Math.min(...tries.map(({ frames }) => frames)),
    };
    if (options.list !== undefined && name.includes(options.list)) console.log([...functions].sort().join('\n'));
  }
}
