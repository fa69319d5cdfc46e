import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { describeConnector, loggedIn } from '#connector/suite';
import github from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION, DEMO_REPOSITORY } from './simulator.ts';
import { hooks } from './webhooks.ts';

const repository = DEMO_REPOSITORY;

describeConnector(github, createSimulator, {
  folder: import.meta.dirname,
  configuration: { ...DEMO_CONFIGURATION, ...loggedIn(DEMO_ACCESS_TOKEN, CLIENTS) },
  writes: {
    repositories: {
      create: (number) => ({ name: `new-${number}`, description: "It's new", private: true }),
      freeTexts: ['description'],
    },
    issues: {
      create: (number) => ({ title: `Issue ${number}`, body: "It's broken", labels: ['bug'], repository }),
      freeTexts: ['body'],
    },
    pull_requests: {
      create: (number) => ({ title: `Change ${number}`, head: `topic-${number}`, base: 'main', repository }),
      freeTexts: ['body'],
    },
    comments: {
      create: (number) => ({ issue_id: `${repository}-1`, body: `Comment ${number}: "O'Neil" 😀` }),
      freeTexts: ['body'],
      // A comment has a text.
      alteredTexts: ['', ' '],
    },
  },
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

  it('verifies the signature of the documentation, and rejects others', () => {
    expect(verify('Hello, World!', documented)).to.equal('genuine');
    expect(verify('Hello, World?', documented)).to.equal('forged');
    const bare = createHmac('sha256', secret).update('Hello, World!').digest('hex');
    expect(verify('Hello, World!', `sha1=${bare}`)).to.equal('forged');
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
    expect(read('label', label, one)).to.eql(['deleted', 'labels', 'bug']);
  });
});
