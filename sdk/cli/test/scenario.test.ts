import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Ended, type Environment, type Running, start } from './program.js';

// Each command runs as for a user, with the log-in in a temporary folder.

const {
  CAUSEWAY_URL,
  CAUSEWAY_USER_SECRET = '',
  CAUSEWAY_ORGANIZATION_SECRET = '',
  CAUSEWAY_SIMULATORS_URL,
} = process.env;
const NO_LOGIN: Environment = {
  CAUSEWAY_URL: undefined,
  CAUSEWAY_USER_SECRET: undefined,
  CAUSEWAY_ORGANIZATION_SECRET: undefined,
  CAUSEWAY_ELEMENT_TOKEN: undefined,
  CAUSEWAY_KEY: undefined,
  CAUSEWAY_INSTANCE_ID: undefined,
};
const POLL_MS = 100;
const MOST_POLLS = 100;

const FORMULA = 'cli: adds';
/** A formula whose request fails, and is retried after a minute. */
const SLOW = {
  name: 'cli: retries',
  triggers: [{ type: 'manual', onSuccess: ['ask'] }],
  steps: [
    {
      name: 'ask',
      type: 'request',
      properties: {
        method: 'GET',
        api: '/instances/0',
        retry: 'true',
        retryDelay: '60000',
        retryStatusCodes: '400-599',
      },
    },
  ],
};

const skip = CAUSEWAY_URL === undefined && 'CAUSEWAY_URL is not set: node scripts/sdk-scenario.ts sets it';

