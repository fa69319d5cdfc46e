import { expect } from 'chai';
import type { Knex } from 'knex';
import keap from '../../connectors/keap/index.ts';
import { createRegistry } from '../../src/connector/registry.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { createNotifier, type Notifier } from '../../src/db/notifier.ts';
import { composeMappings, type Mappings } from '../../src/mappings/index.ts';
import type { Owner } from '../../src/mappings/owner.ts';
import { silentLog, theRow, useDatabase } from '../support/database.ts';
import { createVirtualClock, type VirtualClock } from '../support/virtual-clock.ts';

const CALLER = { organizationId: 1, accountId: 1, mayChange: () => true, assertMayChange: () => {} };
const ORGANIZATION: Owner = { level: 'organization', organizationId: 1 };
const FIELDS = { fields: [{ path: 'key', type: 'string' }] };
const MAPPING = { vendorName: 'contacts', fields: [{ path: 'key', vendorPath: 'id' }] };

/** A process with a connection of its own that listens. */
interface Process {
  readonly mappings: Mappings;
  readonly clock: VirtualClock;
  /** Runs work and counts its statements, without those that other work sends. */
  readonly count: (work: () => Promise<unknown>) => Promise<number>;
  /** Returns the number of look-ups of an instance's mappings so far. */
  readonly lookUps: () => number;
  readonly stop: () => Promise<void>;
}

