import { EventEmitter, on, once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import pg from 'pg';
import { createNotifier, type Notifier, type NotifierOptions } from '../../src/db/notifier.ts';
import { createLogger } from '../../src/log.ts';
import { silentLog, useDatabase } from '../support/database.ts';
import { createVirtualClock } from '../support/virtual-clock.ts';

/** A way to the database that can be closed, or fall silent while it stays open. */
async function startProxy(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(target.port || 5432), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    }
    near.pipe(far).pipe(near);
  });
  let port = 0;
  const listen = async () => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (typeof address === 'object' && address !== null) port = address.port;
  };
  await listen();
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    listen,
    silence: () => {
      for (const socket of sockets) socket.unpipe().pause();
    },
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

/** `logged` resolves when a line with that text is written. */
function recordLog() {
  const lines = new EventEmitter();
  const destination = { write: (line: string) => void lines.emit('line', line) };
  const logged = async (text: string) => {
    for await (const [line] of on(lines, 'line')) if (String(line).includes(text)) return;
  };
  return { log: createLogger({ level: 'warn', destination }), logged };
}

describe('createNotifier', () => {
  const database = useDatabase({ migrated: false });
  const open: Notifier[] = [];

  afterEach(() => Promise.all(open.splice(0).map((notifier) => notifier.close())));

  async function startNotifier(options: Partial<NotifierOptions> = {}): Promise<Notifier> {
    const notifier = createNotifier({ url: database.url, knex: database.knex, log: silentLog, ...options });
    open.push(notifier);
    await notifier.start();
    return notifier;
  }

  /** Resolves with the messages of a topic up to the first that is `end`. */
  function collect(notifier: Notifier, topic: string): Promise<string[]> {
    const received: string[] = [];
    return new Promise((resolve) => {
      notifier.subscribe(topic, (payload) => (payload === 'end' ? resolve(received) : received.push(payload)));
    });
  }

  it('tells every process, the one that publishes included, in order', async () => {
    const [one, two] = [await startNotifier(), await startNotifier()];
    const collected = [collect(one, 'instance'), collect(two, 'instance')];
    for (const payload of ['1:42', 'Zoë "quoted" \n', '', 'end']) await one.publish('instance', payload);
    expect(await Promise.all(collected)).to.deep.equal([
      ['1:42', 'Zoë "quoted" \n', ''],
      ['1:42', 'Zoë "quoted" \n', ''],
    ]);
  });

  it('tells only the subscribers of the topic, until they leave', async () => {
    const notifier = await startNotifier();
    const others: string[] = [];
    const left: string[] = [];
    notifier.subscribe('user', (payload) => void others.push(payload));
    const leave = notifier.subscribe('instance', (payload) => void left.push(payload));
    const collected = collect(notifier, 'instance');
    await notifier.publish('instance', 'one');
    const done = collected.then(() => leave());
    await notifier.publish('instance', 'end');
    await done;
    const again = collect(notifier, 'instance');
    await notifier.publish('instance', 'two');
    await notifier.publish('instance', 'end');
    expect(await again).to.deep.equal(['two']);
    expect(others).to.deep.equal([]);
    expect(left).to.deep.equal(['one', 'end']);
  });

  it('tells at commit what a transaction published, and nothing of one that failed', async () => {
    const notifier = await startNotifier();
    const collected = collect(notifier, 'instance');
    const failed = database.knex.transaction(async (trx) => {
      await notifier.publish('instance', 'rolled back', trx);
      throw new Error('no');
    });
    await failed.catch(() => undefined);
    await database.knex.transaction((trx) => notifier.publish('instance', 'committed', trx));
    await notifier.publish('instance', 'end');
    expect(await collected).to.deep.equal(['committed']);
  });

  it('listens again after its connection was lost, and says that messages may be missing', async () => {
    const notifier = await startNotifier();
    const gap = new Promise<void>((resolve) => void notifier.onGap(resolve));
    await killListeners();
    await gap;
    const collected = collect(notifier, 'instance');
    await notifier.publish('instance', 'after the gap');
    await notifier.publish('instance', 'end');
    expect(await collected).to.deep.equal(['after the gap']);
  });

  it('goes on trying while the database takes no connection', async () => {
    const proxy = await startProxy(database.url);
    const { log, logged } = recordLog();
    const notifier = await startNotifier({ url: proxy.url, log });
    let gaps = 0;
    notifier.onGap(() => {
      gaps += 1;
    });
    const failed = logged('could not listen for notifications; trying again');
    await proxy.close();
    await failed;
    expect(gaps).to.equal(0);
    const gap = new Promise<void>((resolve) => void notifier.onGap(resolve));
    await proxy.listen();
    await gap;
    expect(gaps).to.equal(1);
    await notifier.close();
    await proxy.close();
  });

  it('notices by itself that its connection is dead', async () => {
    const proxy = await startProxy(database.url);
    const notifier = await startNotifier({ url: proxy.url, heartbeatMs: 10, heartbeatTimeoutMs: 50 });
    const gap = new Promise<void>((resolve) => void notifier.onGap(resolve));
    proxy.silence();
    await gap;
    await notifier.close();
    await proxy.close();
  });

  it('lets the other handlers hear when one fails', async () => {
    const notifier = await startNotifier();
    notifier.subscribe('instance', () => {
      throw new Error('a handler that fails');
    });
    const collected = collect(notifier, 'instance');
    await notifier.publish('instance', 'heard');
    await notifier.publish('instance', 'end');
    expect(await collected).to.deep.equal(['heard']);
  });

  it('waits until every process has handled what was told', async () => {
    const [one, two] = [await startNotifier(), await startNotifier()];
    const heard: string[] = [];
    two.subscribe('instance', (payload) => void heard.push(payload));
    for (let round = 0; round < 20; round++) {
      await one.publish('instance', String(round));
      await one.settle();
      expect(heard.at(-1)).to.equal(String(round));
    }
  });

  it('sends the statements of its connection one after the other, as the driver asks for', async () => {
    const [one] = [await startNotifier(), await startNotifier()];
    const warnings: string[] = [];
    const note = ({ message }: Error) => void warnings.push(message);
    process.on('warning', note);
    await Promise.all(Array.from({ length: 20 }, one.settle));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);
    expect(warnings).to.deep.equal([]);
  });

  it('waits for a process that is late, and by the clock for one that says nothing', async () => {
    const clock = createVirtualClock(0);
    const notifier = await startNotifier({ clock });
    const late = new pg.Client({ connectionString: database.url });
    await late.connect();
    try {
      await late.query("listen causeway; set application_name = 'causeway listener'");
      const asked = () =>
        new Promise<string>((resolve) => {
          late.on('notification', ({ payload = '' }) => {
            const [topic, mark] = JSON.parse(payload);
            if (topic === 'settle') resolve(mark);
          });
        });
      let isSettled = false;
      const first = asked();
      const settled = notifier.settle().then(() => {
        isSettled = true;
      });
      const mark = await first;
      // Its own answer is here when this one is.
      const collected = collect(notifier, 'instance');
      await notifier.publish('instance', 'end');
      await collected;
      expect(isSettled).to.equal(false);
      await notifier.publish('settled', mark);
      await settled;
      const second = asked();
      const givenUp = notifier.settle();
      await second;
      await clock.advance(1_000);
      await givenUp;
    } finally {
      await late.end();
    }
  });

  it('refuses a message that PostgreSQL would not carry', async () => {
    const notifier = await startNotifier();
    const error = await notifier.publish('instance', 'x'.repeat(8000)).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(RangeError);
    expect(error).to.have.property('message', 'A notification of topic instance has more than 7900 bytes');
  });

  it('does not start without a database', async () => {
    const notifier = createNotifier({ url: 'postgres://nobody@127.0.0.1:1/none', knex: database.knex, log: silentLog });
    const error = await notifier.start().catch((reason: unknown) => reason);
    expect(error).to.have.property('code', 'ECONNREFUSED');
    await notifier.close();
  });

  async function killListeners(): Promise<void> {
    const { rows } = await database.knex.raw(
      "select pg_terminate_backend(pid, 5000) as killed from pg_stat_activity where query like 'listen%'",
    );
    expect(rows.map(({ killed }: { killed: boolean }) => killed)).to.include(true);
  }
});
