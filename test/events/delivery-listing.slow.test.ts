import { expect } from 'chai';
import type { Knex } from 'knex';
import pg from 'pg';
import { createDeliveryListingStore } from '../../src/events/deliveries/delivery-listing-store.ts';
import { DELIVERY_FIELDS } from '../../src/events/filter.ts';
import { createSubscriptionStore, MOST_TALLIED } from '../../src/events/subscriptions/subscription-store.ts';
import { prepareCondition } from '../../src/where/index.ts';
import { theRow, useDatabase } from '../support/database.ts';

const ROWS = 300_000;
const PAGE = 201;

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

describe(`a listing over ${ROWS} deliveries on their way and as many delivered`, function listing() {
  this.timeout(120_000);
  const database = useDatabase();

  before(() => fill(database.knex));

  /** The statements as the store sends them. */
  async function statementsOf(work: () => Promise<unknown>): Promise<{ sql: string; bindings: unknown[] }[]> {
    const seen: { sql: string; bindings: unknown[] }[] = [];
    const note = ({ sql, bindings }: { sql: string; bindings: unknown[] }) => void seen.push({ sql, bindings });
    database.knex.on('query', note);
    await work();
    database.knex.removeListener('query', note);
    return seen;
  }

  async function nodesOf(work: () => Promise<unknown>): Promise<readonly PlanNode[]> {
    const [statement] = await statementsOf(work);
    if (statement === undefined) throw new Error('No statement was sent');
    const client = new pg.Client(database.url);
    await client.connect();
    const { rows } = await client.query(`explain (analyze, format json) ${statement.sql}`, statement.bindings);
    await client.end();
    return flatten(rows[0]['QUERY PLAN'][0].Plan);
  }

  const count = (where: string | undefined, most?: number) =>
    createDeliveryListingStore(database.knex).count(1, conditionOf(where), most);

  const list = (where: string | undefined, afterId?: number, newestFirst = false) =>
    createDeliveryListingStore(database.knex).list(1, { condition: conditionOf(where), afterId, newestFirst }, PAGE);

  for (const [what, where, afterId] of [
    ['the first page of all', undefined, undefined],
    ['a page in the middle', undefined, ROWS],
    ['the queued ones, which are few', `channel = 'webhook' AND status = 'queued'`, undefined],
    ['the queued ones of a URL', `status = 'queued' AND config.url = 'https://receiver.example.com/3'`, undefined],
    ['those of a URL', `config.url = 'https://receiver.example.com/3'`, undefined],
    ['those of a subscription', `subscriptionId = 3`, undefined],
    ['the delivered ones', `status = 'delivered'`, undefined],
    ['those that are retried', `status = 'retrying' AND attempts > 1`, undefined],
    ['the newest by their time', `createdDate >= 2000-01-01`, ROWS],
  ] as const) {
    it(`sorts no more than a page of each kind: ${what}`, async () => {
      const nodes = await nodesOf(() => list(where, afterId));
      for (const node of nodes.filter((each) => each['Node Type'].includes('Sort'))) {
        for (const below of node.Plans ?? []) expect(below['Actual Rows'], describeNode(node)).to.be.at.most(3 * PAGE);
      }
      expect(Math.max(...scannedBy(nodes)), nodes.map(describeNode).join('\n')).to.be.below(ROWS / 10);
    });
  }

  for (const afterId of [undefined, ROWS + 50]) {
    it(`reads no more for the newest first, ${afterId === undefined ? 'from the first' : 'from a later page'}`, async () => {
      const nodes = await nodesOf(() => list(undefined, afterId, true));
      expect(Math.max(...scannedBy(nodes)), nodes.map(describeNode).join('\n')).to.be.at.most(PAGE);
    });
  }

  describe('by its event', () => {
    const shown = (uuid: string) => `evt_${uuid.replaceAll('-', '')}`;

    const ids = { delivery: 'id', delivery_attempt: 'delivery_id' } as const;
    for (const table of ['delivery', 'delivery_attempt'] as const) {
      it(`finds a delivery in ${table} without reading the others`, async () => {
        const row = await theRow(database.knex(table).offset(1234).limit(1).select('event_id', { id: ids[table] }));
        const where = `event.id = '${shown(row.event_id)}'`;
        expect((await list(where)).map(({ id }) => id)).to.deep.equal([row.id]);
        for (const work of [() => list(where), () => count(where)]) {
          const nodes = await nodesOf(work);
          const read = scannedBy(nodes).reduce((sum, rows) => sum + rows, 0);
          expect(read, nodes.map(describeNode).join('\n')).to.be.at.most(10);
        }
      });
    }

    it('finds several, and none for what is no id of an event', async () => {
      const rows = await database.knex('delivery').orderBy('id').limit(2);
      const ids = rows.map(({ event_id }) => `'${shown(event_id)}'`);
      const found = await list(`event.id IN (${ids.join(', ')}, 'evt_none') AND channel = 'webhook'`);
      expect(found.map(({ id }) => id)).to.deep.equal(rows.map(({ id }) => id));
      expect(await list(`event.id = 'evt_none'`)).to.deep.equal([]);
      expect(await list(`event.id IN (${ids[0]}) OR id = ${rows[1]?.id}`)).to.have.length(2);
    });
  });

  it('answers pages in order, without gap or overlap, over both kinds', async () => {
    const where = 'id > 299900 AND id <= 300100';
    const all = await list(where);
    expect(all.map(({ id }) => id)).to.deep.equal(Array.from({ length: 200 }, (_, index) => 299_901 + index));
    const rest = await list(where, 299_950);
    expect(rest).to.deep.equal(all.slice(50));
    expect(new Set(all.map(({ status }) => status))).to.include('delivered');
    expect(await list(where, undefined, true)).to.deep.equal(all.toReversed());
    expect(await list(where, 299_950, true)).to.deep.equal(all.slice(0, 49).toReversed());
  });

  for (const [where, statuses] of [
    [`status = 'paused'`, []],
    [`status = 'queued' AND status = 'delivered'`, []],
    [`status != 'delivered' AND status != 'queued'`, ['delivering', 'retrying']],
    [`status NOT IN ('queued', 'retrying')`, ['delivered', 'delivering']],
    [`status IN ('queued', 'delivered') OR attempts < 0`, ['delivered', 'queued']],
    [`status LIKE 'deliver%'`, ['delivered', 'delivering']],
    [`status > 'queued'`, ['retrying']],
    [`status IS NOT NULL`, ['delivered', 'delivering', 'queued', 'retrying']],
  ] as const) {
    it(`takes the statuses that the filter means: ${where}`, async () => {
      const condition = conditionOf(`id > 290000 AND id <= 310000 AND (${where})`);
      const counted = await createDeliveryListingStore(database.knex).count(1, condition);
      expect(counted.map(({ status }) => status).sort()).to.deep.equal(statuses);
    });
  }

  it('counts all of them', async () => {
    const counted = await count(undefined, 3 * ROWS);
    expect(counted.reduce((sum, { count }) => sum + count, 0)).to.equal(2 * ROWS);
    expect(counted.find(({ status }) => status === 'delivered')?.count).to.equal(ROWS);
  });

  it('stops counting where it is told to, and reads no more for it', async () => {
    const most = 1_000;
    const counted = await count(undefined, most);
    expect(counted.map(({ status }) => status).sort()).to.deep.equal(['delivered', 'delivering', 'queued', 'retrying']);
    for (const { count: found } of counted) expect(found).to.equal(most);
    const nodes = await nodesOf(() => count(undefined, most));
    const read = scannedBy(nodes).reduce((sum, rows) => sum + rows, 0);
    expect(read, nodes.map(describeNode).join('\n')).to.be.below(20 * most);
  });

  it('tallies the deliveries of subscriptions along their indexes', async () => {
    const tally = () => createSubscriptionStore(database.knex).tally(1, [3, 4]);
    expect(await tally()).to.have.deep.members([
      { subscriptionId: 3, queued: 0, retrying: MOST_TALLIED },
      { subscriptionId: 4, queued: 3_000, retrying: 0 },
    ]);
    const nodes = await nodesOf(tally);
    const read = scannedBy(nodes).reduce((sum, rows) => sum + rows, 0);
    expect(read, nodes.map(describeNode).join('\n')).to.be.below(ROWS / 10);
  });
});

