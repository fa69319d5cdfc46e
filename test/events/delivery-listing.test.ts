import { expect } from 'chai';
import type { Knex } from 'knex';
import pg from 'pg';
import { createDeliveryListingStore } from '../../src/events/deliveries/delivery-listing-store.ts';
import { DELIVERY_FIELDS } from '../../src/events/filter.ts';
import { prepareCondition } from '../../src/where/index.ts';
import { useDatabase } from '../support/database.ts';

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

  const list = (where: string | undefined, afterId?: number) =>
    createDeliveryListingStore(database.knex).list(1, { condition: conditionOf(where), afterId }, PAGE);

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
      const scanned = nodes
        .filter((node) => /^delivery/.test(node['Relation Name'] ?? ''))
        .map((node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']);
      expect(Math.max(...scanned), nodes.map(describeNode).join('\n')).to.be.below(ROWS / 10);
    });
  }

  it('answers pages in order, without gap or overlap, over both kinds', async () => {
    const where = 'id > 299900 AND id <= 300100';
    const all = await list(where);
    expect(all.map(({ id }) => id)).to.deep.equal(Array.from({ length: 200 }, (_, index) => 299_901 + index));
    const rest = await list(where, 299_950);
    expect(rest).to.deep.equal(all.slice(50));
    expect(new Set(all.map(({ status }) => status))).to.include('delivered');
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
      const counted = await createDeliveryListingStore(database.knex).count(1, { condition });
      expect(counted.map(({ status }) => status).sort()).to.deep.equal(statuses);
    });
  }

  it('counts all of them', async () => {
    const counted = await createDeliveryListingStore(database.knex).count(1, {});
    expect(counted.reduce((sum, { count }) => sum + count, 0)).to.equal(2 * ROWS);
    expect(counted.find(({ status }) => status === 'delivered')?.count).to.equal(ROWS);
  });
});

function conditionOf(where: string | undefined) {
  return where === undefined ? undefined : prepareCondition(where, { fields: DELIVERY_FIELDS });
}

function flatten(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)];
}

function describeNode(node: PlanNode): string {
  const removed = node['Rows Removed by Filter'] ?? 0;
  return `${node['Node Type']} ${node['Relation Name'] ?? ''} ${node['Actual Rows']} rows, ${removed} removed, ${node['Actual Loops']} loops`;
}

/** Delivered ones first, as it is in life; one of a hundred of the others is queued. */
async function fill(knex: Knex): Promise<void> {
  await knex.raw(`insert into organization (name, secret_hash) values ('o', sha256('o'))`);
  await knex.raw(`insert into account (organization_id, name) values (1, 'a')`);
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
