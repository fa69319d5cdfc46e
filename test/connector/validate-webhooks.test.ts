import { expect } from 'chai';
import { type Webhooks, webhooks } from '../../src/connector/index.ts';
import { findProblems } from '../../src/connector/validate.ts';
import { leastConnector } from '../support/least-connector.ts';

const SIGNED = webhooks.hmac({ header: 'x-signature', algorithm: 'sha256', encoding: 'hex' });
const REGISTRATION = {
  create: { request: () => ({}), read: () => ({ id: '1' }) },
  remove: { request: () => ({}), read: () => {} },
};

function problemsOf(declared: object): readonly string[] {
  const configuration = [
    { key: 'hooks.secret', type: 'string', secret: true, description: 'The secret' },
    { key: 'site', type: 'string', description: 'The site' },
  ] as const;
  // As a module that no compiler saw.
  const given: Webhooks = Object.assign({ verify: SIGNED, secretKey: 'hooks.secret', events: () => [] }, declared);
  return findProblems([leastConnector({ configuration, webhooks: given })]);
}

describe('a declaration of webhooks without problems', () => {
  const DECLARATIONS: Readonly<Record<string, object>> = {
    'with a secret in the configuration': {},
    'with a secret that comes with the registration': { secretKey: undefined, registration: REGISTRATION },
    'that says that they are unsigned': { verify: 'unsigned', secretKey: undefined },
    'with limits and a response of its own': {
      maxBytes: 65_536,
      response: { status: 200, headers: { 'content-type': 'text/xml' }, body: '<Response/>' },
    },
  };
  for (const [name, declared] of Object.entries(DECLARATIONS)) {
    it(name, () => expect(problemsOf(declared)).to.deep.equal([]));
  }
});

describe('a declaration of webhooks with a problem', () => {
  const PROBLEMS: readonly (readonly [name: string, declared: object, problem: string])[] = [
    [
      'that leaves signatures out',
      { verify: undefined, secretKey: undefined },
      "webhooks have no valid `verify`: a function, or 'unsigned'",
    ],
    ['without events', { events: undefined }, 'webhooks have no `events`'],
    [
      'that reports an object that is not there',
      { reports: { things: ['created'] } },
      "webhooks name 'things' in reports, which is not an object of the connector",
    ],
    [
      'that is verified without a secret',
      { secretKey: undefined },
      'webhooks are verified without a secret: declare a secretKey, a signingKey or a registration',
    ],
    ['with a secret for nothing', { verify: 'unsigned' }, 'webhooks are unsigned, and have a secretKey'],
    [
      'with a secret that nobody can give',
      { secretKey: 'hooks.key' },
      "the secretKey 'hooks.key' of webhooks is not a configuration key of a secret text",
    ],
    [
      'with a secret that everybody sees',
      { secretKey: 'site' },
      "the secretKey 'site' of webhooks is not a configuration key of a secret text",
    ],
    ['of endless bodies', { maxBytes: 2 ** 30 }, 'maxBytes of webhooks is a whole number from 1 to 4194304'],
    [
      'that answers with a failure',
      { response: { status: 302, headers: {}, body: '' } },
      'the response of webhooks is not a success',
    ],
    [
      'with a header that would be sent twice',
      { response: { status: 200, headers: { 'Content-Type': 'text/xml' }, body: '' } },
      "the response of webhooks has the header 'Content-Type', which is not in lower case",
    ],
  ];
  for (const [name, declared, problem] of PROBLEMS) {
    it(name, () => expect(problemsOf(declared)).to.deep.equal([`shop: ${problem}`]));
  }
});