describe('the mappings of instances', () => {
  const database = useDatabase();
  let one: Process;
  let other: Process;
  let accountId: number;
  let instanceIds: readonly number[];

  before(async () => {
    const { knex } = database;
    await knex('organization').insert({ name: 'One' });
    const account = { organization_id: 1, name: 'A', external_id: 'a', default_account: true };
    ({ id: accountId } = await theRow(knex('account').insert(account).returning('id')));
    const user = { organization_id: 1, account_id: accountId, email_address: 'a@example.com' };
    const { id: userId } = await theRow(knex('app_user').insert(user).returning('id'));
    instanceIds = [await createInstance(knex, userId), await createInstance(knex, userId)];
    [one, other] = await Promise.all([startProcess(), startProcess()]);
  });
  after(() => Promise.all([one?.stop(), other?.stop()]));

  async function createInstance(knex: Knex, userId: number): Promise<number> {
    const { rows } = await knex.raw(
      `insert into instance (account_id, user_id, name, element_key, configuration, credentials, token, token_hash)
       values (?, ?, 'x', 'keap', '{}', '', '', sha256(gen_random_uuid()::text::bytea)) returning id`,
      [accountId, userId],
    );
    return rows[0].id;
  }

  async function startProcess(): Promise<Process> {
    const own: Database = openDatabase({ url: database.url, poolSize: 3, log: silentLog });
    const notifier: Notifier = createNotifier({ url: database.url, knex: own.knex, log: silentLog });
    await notifier.start();
    const shares = {
      list: <Result>(_: number, read: (via: Knex) => Promise<Result>) => read(own.knex),
    };
    const clock = createVirtualClock();
    let lookUps = 0;
    const mappings = composeMappings(
      { knex: own.knex, notifier, clock, shares },
      {
        accounts: {
          getOrganizationId: async () => {
            lookUps++;
            return 1;
          },
        },
        registry: createRegistry([keap]),
        connectorMappings: new Map(),
        reservedNames: new Set(['instances', 'accounts']),
      },
    );
    return {
      mappings,
      clock,
      lookUps: () => lookUps,
      count: async (work) => {
        let count = 0;
        const listen = () => {
          count += 1;
        };
        own.knex.on('query', listen);
        await work();
        own.knex.off('query', listen);
        return count;
      },
      stop: async () => {
        await notifier.close();
        await own.close();
      },
    };
  }

  const at = (index: number) => ({ accountId, id: instanceIds[index] ?? 0, connector: { key: 'keap' } });
  const instance = (index: number): Owner => ({
    level: 'instance',
    organizationId: 1,
    accountId,
    instanceId: instanceIds[index] ?? 0,
  });
  const define = (owner: Owner, objectName: string) =>
    one.mappings.definitions.create(CALLER, owner, { [objectName]: FIELDS }, () => ({
      name: ['path'],
      body: ['body'],
    }));
  const map = (owner: Owner, objectName: string, body: object = MAPPING) =>
    one.mappings.transformations.put(CALLER, { owner, connector: keap, objectName }, body);

  it('cost no statement when they are in memory, also where there are none', async () => {
    const { mappings, count } = other;
    const first = await mappings.inForce(at(0));
    expect([first.byName.size, first.unmapped]).to.deep.equal([0, []]);
    expect(await count(() => mappings.inForce(at(0)))).to.equal(0);
    expect(await count(() => mappings.inForce(at(1)))).to.equal(0);
    expect(await mappings.inForce(at(1))).to.equal(first);
    expect(await mappings.inForceForElement({ accountId, elementKey: 'keap' })).to.equal(first);
  });

  it('are those of a change from the next call on, in every process', async () => {
    await define(ORGANIZATION, 'people');
    for (const { mappings } of [one, other]) expect((await mappings.inForce(at(0))).unmapped).to.deep.equal(['people']);
    await map(ORGANIZATION, 'people');
    for (const { mappings, count } of [one, other]) {
      const found = await mappings.inForce(at(0));
      expect(found.byName.get('people')?.vendorName).to.equal('contacts');
      expect(await count(() => mappings.inForce(at(0)))).to.equal(0);
    }
    expect((await one.mappings.inForce(at(0))).version).to.equal((await other.mappings.inForce(at(0))).version);
  });

  it('stay the same value for an instance that a change does not concern', async () => {
    const { mappings } = other;
    const before = await mappings.inForce(at(1));
    await map(instance(0), 'people', { ...MAPPING, configuration: [{ type: 'inherit' }] });
    expect((await mappings.inForce(at(0))).byName.get('people')?.level).to.equal('instance');
    expect(await mappings.inForce(at(1))).to.equal(before);
  });

  it('keep the mapping of an object when another one changes', async () => {
    const { mappings } = other;
    const before = await mappings.inForce(at(1));
    await define(ORGANIZATION, 'deals');
    const after = await mappings.inForce(at(1));
    expect(after.version).not.to.equal(before.version);
    expect(after.byName.get('people')).to.equal(before.byName.get('people'));
  });

  it('are what they were when an instance has none of its own any more', async () => {
    const { mappings } = other;
    const target = { owner: instance(0), connector: keap, objectName: 'people' };
    await one.mappings.transformations.remove(target, { propagate: false });
    expect(await mappings.inForce(at(0))).to.equal(await mappings.inForce(at(1)));
  });

  it('are looked up once for the same object of an instance, until any of them changes', async () => {
    const { mappings, lookUps } = other;
    const kept = at(0);
    const first = await mappings.inForce(kept);
    const before = lookUps();
    expect(await mappings.inForce(kept)).to.equal(first);
    expect(lookUps()).to.equal(before);
    await map(ORGANIZATION, 'deals');
    expect((await mappings.inForce(kept)).byName.has('deals')).to.equal(true);
    expect(lookUps()).to.equal(before + 1);
  });

  it('are looked up again after a few seconds, in case an announcement was lost', async () => {
    const { mappings, lookUps, clock } = other;
    const kept = at(0);
    await mappings.inForce(kept);
    const before = lookUps();
    await clock.advance(6_000);
    await mappings.inForce(kept);
    expect(lookUps()).to.equal(before + 1);
  });

  it('go with their instance, and with their account', async () => {
    const { knex } = database;
    await define(instance(1), 'own');
    await map(instance(1), 'own');
    await define({ level: 'account', organizationId: 1, accountId }, 'ours');
    await knex('instance').where({ id: instanceIds[1] }).delete();
    expect(await knex('account_definition').pluck('object_name')).to.deep.equal(['ours']);
    expect(await knex('account_transformation').pluck('object_name')).to.deep.equal([]);
    expect(await one.mappings.removeSome(accountId)).to.equal('done');
    expect(await knex('account_definition').pluck('object_name')).to.deep.equal([]);
    expect(await knex('organization_definition').orderBy('id').pluck('object_name')).to.deep.equal(['people', 'deals']);
  });

  it('are not stored for an instance that was deleted', async () => {
    let failure: unknown;
    await define(instance(1), 'late').catch((error: unknown) => {
      failure = error;
    });
    expect(failure).to.include({
      code: 'NOT_FOUND',
      message: 'The instance or the account was deleted while its mappings were changed.',
    });
  });

  it('have at most 500 definitions a level', async () => {
    const owner: Owner = { level: 'account', organizationId: 1, accountId };
    const bodies = Object.fromEntries(Array.from({ length: 501 }, (_, n) => [`object${n}`, { fields: [] }]));
    const create = (given: object) =>
      one.mappings.definitions.create(CALLER, owner, { ...given }, () => ({ name: ['path'], body: ['body'] }));
    let failure: unknown;
    await create(bodies).catch((error: unknown) => {
      failure = error;
    });
    expect(failure).to.include({
      code: 'CONFLICT',
      message: 'The level account would have 501 definitions, and can have 500. Delete definitions that are not used.',
    });
    expect(await one.mappings.definitions.list(owner)).to.deep.equal([]);
    const { object500: _, ...most } = bodies;
    await create(most);
    expect(await one.mappings.definitions.list(owner)).to.have.length(500);
  });
});
