import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { connect } from '#connector/testing';
import { stopServer } from '../../suite/stop-server.ts';
import { until } from '../../test/support/until.ts';
import requesttracker from './index.ts';
import { SCRIP, scrips } from './webhooks.ts';

/** URL of a real server without data. `.ci/with-requesttracker` starts one, and names its settings in RT_SITE_CONFIG. */
const { REQUESTTRACKER_URL: url } = process.env;

const SECRET = 'a-secret-of-Request-Tracker';

/** A script that creates a scrip as the page Admin → Scrips → Create does. */
const CREATE = `
use lib '/usr/share/request-tracker5/lib';
use RT -init;
my $scrip = RT::Scrip->new(RT->SystemUser);
my ($id, $message) = $scrip->Create(
    Description => 'Causeway', Queue => 0, ScripCondition => 'On Transaction', ScripAction => 'User Defined',
    Template => 'Blank', Stage => 'TransactionBatch', CustomPrepareCode => 'return 1;', CustomCommitCode => $ENV{SCRIP},
);
die $message unless $id;
`;

if (url === undefined) {
  it('skipped: the scrip of Request Tracker is tested live where REQUESTTRACKER_URL names a server');
} else {
  describe('the scrip of Request Tracker, on a real server', function suite() {
    this.timeout(120_000);
    const calls: { headers: IncomingHttpHeaders; body: string }[] = [];
    const receiver = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      calls.push({ headers: request.headers, body });
      response.end('{}');
    });
    const { run } = connect(requesttracker, { config: { url, username: 'root', password: 'password' } });

    before(async () => {
      receiver.listen(0, '127.0.0.1');
      await once(receiver, 'listening');
      const address = receiver.address();
      const port = typeof address === 'object' ? address?.port : 0;
      const script = SCRIP.replace('EVENT_URL', `http://127.0.0.1:${port}/`).replace('WEBHOOK_SECRET', SECRET);
      await promisify(execFile)('perl', ['-e', CREATE], { env: { ...process.env, SCRIP: script } });
    });
    after(() => stopServer(receiver));

    it('signs calls that tell of each change of a ticket', async () => {
      const { objects } = requesttracker;
      const tickets = typeof objects === 'function' ? undefined : objects.tickets;
      const values = { Subject: 'Zürich “1”', Queue: 1 };
      const fields = [{ name: 'id', native: 'id', type: 'string' }] as const;
      const { id } = Object(await run(tickets?.create, { values, fields }));
      await run(tickets?.update, { id: String(id), values: { Status: 'open', Priority: 7 }, fields });
      await run(tickets?.remove, { id: String(id) });
      await until(async () => calls.length >= 3);
      const reported = calls.map(({ headers, body }) => {
        const single = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
        const call = { method: 'POST', url: '/', headers: single, body: Buffer.from(body) };
        const { verify } = scrips;
        const verdict = verify === 'unsigned' ? verify : verify(call, { secret: SECRET, now: Date.now(), config: {} });
        const [event] = scrips.events(call, {});
        const isFresh = Math.abs(Number(event?.at) - Date.now()) < 60_000;
        return [verdict, event?.action, event?.objectName, event?.objectId, isFresh];
      });
      expect(reported).to.deep.equal(
        ['created', 'updated', 'deleted'].map((action) => ['genuine', action, 'tickets', String(id), true]),
      );
    });
  });
}
