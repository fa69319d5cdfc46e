import { expect } from 'chai';
import type { Knex } from 'knex';
import { createSettings } from '../../src/accounts/settings.ts';
import { createSubscriptions } from '../../src/events/subscriptions/subscriptions.ts';
import { createInstances } from '../../src/instances/instances.ts';
import { createInstanceRecords } from '../../src/instances/records.ts';
import { createInstanceStore } from '../../src/instances/store.ts';
import { silentLog } from '../support/database.ts';
import { useAccountDatabase } from '../support/event-rows.ts';

describe('a change that other processes have in memory', () => {
  const database = useAccountDatabase(1);
  let told: string[] = [];

  /** A notifier of a process that ends with the commit of the change. */
  const notifier = {
    publish: async (topic: string, payload: string, via?: Knex) => {
      if (via?.isTransaction !== true) throw new Error('The process has ended.');
      told.push(`${topic} ${payload}`);
    },
    subscribe: () => () => undefined,
    onGap: () => () => undefined,
    settle: () => Promise.reject(new Error('The process has ended.')),
  };

  function instances() {
    const { knex } = database;
    const store = createInstanceStore(knex);
    const codec = { decode: (row: object) => ({ ...row, connector: {}, config: {} }) };
    const records = createInstanceRecords({ notifier } as never, { store, codec, notifications: {} } as never);
    const neighbours = { store, codec, records, noteRemoved: async () => undefined };
    return createInstances({ knex, notifier } as never, neighbours as never);
  }

  before(async () => {
    const { knex } = database;
    await knex('subscription').insert({ account_id: 1, url: 'https://a.example.com', secrets: 'sealed' });
  });
  beforeEach(() => {
    told = [];
  });

  for (const [what, make, announced] of [
    ['of an instance', () => instances().setDisabled(1, 1, true), ['instance 1:1']],
    ['of the settings of an account', () => settings().update(1, {}), ['account-settings 1']],
    ['of a subscription', () => subscriptions().update(1, 1, { eventTypes: ['*'] }), ['subscription 1:1']],
    ['that deletes an instance', () => instances().remove(1, 1), ['instance 1:1']],
  ] as const)
    it(`is announced by its commit, also if the process ends then: one ${what}`, async () => {
      await make().then(
        () => undefined,
        () => undefined,
      );
      expect(told).to.deep.equal(announced);
    });

  function settings() {
    return createSettings({ knex: database.knex, notifier, egress: {} } as never, async () => undefined);
  }

  function subscriptions() {
    return createSubscriptions({ knex: database.knex, notifier, log: silentLog } as never);
  }
});
