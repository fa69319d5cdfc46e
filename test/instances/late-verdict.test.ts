import { expect } from 'chai';
import { createInstanceRecords } from '../../src/instances/records.ts';
import { createInstanceStore } from '../../src/instances/store.ts';
import { useAccountDatabase } from '../support/event-rows.ts';

describe('what a provider says of credentials that were replaced meanwhile', () => {
  const database = useAccountDatabase(1);
  const told: string[] = [];

  const records = () =>
    createInstanceRecords(
      { notifier: { publish: async () => undefined, subscribe: () => undefined, onGap: () => undefined } } as never,
      {
        store: createInstanceStore(database.knex),
        codec: undefined as never,
        notifications: { prepare: async () => async (_, type) => void told.push(type) },
      },
    );

  async function called() {
    const row = await createInstanceStore(database.knex).find(1, 1);
    if (row === undefined) throw new Error('There is no instance.');
    return row;
  }

  async function replaceCredentials() {
    const changes = { credentials: 'new', valid: true, invalidReason: null, refusedCalls: [] };
    await createInstanceStore(database.knex).update(database.knex, 1, 1, changes);
  }

  it('does not make the instance invalid', async () => {
    const before = await called();
    await replaceCredentials();
    await records().noteCredentials(before, { kind: 'refused', work: 'list things' });
    expect([(await called()).valid, told]).to.deep.equal([true, []]);
    await records().noteCredentials(await called(), { kind: 'refused', work: 'list things' });
    expect([(await called()).valid, told]).to.deep.equal([false, ['instance.credentials.refused']]);
  });

  it('neither makes it valid again nor adds to its refused calls', async () => {
    const before = await called();
    await replaceCredentials();
    await records().noteCredentials(await called(), { kind: 'refused', work: 'list things' });
    await records().noteCredentials(before, { kind: 'accepted', work: 'list things' });
    await records().noteCredentials(before, { kind: 'refused', work: 'list others' });
    const { valid, refusedCalls } = await called();
    expect({ valid, refusedCalls }).to.deep.equal({ valid: false, refusedCalls: ['list things'] });
  });
});
