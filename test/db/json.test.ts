import { expect } from 'chai';
import { createSettingsStore } from '../../src/accounts/settings-store.ts';
import { useDatabase } from '../support/database.ts';
import { addAccount } from '../support/event-rows.ts';

describe('a JSON column', () => {
  const database = useDatabase();
  before(() => addAccount(database.knex));

  it('takes any object, of members that knex or the driver look for as well', async () => {
    const store = createSettingsStore(database.knex);
    const settings = {
      isRawInstance: true,
      toSQL: 'select 1',
      sql: '?',
      text: "'? ?? :name\\",
      list: [1, { a: null }],
    };
    await store.replace(1, settings);
    expect(await store.read(1)).to.deep.equal(settings);
    await store.merge(1, { bindings: ['?'] });
    expect(await store.read(1)).to.deep.equal({ ...settings, bindings: ['?'] });
  });
});