describe('the command line', { skip }, () => {
  let folder = '';
  let instance = '';
  let everything = '';

  const environment = (): Environment => ({ ...NO_LOGIN, XDG_CONFIG_HOME: folder });
  const begin = (...args: readonly string[]): Running => start(args, environment(), folder);
  const causeway = async (...args: readonly string[]): Promise<Ended> => noted(await begin(...args).ended);
  const noted = (ended: Ended): Ended => {
    everything += ended.out + ended.err;
    return ended;
  };
  /** Runs a command. @returns its output after it has ended with 0 */
  const prints = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await causeway(...args);
    assert.equal(code, 0, err);
    return out;
  };
  const answers = async (...args: readonly string[]) => JSON.parse(await prints(...args, '--json'));

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'causeway-cli-'));
  });
  after(() => rm(folder, { recursive: true }));

  it('logs in by the file of the service, and asks for nothing where nobody can answer', async () => {
    const nobody = await causeway('objects');
    assert.deepEqual([nobody.code, nobody.out], [4, '']);
    assert.match(nobody.err, /Log in first: causeway login/);
    const asking = await causeway('login');
    assert.equal(asking.code, 2);
    assert.match(asking.err, /not a terminal, so use --url/);

    const credentials = join(folder, 'credentials.json');
    const secrets = { userSecret: CAUSEWAY_USER_SECRET, organizationSecret: CAUSEWAY_ORGANIZATION_SECRET };
    await writeFile(credentials, JSON.stringify({ baseUrl: CAUSEWAY_URL, ...secrets }));
    assert.match(await prints('login', '--credentials', credentials), /Logged in to http/);
    assert.equal((await stat(join(folder, 'causeway/profiles.json'))).mode & 0o777, 0o600);
    const wrong = await causeway('login', '--credentials', credentials, '--user-secret', 'wrong', '--profile', 'other');
    assert.equal(wrong.code, 4);
    assert.deepEqual(
      (await answers('profiles')).map(({ name }: { name: string }) => name),
      ['default'],
    );
  });

  it('asks in a terminal, and does not show a secret that is typed', { skip: noTerminal() }, async () => {
    const typed = `${CAUSEWAY_USER_SECRET}\r`;
    const asked = await inTerminal(['login', '--profile', 'typed', '--url', CAUSEWAY_URL ?? ''], environment(), [
      [/User secret/, typed],
      [/Organization secret/, `${CAUSEWAY_ORGANIZATION_SECRET}\r`],
    ]);
    assert.match(asked, /Logged in to http/);
    everything += asked;
    await prints('logout', '--profile', 'typed');
    await prints('profiles', 'use', 'default');
  });

  it('connects an account, lists it, and keeps its token to itself', async () => {
    assert.match(await prints('elements'), /^servicenow +ServiceNow/m);
    await writeFile(join(folder, 'password'), 'demo-password\n');
    const settings = ['--set', 'username=admin', '--set', 'company.name=demo', '--set-file', 'password=password'];
    const connected = await answers('connect', 'servicenow', '--simulator', '--name', 'cli: basic', ...settings);
    instance = String(connected.id);
    assert.equal(connected.token, '********');
    const list = await prints('instances');
    assert.match(list, new RegExp(`^\\* +${instance} +servicenow +cli: basic +valid`, 'm'));
    const missing = await causeway('connect', 'servicenow', '--simulator');
    assert.deepEqual([missing.code, /use --set username=/.test(missing.err)], [2, true]);
    const unknown = await causeway('connect', 'servicenow', '--set', 'usernam=x');
    assert.deepEqual([unknown.code, /Unknown configuration key 'usernam'/.test(unknown.err)], [2, true]);
    assert.equal((await causeway('connect', 'nothing')).code, 3);
  });

  it('discovers objects and fields', async () => {
    assert.match(await prints('objects'), /^incident +/m);
    assert.match(await prints('describe', 'incident'), /^short_description +string.*LIKE/m);
    const { fields } = await answers('describe', 'incident');
    assert.ok(fields.some(({ name, type }: Record<string, unknown>) => name === 'priority' && type === 'integer'));
  });

  it('writes TypeScript types of definitions, and of the mapped objects of an instance', async () => {
    const fields = [
      { path: 'key', type: 'string' },
      { path: 'title', type: 'string', displayName: 'What happened' },
      { path: 'caller.id', type: 'string' },
      { path: 'opened', type: 'date' },
    ];
    const mapping = {
      vendorName: 'incident',
      fields: [
        { path: 'key', vendorPath: 'sys_id' },
        { path: 'title', vendorPath: 'short_description' },
        { path: 'urgent', type: 'boolean', vendorPath: 'active' },
      ],
      configuration: [{ type: 'passThrough', properties: { fromVendor: false, toVendor: false } }],
    };
    const [definition, transformation] = [
      '/accounts/objects/cli-tickets/definitions',
      `/instances/${instance}/transformations/cli-tickets`,
    ];
    await platform(definition, 'POST', { fields });
    await platform(transformation, 'POST', mapping);

    const printed = await prints('types');
    assert.match(
      printed,
      /^\/\*\* The object `cli-tickets`\. \*\/\nexport interface CliTickets \{\n {2}key\?: string \| null;\n {2}\/\*\* What happened \*\/\n {2}title\?/m,
    );
    assert.match(await prints('types', '--out', 'types.ts'), /^\d+ types? written to types\.ts\.$/m);
    assert.equal(await readFile(join(folder, 'types.ts'), 'utf8'), printed);
    const ofInstance = (await answers('types', '--instance', instance)).types;
    assert.match(
      ofInstance,
      /^ {2}caller\?: \{\n {4}id\?: string \| null;\n {2}\} \| null;\n {2}opened\?: string \| null;$/m,
    );
    assert.match(ofInstance, /^ {2}urgent\?: boolean \| null;$/m);
    await prints('types', '--instance', instance, '--out', 'types.ts');
    assert.equal(await readFile(join(folder, 'types.ts'), 'utf8'), ofInstance);
    const use = "import type { CliTickets } from './types.js';\nexport const ticket: CliTickets = { title: null };\n";
    await writeFile(join(folder, 'use.ts'), use);
    const compiled = spawnSync('tsc', ['--strict', '--noEmit', '--module', 'nodenext', 'use.ts'], {
      cwd: folder,
      encoding: 'utf8',
    });
    assert.deepEqual([compiled.status, compiled.stdout], [0, '']);
    const taken = await causeway('types', '--out', 'use.ts');
    assert.deepEqual([taken.code, await readFile(join(folder, 'use.ts'), 'utf8')], [2, use]);
    await prints('types', '--out', 'use.ts', '--force');
    assert.equal(await readFile(join(folder, 'use.ts'), 'utf8'), printed);

    await platform(transformation, 'DELETE');
    await platform(definition, 'DELETE');
  });

  it('prints records as a table, JSON, CSV and lines of JSON, over pages', async () => {
    const query = [
      'query',
      'incident',
      '-w',
      'priority IN (1, 2)',
      '-f',
      'sys_id,priority',
      '-o',
      'sys_id',
      '--page-size',
      '7',
    ];
    const rows = await answers(...query, '--all');
    assert.ok(rows.length > 14);
    const ids = rows.map((row: Record<string, unknown>) => row.sys_id);
    assert.deepEqual(ids, [...new Set(ids)].sort());
    assert.equal((await prints(...query, '--limit', '9')).trim().split('\n').length, 10);
    const csv = await prints(...query, '--all', '--format', 'csv');
    assert.deepEqual(csv.trim().split('\r\n'), [
      'sys_id,priority',
      ...rows.map(({ sys_id, priority }: Record<string, unknown>) => `${sys_id},${priority}`),
    ]);
    const lines = (await prints(...query, '--all', '--format', 'ndjson')).trim().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)),
      rows,
    );
    const none = await causeway('query', 'incident', '-w', "short_description = 'there is none'", '--json');
    assert.deepEqual([none.code, none.out], [0, '[]\n']);
  });

  it('says where a filter is wrong, by carets and by an exit code', async () => {
    const wrong = await causeway('query', 'incident', '-w', "active = TRUE AND short_descriptio = 'x'");
    assert.equal(wrong.code, 2);
    assert.match(
      wrong.err,
      /\n {2}active = TRUE AND short_descriptio = 'x'\n {20}\^{16} did you mean short_description\?\n\n {2}WHERE_INVALID · request [0-9a-f-]{36}\n/,
    );
    const json = await causeway('query', 'incident', '-w', "short_descriptio = 'x'", '--json');
    assert.deepEqual([json.out, JSON.parse(json.err).error.details[0].position], ['', 0]);
    assert.equal((await causeway('query', 'nothing')).code, 3);
    assert.equal((await causeway('quer')).code, 2);
    assert.equal((await start(['objects'], { ...environment(), CAUSEWAY_PROFILE: 'nobody' }).ended).code, 4);
  });

  it('explains a query', async () => {
    const explained = await prints('explain', 'incident', '-w', "priority = 1 AND short_description LIKE 'a%'");
    assert.match(explained, /^priority = 1 +provider +exact$/m);
    assert.match(explained, /^request +GET http/m);
  });

  it('creates an access key, works with it in place of a log-in, rotates and deletes it', async () => {
    const made = await causeway(
      'keys',
      'create',
      'cli: key',
      '--instances',
      instance,
      '--objects',
      'incident',
      '--days',
      '1',
    );
    const key = made.out.trim();
    assert.match(key, /^ck_[0-9A-Za-z]{47}$/, made.err);
    assert.match(made.err, /not shown again/);
    const list = await prints('keys', '--where', "name = 'cli: key'");
    assert.match(list, new RegExp(`ck_…${key.slice(-4)} +read +instances ${instance}; objects incident`));
    const [{ id }] = await answers('keys', '--where', "name = 'cli: key'");

    const withKey = async (used: string, ...args: readonly string[]): Promise<Ended> => {
      const own = { ...NO_LOGIN, XDG_CONFIG_HOME: join(folder, 'nobody'), CAUSEWAY_URL, CAUSEWAY_KEY: used };
      return noted(await start(args, own, folder).ended);
    };
    const rows = await withKey(key, 'query', 'incident', '--limit', '1', '--json');
    assert.equal(JSON.parse(rows.out).length, 1, rows.err);
    const refused = await withKey(key, 'query', 'problem');
    assert.deepEqual([refused.code, /scope objects/.test(refused.err)], [4, true]);
    assert.match((await withKey(key, 'instances')).out, new RegExp(`^${instance} +servicenow +cli: basic`, 'm'));
    const platform = await withKey(key, 'activity');
    assert.deepEqual([platform.code, /scope platform/.test(platform.err)], [4, true]);

    const next = (await prints('keys', 'rotate', String(id), '--overlap-hours', '0')).trim();
    assert.equal((await withKey(key, 'objects')).code, 4);
    assert.equal((await withKey(next, 'objects')).out.trim().split('\n').length > 0, true);
    assert.equal((await causeway('keys', 'delete', String(id))).code, 2);
    assert.match(await prints('keys', 'delete', String(id), '--yes'), /Deleted cli: key/);
    assert.equal((await withKey(next, 'objects')).code, 4);
    for (const [option, value] of [
      ['--allow', 'everything'],
      ['--instances', 'x'],
      ['--days', '0'],
    ] as const)
      assert.equal((await causeway('keys', 'create', 'x', option, value)).code, 2, option);
  });

  it('watches an object, and ends the watch', async () => {
    assert.match((await causeway('schema')).err, /Nothing is watched\. Watch an object: /);
    assert.match(await prints('schema', 'watch', 'incident'), /Watching incident\./);
    for (let polls = 0; polls < MOST_POLLS; polls++) {
      if (/ watched /.test(await prints('schema'))) break;
      await sleep(POLL_MS);
    }
    assert.match(await prints('schema'), /incident +watched +a request +\d+/);
    assert.deepEqual(await answers('schema', 'changes'), []);
    const unknown = await causeway('schema', 'watch', 'incidentz');
    assert.notEqual(unknown.code, 0);
    assert.match(unknown.err, /Did you mean 'incident'\?/);
    assert.match(await prints('schema', 'unwatch', 'incident'), /The watch of incident has ended\./);
    assert.match((await causeway('schema')).err, /Nothing is watched/);
  });

  it('connects by OAuth, whose page is shown and comes back to this machine', async () => {
    await writeFile(join(folder, 'secret'), 'demo-secret\n');
    const settings = ['--set', 'oauth.api.key=demo-client', '--set-file', 'oauth.api.secret=secret'];
    const callback = await freePort();
    const connecting = begin(
      'connect',
      'salesforce',
      '--simulator',
      '--no-browser',
      '--port',
      String(callback),
      ...settings,
    );
    const [url] = await connecting.says(/http:\S+\/authorize\S+/);
    const page = await fetch(`${url}&auto=approve`);
    assert.match(await page.text(), /Connected/);
    const { code, out } = noted(await connecting.ended);
    assert.equal(code, 0);
    const [, id = ''] = /as the instance (\d+)/.exec(out) ?? [];
    assert.match(await prints('query', 'Contact', '-f', 'Id', '-n', '1'), /^Id\n\w/);
    await prints('instances', 'delete', id, '--yes');
    assert.equal((await causeway('objects')).code, 4);
    await prints('instances', 'use', instance);
  });

  it('receives an event, verifies it, hands it on, and leaves the instance as it was', async () => {
    const handedOn: string[] = [];
    await using receiver = await serve(async (body) => handedOn.push(body));
    const before = await configuration();
    const listening = begin(
      'events',
      'listen',
      '--objects',
      'incident',
      '--every',
      '0.05',
      '--count',
      '1',
      '--format',
      'ndjson',
      '--forward-to',
      receiver.url,
    );
    const [, url = ''] = await listening.says(/come to (http\S+)\. /);
    assert.equal((await fetch(url, { method: 'POST', body: '{}' })).status, 401);
    await until(async () => {
      const polls = await platform(`/instances/${instance}/polls`);
      return polls.some((poll: object) => 'lastSuccessDate' in poll);
    });
    await fetch(`${CAUSEWAY_SIMULATORS_URL}/servicenow/simulate/changes`, {
      method: 'POST',
      body: JSON.stringify({ table: 'incident', update: 1 }),
    });
    const { code, out, err } = noted(await listening.ended);
    assert.equal(code, 0, err);
    const event = JSON.parse(out);
    assert.equal(event.type, 'incident.updated');
    assert.equal(JSON.parse(handedOn[0] ?? '').id, event.id);
    assert.deepEqual(await configuration(), before);

    const deliveries = await answers('events', 'list', '--where', `event.id = '${event.id}'`);
    assert.equal(deliveries.length, 1);
    assert.match(await prints('events', 'redeliver', String(deliveries[0].id)), /Sent again: incident\.updated/);
    assert.equal((await causeway('events', 'redeliver')).code, 2);
  });

  it('ends a receiver in order, and says when the service does not come here', async () => {
    const before = await configuration();
    const listening = begin('events', 'listen');
    await listening.says(/come to/);
    await listening.says(/The instance has no polls\. .* only if somebody has entered the eventUrl .* Add --objects/);
    listening.interrupt();
    assert.equal(noted(await listening.ended).code, 0);
    assert.deepEqual(await configuration(), before);

    const closed = `http://127.0.0.1:${await freePort()}/events`;
    const unreachable = await causeway('events', 'listen', '--public-url', closed);
    assert.equal(unreachable.code, 6);
    assert.match(unreachable.err, /cannot send events to http.*--public-url/);
    assert.deepEqual(await configuration(), before);
  });

  it('downloads in bulk, and goes on with a file that was broken off', async () => {
    const result = await answers('bulk', 'query', 'incident', '-f', 'sys_id,number', '-O', 'all.csv');
    const file = await readFile(join(folder, 'all.csv'), 'utf8');
    assert.equal(file.trim().split('\r\n').length, result.rows + 1);
    await writeFile(join(folder, `again.csv.${result.id}.part`), file.slice(0, 100));
    assert.match(
      await prints('bulk', 'download', String(result.id), '-O', 'again.csv'),
      /of which the first 100 bytes existed/,
    );
    assert.equal(await readFile(join(folder, 'again.csv'), 'utf8'), file);
    assert.equal((await causeway('bulk', 'query', 'incident', '-O', 'all.csv')).code, 2);

    const { id } = await answers('bulk', 'query', 'incident', '--no-wait');
    await prints('bulk', 'status', String(id));
    assert.equal((await answers('bulk', 'errors', String(id))).length, 0);
    assert.ok((await answers('bulk', 'jobs')).length >= 2);
    assert.ok([0, 1].includes((await causeway('bulk', 'cancel', String(id))).code ?? -1));
    for (const job of [result.id, id]) await prints('bulk', 'delete', String(job));
    assert.equal((await causeway('bulk', 'status', String(id))).code, 3);
  });

  it('uploads in bulk, says which rows failed, and keeps them to be sent again', async () => {
    const settings = ['--set', 'username=demo-key', '--set', 'company.name=acme'];
    const other = String((await answers('connect', 'bamboohr', '--simulator', ...settings)).id);
    const [header, bad] = ['firstName,lastName,hireDate', ',Hopper,2026-02-01'];
    const lines = [header, 'Ada,Lovelace,2026-01-15', bad, 'Katherine,Johnson,2026-02-15', ''];
    await writeFile(join(folder, 'new.csv'), lines.join('\n'));
    const create = ['bulk', 'upload', 'employees', 'new.csv', '--action', 'create'];
    const failed = await causeway(...create, '--errors', 'failed.csv', '--outcomes', 'outcomes.csv');
    assert.equal(failed.code, 1, failed.err);
    assert.match(
      failed.out,
      /^3 rows: 2 written, 1 failed\.\n {2}row 2, REQUEST_INVALID: 'firstName' is required\.\n$/,
    );
    assert.match(failed.err, /1 of 3 rows failed/);
    assert.equal(await readFile(join(folder, 'failed.csv'), 'utf8'), `${header}\n${bad}\n`);
    const outcomes = (await readFile(join(folder, 'outcomes.csv'), 'utf8')).trim().split('\r\n');
    assert.deepEqual(
      outcomes.map((line) => line.split(',')[2]),
      ['outcome', 'created', 'failed', 'created'],
    );

    const corrected = { firstName: 'Grace', lastName: 'Hopper', hireDate: '2026-02-01' };
    await writeFile(join(folder, 'rest.jsonl'), `${JSON.stringify(corrected)}\n`);
    const { id, ...counts } = await answers('bulk', 'upload', 'employees', 'rest.jsonl', '-a', 'create');
    assert.deepEqual(counts, { objectName: 'employees', rows: 1, written: 1, failed: 0, errors: [] });
    const started = await answers('bulk', 'upload', 'employees', 'rest.jsonl', '-a', 'create', '--no-wait');
    assert.deepEqual(Object.keys(started), ['id', 'objectName']);

    for (const wrong of [
      [...create, '--errors', 'failed.csv'],
      [...create, '--outcomes', 'outcomes.jsonl'],
      ['bulk', 'upload', 'employees', 'none.csv', '--action', 'create'],
      ['bulk', 'upload', 'employees', 'secret', '--action', 'create'],
      ['bulk', 'upload', 'employees', 'new.csv'],
      ['bulk', 'upload', 'employees', 'new.csv', '--action', 'upsert', '--identifier', 'nothing'],
    ]) {
      assert.equal((await causeway(...wrong)).code, 2, wrong.join(' '));
    }
    await prints('bulk', 'delete', String(id));
    await prints('instances', 'delete', other, '--yes');
    await prints('instances', 'use', instance);
  });

  it('lists activity, and follows it', async () => {
    const following = begin('activity', '--follow', '-n', '1', '--format', 'ndjson');
    await prints('describe', 'incident');
    await following.says(/"operation":"getObjectMetadata"/);
    following.interrupt();
    const { code, out } = noted(await following.ended);
    assert.equal(code, 0);
    const operations = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).operation);
    assert.ok(!operations.includes('listActivity'));
  });

  it('keeps formulas in files: gets, applies and checks them', async () => {
    const file = (body: string, more: object = {}) => JSON.stringify({ ...formulaWith(body), ...more });
    await writeFile(join(folder, 'formula.json'), file('done({ sum: trigger.args.a + 1 });'));
    const check = ['formulas', 'apply', 'formula.json', '--check'];
    const missing = await causeway(...check);
    assert.equal(missing.code, 1);
    assert.match(missing.out, /^to be created {2}cli: adds, formula\.json$/m);
    assert.equal((await causeway('formulas', 'get', FORMULA)).code, 3);

    const [created] = await answers('formulas', 'apply', 'formula.json');
    assert.equal(created.action, 'created');
    const again = await prints('formulas', 'apply', 'formula.json');
    assert.equal(again, `unchanged  ${FORMULA} (${created.id}), formula.json\n`);
    assert.match(await prints(...check), /^unchanged/);

    await writeFile(
      join(folder, 'formula.json'),
      file('if (!trigger.args.a) throw "No a.";\ndone({ sum: trigger.args.a + 2 });', { singleThreaded: true }),
    );
    assert.equal((await causeway(...check)).code, 1);
    assert.equal(
      await prints('formulas', 'apply', 'formula.json'),
      `changed    ${FORMULA} (${created.id}), formula.json\n  ~ singleThreaded: false → true\n` +
        '  ~ steps/add/properties/body: "done({ sum: trigger.args.a + 1 });" → 2 lines\n',
    );
    assert.equal((await answers('formulas', 'apply', 'formula.json'))[0].action, 'unchanged');

    assert.match(await prints('formulas', 'list'), new RegExp(`^${created.id} +${FORMULA} +true +manual`, 'm'));
    await prints('formulas', 'get', FORMULA, '--out', 'got.json');
    assert.equal(await readFile(join(folder, 'got.json'), 'utf8'), await prints('formulas', 'get', String(created.id)));
    assert.match(await prints('formulas', 'get', FORMULA, '--out', 'got.json'), /already has/);
    assert.equal((await causeway('formulas', 'get', FORMULA, '--out', 'formula.json')).code, 2);
    assert.equal((await answers('formulas', 'apply', 'got.json'))[0].action, 'unchanged');

    await writeFile(join(folder, 'broken.json'), '{ "name": "cli: broken", "token": "top-secret" ');
    await writeFile(
      join(folder, 'wrong.json'),
      JSON.stringify({ name: 'cli: wrong', steps: [{ name: 's', type: 'no' }] }),
    );
    for (const wrong of ['broken.json', 'none.json', 'password']) {
      const refused = await causeway('formulas', 'apply', 'formula.json', wrong);
      assert.deepEqual([refused.code, refused.out], [2, ''], refused.err);
      assert.doesNotMatch(refused.err, /top-secret|demo-password/);
    }
    assert.equal((await causeway('formulas', 'apply', 'got.json', 'formula.json')).code, 2);
    const rejected = await causeway('formulas', 'apply', 'wrong.json');
    assert.equal(rejected.code, 2);
    assert.match(
      rejected.err,
      /wrong\.json is not applied, because of steps\/0\/type\.\n.*Unknown type of a step 'no'/,
    );
  });

  it('runs a formula, follows its steps, and lists its executions', async () => {
    const [formula] = await answers('formulas', 'list', '--where', `name = '${FORMULA}'`);
    const made = await platform(`/formulas/${formula.id}/instances`, 'POST', { name: 'cli: runs' });
    assert.match(await prints('formulas', 'instances', FORMULA), new RegExp(`^${made.id} +cli: runs`, 'm'));

    const run = ['formulas', 'run', 'cli: runs'];
    const ran = await prints(...run, '--input', '{ "a": 1 }', '--wait', '--values');
    assert.match(
      ran,
      /^\S+Z {2}success {2}trigger {2}.*\n {4}trigger\.args: \{"a":1\}\n\S+Z {2}success {2}add {2}.*\n {4}add\.sum: 3\n/,
    );
    assert.match(ran, /^Execution \d+ ended as success after \d+ ms\.$/m);
    await writeFile(join(folder, 'input.json'), '{ "a": 5 }');
    const [ended] = await answers(...run, '--input', 'input.json', '--wait', '--values');
    assert.equal(ended.status, 'success');
    assert.deepEqual(ended.stepExecutions[1].stepExecutionValues, [{ id: 1, key: 'add.sum', value: '7' }]);

    const failed = await causeway(...run, '--input', '{}', '--wait');
    assert.equal(failed.code, 1);
    assert.match(failed.out, /^\S+Z {2}failed {3}add {2}\d+ ms {2}No a\.$/m);
    assert.match(failed.err, /Execution \d+ ended as failed\./);

    const [started] = await answers('formulas', 'run', String(made.id), '-i', '{"a":1,"password":"cli-secret"}');
    const lines = (await prints('formulas', 'watch', String(started.id), '--values', '--format', 'ndjson'))
      .trim()
      .split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).stepName),
      ['trigger', 'add'],
    );
    assert.ok(!lines.join().includes('cli-secret'));
    const watched = await answers('formulas', 'watch', String(started.id));
    assert.deepEqual([watched.status, watched.stepExecutions.length], ['success', 2]);

    const ids = async (...more: string[]) =>
      (await answers('formulas', 'executions', 'cli: runs', ...more)).map(({ id }: { id: number }) => id);
    assert.equal((await ids()).length, 4);
    assert.equal((await ids('--status', 'failed', '--since', '1h')).length, 1);
    assert.deepEqual(await ids('-n', '1'), [started.id]);
    assert.deepEqual(await ids('--status', 'queued'), []);

    assert.equal((await causeway(...run, '--input', 'neither')).code, 2);
    assert.equal((await causeway('formulas', 'run', 'cli: nothing')).code, 3);
    assert.equal((await causeway('formulas', 'watch', '999999999')).code, 3);
    assert.equal((await causeway('formulas', 'executions', 'cli: runs', '--status', 'lost')).code, 2);
    await platform(`/formulas/instances/${made.id}`, 'DELETE');
    await platform(`/formulas/${formula.id}`, 'DELETE');
  });

  it('ends a watch by Ctrl-C, while the execution continues', async () => {
    await writeFile(join(folder, 'slow.json'), JSON.stringify(SLOW));
    const [{ id }] = await answers('formulas', 'apply', 'slow.json');
    const made = await platform(`/formulas/${id}/instances`, 'POST', { name: 'cli: slow' });
    const running = begin('formulas', 'run', 'cli: slow', '--wait');
    await running.says(/success {2}trigger/);
    running.interrupt();
    const { code, err } = noted(await running.ended);
    assert.equal(code, 130, err);
    const [, execution] = /Execution (\d+) continues\. Follow it: causeway formulas watch \1/.exec(err) ?? [];
    await platform(`/formulas/instances/executions/${execution}`, 'PATCH', { status: 'cancelled' });
    const cancelled = await causeway('formulas', 'watch', String(execution));
    assert.deepEqual([cancelled.code, /ended as cancelled/.test(cancelled.err)], [1, true]);
    await platform(`/formulas/instances/${made.id}`, 'DELETE');
    await platform(`/formulas/${id}`, 'DELETE');
  });

  it('completes commands in a shell', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) assert.match(await prints('completion', shell), /causeway/);
    assert.match(await prints('complete', '--', 'que'), /^query/m);
    assert.match(await prints('complete', '--', 'typ'), /^types/m);
    assert.match(await prints('complete', '--', 'types', '--'), /^--out/m);
    assert.match(await prints('complete', '--', 'formulas', 'a'), /^apply/m);
    assert.match(await prints('complete', '--', 'formulas', 'run', '--'), /^--wait/m);
  });

  it('deletes the account, and has printed no secret at any time', async () => {
    const [{ token }] = await platform(`/instances?where=id%20%3D%20${instance}`);
    assert.equal((await causeway('instances', 'delete', instance)).code, 2);
    assert.deepEqual(await answers('instances', 'delete', instance, '--yes'), { id: Number(instance), deleted: true });
    const { profiles } = JSON.parse(await readFile(join(folder, 'causeway/profiles.json'), 'utf8'));
    assert.equal(profiles.default.instance, undefined);
    for (const secret of [CAUSEWAY_USER_SECRET, CAUSEWAY_ORGANIZATION_SECRET, 'demo-password', 'demo-secret', token]) {
      assert.ok(!everything.includes(secret));
    }
    await prints('logout');
    assert.equal((await causeway('instances')).code, 4);
  });

  const configuration = () => platform(`/instances/${instance}/configuration`);
});

