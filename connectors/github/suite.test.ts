import { sign } from '@octokit/webhooks-methods';
import { expect } from 'chai';
import type { SentWebhook } from '#connector';
import { describeConnector, loggedIn } from '#connector/suite';
import { type Connection, type CreateSimulator, type Provider, startProvider } from '#connector/testing';
import { prepareQuery } from '../../src/where/query.ts';
import { OWNER, OWNER_KIND, REPOSITORY } from './account.ts';
import github from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION, DEMO_REPOSITORY } from './simulator.ts';
import { hooks } from './webhooks.ts';

const repository = DEMO_REPOSITORY;

const configuration = { ...DEMO_CONFIGURATION, [OWNER_KIND]: 'organization' };

describeConnector(github, createSimulator, {
  folder: import.meta.dirname,
  configuration: { ...configuration, ...loggedIn(DEMO_ACCESS_TOKEN, CLIENTS) },
  writes: {
    repositories: {
      create: (number) => ({ name: `new-${number}`, description: "It's new", private: true }),
      freeTexts: ['description'],
    },
    issues: {
      create: (number) => ({ title: `Issue ${number}`, body: "It's broken", labels: ['bug'], repository }),
      freeTexts: ['body'],
      alteredTexts: [''],
    },
    pull_requests: {
      create: (number) => ({ title: `Change ${number}`, head: `topic-${number}`, base: 'main', repository }),
      freeTexts: ['body'],
      alteredTexts: [''],
    },
    comments: {
      create: (number) => ({ issue_id: `${repository}-1`, body: `Comment ${number}: "O'Neil" 😀` }),
      freeTexts: ['body'],
      // A comment has a text.
      alteredTexts: ['', ' '],
    },
  },
});

describe('GitHub', () => {
  let provider: Provider;
  let connection: Connection;
  const sent: SentWebhook[] = [];
  before(async () => {
    // A small window stands for the 1,000 results.
    const create: CreateSimulator = (options) =>
      createSimulator({ ...options, searchWindow: 12, send: (webhook) => sent.push(webhook) });
    provider = await startProvider(github, create, { ...configuration, 'oauth.user.token': DEMO_ACCESS_TOKEN });
    connection = provider.connect();
  });
  after(() => provider.stop());
  const searchesIn = ({ requests }: Connection) =>
    requests.flatMap((request) => new URL(request.split(' ')[1] ?? '').searchParams.get('q') ?? []);

  it('continues behind the results that GitHub shows, and returns each row once', async () => {
    const rows = await connection.listAll(await connection.describe('issues'), { limit: 5 });
    expect(rows).to.have.lengthOf(60);
    expect(new Set(rows.map(({ id }) => id)).size).to.equal(60);
    const bounds = searchesIn(connection).filter((text) => text.includes('created:>='));
    expect(new Set(bounds).size).to.be.greaterThan(3);
  });

  it('lists one repository without a search, and searches for what a list cannot find', async () => {
    const one = provider.connect({ [REPOSITORY]: repository });
    const issues = await one.describe('issues');
    const rows = await one.listAll(issues);
    expect(rows.map(({ repository: name }) => name))
      .to.include(repository)
      .and.not.include('linguist');
    expect(searchesIn(one)).to.eql([]);
  });

  for (const [where, text] of [
    ["state = 'open' AND author = 'hubot'", 'state:open author:hubot'],
    ["state != 'open' AND assignee IS NULL", '-state:open no:assignee'],
    ['comments > 3 AND comments < 7', 'comments:4..6'],
    ['comments < 0', 'comments:<0'],
    ["author = 'dependabot[bot]'", 'author:app/dependabot'],
    ["created_at > '2024-02-01T00:00:00Z'", 'created:>=2024-02-01T00:00:01Z'],
    ["updated_at <= '2024-02-01T00:00:00.5Z'", 'updated:<=2024-02-01T00:00:00Z'],
    ["comments = 1 OR (locked = true AND milestone_title = 'v1 β')", '(comments:1..1 OR (is:locked milestone:"v1 β"))'],
    ['milestone_title = \'the "best"\'', ''],
    // An unknown user would make GitHub reject the whole search.
    ["state = 'open' AND (comments > 3 OR author = 'hubot')", 'state:open'],
    ["title LIKE '%bug%' AND closed_at IS NULL", 'is:open'],
  ] as const) {
    it(`searches: ${where}`, async () => {
      const issues = await connection.describe('issues');
      const filter = prepareQuery({ where }, issues).plan.native;
      const request = issues.list !== undefined && 'request' in issues.list ? issues.list.request : undefined;
      const input = { parameters: {}, fields: [], orderBy: [], limit: 5, ...(filter !== undefined && { filter }) };
      const { query } = request?.(input, connection.context.config) ?? {};
      expect(query?.q).to.equal(`org:octo-org is:issue ${text}`.trim());
    });
  }

  it('registers one webhook for an address, whose deliveries it verifies and reads', async () => {
    const url = 'https://causeway.example/events/1';
    const { create, remove } = hooks.registration ?? {};
    await connection.run(create, { url });
    const { id, secret = '' } = await connection.run(create, { url });
    sent.length = 0;
    await provider.command('/simulate/changes', { table: 'issues', create: 1, update: 1 });
    expect(sent).to.have.lengthOf(2);
    const events = sent.flatMap(({ headers, body }) => {
      const call = { method: 'POST', url, headers, body: Buffer.from(body) };
      const verdict =
        hooks.verify === 'unsigned' ? 'unsigned' : hooks.verify(call, { secret, now: 0, config: configuration });
      expect(verdict).to.equal('genuine');
      return hooks.events(call, configuration);
    });
    expect(events.map(({ action, objectName }) => `${objectName} ${action}`)).to.eql([
      'issues created',
      'issues updated',
    ]);
    await connection.run(remove, { id, url });
    await provider.command('/simulate/changes', { table: 'issues', update: 1 });
    expect(sent).to.have.lengthOf(2);
  });

  it('reads whose login the owner is', async () => {
    expect(await github.examine?.(connection.context)).to.eql({ [OWNER_KIND]: 'organization' });
    const user = provider.connect({ [OWNER]: 'octocat' });
    expect(await github.examine?.(user.context)).to.eql({ [OWNER_KIND]: 'self' });
  });

  it('finds nothing by a user whom GitHub does not know', async () => {
    const issues = await connection.describe('issues');
    const filter = prepareQuery({ where: "author = 'nobody'" }, issues).plan.native;
    expect(await connection.list(issues, { filter })).to.eql({ records: [] });
  });
});

