import { expect } from 'chai';
import { useSharedApp } from '../support/app.ts';
import { SHOP } from './support/simulated.ts';

const ROUNDS = 5;
const URL = 'http://127.0.0.1:9/kept';
const USER = { firstName: 'New', lastName: 'New', password: 'a long password 1' };
const FORMULA = {
  name: 'New',
  triggers: [{ type: 'manual', onSuccess: ['end'] }],
  steps: [{ name: 'end', type: 'script', properties: { body: 'done({})' } }],
};

interface Changed {
  /** Makes a thing. @returns its path */
  readonly make: () => Promise<string>;
  /** Bodies of requests that change different members. */
  readonly changes: readonly object[];
}

describe('members of one thing that several requests change at the same time', () => {
  const service = useSharedApp();
  let count = 0;

  const call = (method: string, path: string, body?: object) => service.send(method, path, body);
  /** @returns the path of what was made */
  async function add(path: string, body: object): Promise<string> {
    count += 1;
    const made = await call('POST', path, body);
    expect(made.status, JSON.stringify(made.body)).to.equal(200);
    return `${path}/${made.body.id}`;
  }
  const addAccount = () => add('/accounts', { externalId: `kept ${count}`, name: 'New' });
  const addInstance = async () => `/instances/${(await service.createInstance('odata', SHOP)).id}`;

  const THINGS: Readonly<Record<string, Changed>> = {
    'an account': {
      make: addAccount,
      changes: [{ name: 'Changed' }, { description: 'Changed' }, { active: false }],
    },
    'the settings of an account': {
      make: async () => `${await addAccount()}/settings`,
      changes: [
        { 'notification.webhook.failure.policy': 'queue' },
        { 'notification.webhook.retry.count': 9 },
        { 'notification.operational.callback.url': URL },
      ],
    },
    'a user': {
      make: () => add(`/accounts/${service.accountId}/users`, { ...USER, email: `kept${count}@example.com` }),
      changes: [{ firstName: 'Changed' }, { lastName: 'Changed' }, { active: false }],
    },
    'a formula': {
      make: () => add('/formulas', FORMULA),
      changes: [{ name: 'Changed' }, { description: 'Changed' }, { active: false }, { singleThreaded: true }],
    },
    'a formula instance': {
      make: async () => add(`${await add('/formulas', FORMULA)}/instances`, { name: 'New' }),
      changes: [{ name: 'Changed' }, { active: false }, { settings: { 'notification.webhook.url': URL } }],
    },
    'an instance': {
      make: addInstance,
      changes: [{ name: 'Changed' }, { tags: ['changed'] }, { configuration: { 'filter.response.nulls': false } }],
    },
    'the configuration of an instance': {
      make: async () => `${await addInstance()}/configuration`,
      changes: [
        { 'filter.response.nulls': false },
        { 'event.notification.enabled': true },
        { 'event.objects': 'Products' },
      ],
    },
  };

  for (const [what, { make, changes }] of Object.entries(THINGS))
    it(`are kept as far as the service accepted them, of ${what}`, async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const path = await make();
        const answers = await Promise.all(changes.map((change) => call('PATCH', path, change)));
        for (const { status, body } of answers) expect(status, JSON.stringify(body)).to.be.oneOf([200, 409]);
        const accepted = changes.filter((_, index) => answers[index]?.status === 200);
        expect(accepted).to.have.length.at.least(1);
        const body = await service.get(path);
        for (const [member, value] of accepted.flatMap(Object.entries)) {
          const isGroup = typeof value === 'object' && !Array.isArray(value);
          if (isGroup) expect(body[member], member).to.include(value);
          else expect(body, JSON.stringify(body)).to.deep.include({ [member]: value });
        }
        await call('DELETE', path.replace(/\/(?:settings|configuration)$/, ''));
      }
    });
});
