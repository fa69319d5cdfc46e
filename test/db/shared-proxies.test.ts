import { expect } from 'chai';
import type { Knex } from 'knex';
import { STATEMENTS } from '../../src/db/migrations/0045-shared-proxies.ts';
import { theRow, useDatabase } from '../support/database.ts';
import { addAccount } from '../support/event-rows.ts';
import { isDistributedRun } from '../support/nodes.ts';

const BEFORE = [
  'alter table oauth_proxy drop column shared',
  'alter table oauth_proxy drop constraint oauth_proxy_account_id_name_key',
  'alter table oauth_proxy add unique (organization_id, name)',
];

// No database was distributed before this migration.
(isDistributedRun ? describe.skip : describe)('the migration to OAuth proxies of one account', () => {
  const database = useDatabase();

  it('keeps shared what another account of the organization uses, and nothing else', async () => {
    const { knex } = database;
    for (const statement of BEFORE) await knex.raw(statement);
    await addAccount(knex);
    const sibling = await accountOf(knex, 1);
    const { id: organizationId } = await theRow(knex('organization').insert({ name: 'Another' }).returning('id'));
    const stranger = await accountOf(knex, Number(organizationId));

    const proxies = {
      unused: await proxyOf(knex),
      ownInstance: await proxyOf(knex),
      siblingInstance: await proxyOf(knex),
      strangerInstance: await proxyOf(knex),
      siblingSession: await proxyOf(knex),
      endedSession: await proxyOf(knex),
      ownSession: await proxyOf(knex),
    };
    await connectThrough(knex, 1, proxies.ownInstance.key);
    await connectThrough(knex, sibling, proxies.siblingInstance.key);
    await connectThrough(knex, stranger, proxies.strangerInstance.key);
    await openSession(knex, sibling, proxies.siblingSession.id);
    await openSession(knex, sibling, proxies.endedSession.id, { status: 'failed', ended_at: new Date() });
    await openSession(knex, 1, proxies.ownSession.id);

    await knex.raw(STATEMENTS.join(';\n'));
    const shared = await knex('oauth_proxy').where({ shared: true }).orderBy('id').pluck('id');
    expect(shared).to.deep.equal([proxies.siblingInstance.id, proxies.siblingSession.id]);
  });
});

let made = 0;

async function accountOf(knex: Knex, organizationId: number): Promise<number> {
  const row = { organization_id: organizationId, name: 'Other', external_id: `other-${made++}` };
  return (await theRow(knex('account').insert(row).returning('id'))).id;
}

async function proxyOf(knex: Knex): Promise<{ readonly id: number; readonly key: string }> {
  const key = String(made++).padStart(32, 'k');
  const row = { account_id: 1, organization_id: 1, key, name: key, api_key: 'k', api_secret: 's' };
  return { key, id: (await theRow(knex('oauth_proxy').insert(row).returning('id'))).id };
}

async function connectThrough(knex: Knex, accountId: number, key: string): Promise<void> {
  const { organization_id } = await theRow(knex('account').where({ id: accountId }).select('organization_id'));
  const user = { organization_id, account_id: accountId, email_address: `${made++}@example.com` };
  const { id } = await theRow(knex('app_user').insert(user).returning('id'));
  const configuration = { 'oauth.callback.url': `https://causeway.example.com/oauth/proxy/${key}` };
  await knex.raw(
    `insert into instance (account_id, user_id, name, element_key, configuration, credentials, token, token_hash)
     values (?, ?, 'x', 'odata', ?, '', '', sha256(gen_random_uuid()::text::bytea))`,
    [accountId, id, JSON.stringify(configuration)],
  );
}

async function openSession(knex: Knex, accountId: number, proxyId: number, more: object = {}): Promise<void> {
  await knex('connect_session').insert({
    account_id: accountId,
    user_id: 1,
    key_hash: knex.raw('sha256(gen_random_uuid()::text::bytea)'),
    configuration: '',
    reauthenticates: false,
    proxy_id: proxyId,
    created_at: new Date(),
    expires_at: new Date(),
    ...more,
  });
}