describe('failures of GitHub', () => {
  const date = 'Thu, 05 Mar 2026 10:00:00 GMT';
  const judge = (status: number, message: string, headers = {}, more = {}) => {
    const { kind, retryAfterMs } =
      github.classify?.({ status, headers: { date, ...headers }, body: { message, ...more } }) ?? {};
    return [kind, retryAfterMs];
  };
  const spent = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Date.parse(date) / 1000 + 90) };

  it('are rate limits where the limit is spent or GitHub says when to come back, also as 403', () => {
    expect(judge(403, 'API rate limit exceeded', spent)).to.eql(['rateLimited', 90_000]);
    // The core reads the time of Retry-After.
    expect(judge(403, 'Too many', { 'retry-after': '7' })).to.eql(['rateLimited', undefined]);
    expect(judge(429, 'Too many')).to.eql(['rateLimited', 60_000]);
    expect(judge(403, 'You have exceeded a secondary rate limit')).to.eql(['rateLimited', 60_000]);
    expect(judge(403, 'Resource not accessible by integration')).to.eql([undefined, undefined]);
  });

  it('are deleted records, and searches that ran out of time', () => {
    expect(judge(410, 'This issue was deleted')).to.eql(['notFound', undefined]);
    expect(judge(200, '', {}, { incomplete_results: true })).to.eql(['unavailable', undefined]);
    expect(judge(200, '', {}, { incomplete_results: false })).to.eql([undefined, undefined]);
  });
});

describe('webhooks of GitHub', () => {
  const config = { 'github.owner': 'octo-org' };
  // The secret, the body and the signature of GitHub's guide "Validating webhook deliveries".
  const secret = "It's a Secret to Everybody";
  const documented = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
  const call = (body: string, headers: Readonly<Record<string, string>>) => ({
    ...{ method: 'POST', url: 'https://causeway.example/events', body: Buffer.from(body), headers },
  });
  const verify = (body: string, signature: string) =>
    hooks.verify === 'unsigned'
      ? 'unsigned'
      : hooks.verify(call(body, { 'x-hub-signature-256': signature }), { secret, now: 0, config });

  it("verifies the signatures of the documentation and of GitHub's own library, and rejects others", async () => {
    expect(verify('Hello, World!', documented)).to.equal('genuine');
    expect(verify('Hello, World?', documented)).to.equal('forged');
    const body = '{"action":"opened","title":"Zoë’s ☃"}';
    const signature = await sign(secret, body);
    expect(verify(body, signature)).to.equal('genuine');
    expect(verify(body, signature.replace('sha256=', 'sha1='))).to.equal('forged');
    expect(verify(body, await sign('another', body))).to.equal('forged');
    expect(verify('Hello, World!', '')).to.equal('unsigned');
  });

  const read = (event: string, body: object, settings = config) => {
    const headers = { 'x-github-event': event, 'x-github-delivery': 'd1' };
    const [first] = hooks.events(call(JSON.stringify(body), headers), settings);
    return first && [first.action, first.objectName, first.objectId];
  };
  const at = (login: string) => ({ repository: { name: 'hello-world', owner: { login } } });

  it('reads events of the owner, and no others', () => {
    const issue = { action: 'opened', issue: { number: 7 } };
    expect(read('issues', { ...issue, ...at('Octo-Org') })).to.eql(['created', 'issues', 'hello-world-7']);
    expect(read('issues', { ...issue, action: 'transferred', ...at('octo-org') })?.[0]).to.equal('deleted');
    expect(read('issues', { ...issue, ...at('others') })).to.equal(undefined);
    expect(read('ping', { zen: 'Keep it logically awesome.' })).to.equal(undefined);
    const label = { action: 'deleted', label: { name: 'bug' }, ...at('octo-org') };
    expect(read('label', label)).to.equal(undefined);
    const one = { ...config, 'github.repository': 'hello-world' };
    const milestone = { action: 'opened', milestone: { number: 3 }, ...at('octo-org') };
    expect(read('milestone', milestone, one)).to.eql(['updated', 'milestones', '3']);
    const changes = { repository: { name: { from: 'hello' } } };
    const renamed = call(JSON.stringify({ action: 'renamed', changes, ...at('octo-org') }), {
      'x-github-event': 'repository',
    });
    expect(hooks.events(renamed, config).map(({ action, objectId }) => [action, objectId])).to.eql([
      ['updated', 'hello-world'],
      ['deleted', 'hello'],
    ]);
    expect(read('label', label, one)).to.eql(['deleted', 'labels', 'bug']);
  });
});