async function platform(path: string, method = 'GET', body?: object) {
  const headers = {
    Authorization: `User ${CAUSEWAY_USER_SECRET}, Organization ${CAUSEWAY_ORGANIZATION_SECRET}`,
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
  };
  const response = await fetch(`${CAUSEWAY_URL}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer = await response.text();
  assert.equal(response.status, 200, answer);
  return JSON.parse(answer);
}

/** Returns a formula that adds. */
function formulaWith(body: string) {
  return {
    name: FORMULA,
    triggers: [{ type: 'manual', onSuccess: ['add'] }],
    steps: [{ name: 'add', type: 'script', properties: { body } }],
  };
}

async function serve(take: (body: string) => void, port = 0) {
  const server = createServer(async (request, response) => {
    take(await text(request));
    response.writeHead(204).end();
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const listening: number = Object(server.address()).port;
  return {
    port: listening,
    url: `http://127.0.0.1:${listening}/`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function freePort(): Promise<number> {
  await using server = await serve(() => {});
  return server.port;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < MOST_POLLS; tries++) {
    if (await condition()) return;
    await sleep(POLL_MS);
  }
  assert.fail('It did not come to be.');
}

/** Returns the reason why there is no terminal. `script` of util-linux provides one. */
function noTerminal(): string | false {
  const found = spawnSync('script', ['--version'], { encoding: 'utf8' });
  return found.status === 0 && found.stdout.includes('util-linux') ? false : 'script of util-linux is not installed';
}

/** Runs the program in a terminal, and types each answer when its question has appeared. @returns everything that was shown */
async function inTerminal(
  args: readonly string[],
  environment: Environment,
  answers: readonly (readonly [RegExp, string])[],
): Promise<string> {
  const main = join(import.meta.dirname, '../src/main.js');
  const command = [process.execPath, main, ...args].map((part) => `'${part}'`).join(' ');
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { ...process.env, ...environment, TERM: 'xterm' },
  });
  let shown = '';
  let from = 0;
  const left = [...answers];
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    shown += part;
    const [pattern, answer] = left[0] ?? [];
    if (pattern === undefined || answer === undefined || !pattern.test(shown.slice(from))) return;
    left.shift();
    from = shown.length;
    child.stdin.write(answer);
  });
  const [code] = await once(child, 'close');
  assert.equal(code, 0, shown);
  return shown;
}