function conditionOf(where: string | undefined) {
  return where === undefined ? undefined : prepareCondition(where, { fields: DELIVERY_FIELDS });
}

function flatten(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)];
}

/** Rows that each node read of deliveries. */
function scannedBy(nodes: readonly PlanNode[]): readonly number[] {
  return nodes
    .filter((node) => /^delivery/.test(node['Relation Name'] ?? ''))
    .map((node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']);
}

function describeNode(node: PlanNode): string {
  const removed = node['Rows Removed by Filter'] ?? 0;
  return `${node['Node Type']} ${node['Relation Name'] ?? ''} ${node['Actual Rows']} rows, ${removed} removed, ${node['Actual Loops']} loops`;
}

/** Delivered ones first, as it is in life; one of a hundred of the others is queued. */
async function fill(knex: Knex): Promise<void> {
  await knex.raw(`insert into organization (name) values ('o')`);
  await knex.raw(`insert into account (organization_id, name, external_id) values (1, 'a', 'a')`);
  await knex.raw(`insert into subscription (account_id, url, secrets)
    select 1, 'https://receiver.example.com/' || n, 'x' from generate_series(1, 20) n`);
  for (const day of [0, 1, 2]) {
    await knex.raw(`create table delivery_attempt_day_${day} partition of delivery_attempt
      for values from ('2026-01-0${day + 1}') to ('2026-01-0${day + 2}')`);
  }
  await knex.raw(`insert into delivery_attempt
    (account_id, delivery_id, attempt, attempted_at, delivered, duration_ms, subscription_id, event_id, event_at, type, delivery_created_at)
    select 1, n, 1, timestamptz '2026-01-01' + interval '12 hours' + interval '1 day' * (n % 3), true, 5, 1 + n % 20, gen_random_uuid(), now(), 'a.created', now()
    from generate_series(1, ${ROWS}) n`);
  await knex.raw(`select setval(pg_get_serial_sequence('delivery', 'id'), ${ROWS})`);
  await knex.raw(`insert into delivery
    (account_id, subscription_id, event_id, event_at, type, state, attempts, due, first_failed_at)
    select 1, 1 + n % 20, gen_random_uuid(), now(), 'a.created', case when n % 100 = 3 then 'queued' else 'waiting' end, n % 4,
      case when n % 100 = 3 then null else now() end, case when n % 2 = 0 then now() end
    from generate_series(1, ${ROWS}) n`);
  await knex.raw('analyze');
}
