import { expect } from 'chai';
import { type Connection, failureOf, normalise, objectOf, type Provider, startProvider } from '#connector/testing';
import { prepareQuery } from '../../src/where/index.ts';
import keap from './index.ts';
import { createSimulator, DEMO_ACCESS_TOKEN } from './simulator.ts';

const OBJECTS = typeof keap.objects === 'function' ? {} : keap.objects;

/** Returns the requests to Keap in their order. */
function asked(name: string, where: string, orderBy?: string): readonly unknown[] {
  const object = objectOf(OBJECTS, name);
  const { plan } = prepareQuery({ where, orderBy }, object);
  return plan.queries.map(({ native }) => {
    if (object.list === undefined || !('request' in object.list)) throw new Error('Two halves were expected.');
    const { parameters } = plan;
    const input = { filter: native, parameters, fields: [], orderBy: plan.sortPushed ? plan.orderBy : [], limit: 5 };
    const { page_size: _, limit: __, offset: ___, fields: ____, ...query } = object.list.request(input, {}).query ?? {};
    return JSON.parse(JSON.stringify(query));
  });
}

describe('Keap, from the connector to its simulator', () => {
  let simulator: Provider;
  let connection: Connection;

  before(async () => {
    simulator = await startProvider(keap, createSimulator, { 'oauth.user.token': DEMO_ACCESS_TOKEN });
    connection = simulator.connect();
  });
  after(() => simulator.stop());
  beforeEach(() => simulator.reset());

  it('shows amounts of orders in units of their currency', async () => {
    const orders = objectOf(OBJECTS, 'orders');
    const { records } = await connection.list(orders, { limit: 30 });
    const rows = records.map((record) => normalise(orders, record));
    const factors: Readonly<Record<string, number>> = { USD: 100, JPY: 1, KWD: 1000 };
    const currencies = rows.map(({ total, total_major }) => {
      const { amount, currency_code } = Object(total);
      expect(total_major).to.equal(amount / (factors[currency_code] ?? 0));
      return currency_code;
    });
    expect(new Set(currencies).size).to.equal(3);
  });

  it('joins conditions, each under the name that its list has for it', () => {
    expect(asked('contacts', "given_name LIKE 'Mar%' AND company.id = '7'")).to.deep.equal([
      { filter: 'given_name==Mar*;company_id==7' },
    ]);
    expect(asked('contacts', "id IN ('1', '2')")).to.deep.equal([{ filter: 'ids==1,2' }]);
    expect(asked('orders', "id != '3' AND paid = TRUE")).to.deep.equal([{ filter: 'id!=3;paid==true' }]);
    expect(asked('opportunities', 'projected_revenue_low > 12.5')).to.deep.equal([
      { filter: 'projected_revenue_low>12.5' },
    ]);
    expect(asked('tasks', 'due_time IS NOT NULL AND assigned_to_user_id IS NULL')).to.deep.equal([
      { filter: 'has_due_date==true;user_id==UNASSIGNED' },
    ]);
    expect(asked('tags', 'category.id IS NULL')).to.deep.equal([{ filter: 'category_id==NONE' }]);
    expect(asked('tasks/search', "completed = TRUE AND due_time IS NULL AND contact_id = '7'")).to.deep.equal([
      { completed: 'true', has_due_date: 'false', contact_id: '7' },
    ]);
  });

  it('takes the names that queries for its first version have', () => {
    const time = '2026-01-31T08:30:00Z';
    const pairs = [
      [
        'orders',
        `since = '${time}' AND until = '${time}'`,
        `creation_time >= '${time}' AND creation_time <= '${time}'`,
      ],
      ['affiliates/commissions', `since = '${time}'`, `date_earned >= '${time}'`],
      ['transactions', `until >= '${time}'`, `transaction_date >= '${time}'`],
      ['opportunities', "user_id = '17'", "user.id = '17'"],
      ['tasks', "user_id IN ('1', '17')", "assigned_to_user_id IN ('1', '17')"],
      ['tasks/search', "user_id = '17'", "assigned_to_user_id = '17'"],
    ] as const;
    for (const [name, alias, field] of pairs) {
      const [of, own] = [alias, field].map((where) => prepareQuery({ where }, objectOf(OBJECTS, name)).canonical);
      expect(of, alias).to.equal(own);
      expect(asked(name, alias), alias).to.deep.equal(asked(name, field)).and.not.deep.equal([{}]);
    }
    expect(asked('affiliates/commissions', `since = '${time}'`)).to.deep.equal([
      { order: 'DATE_EARNED', since: '2026-01-31T08:29:59.000Z' },
    ]);
    expect(asked('files', "user_id = '17'")).to.deep.equal([{ filter: 'user_id==17' }]);
    expect(() => prepareQuery({ where: "permission = 'ALL'" }, objectOf(OBJECTS, 'files'))).to.throw(
      "'permission' must be one of: USER, COMPANY, BOTH.",
    );
  });

  it('lets no value become another condition', () => {
    for (const odd of ['a;id==1', 'a*', ' a', '', 'a,b', 'none', 'a\\b']) {
      expect(asked('tags', `name = '${odd}'`), odd).to.deep.equal([{}]);
    }
    expect(asked('contacts', "given_name LIKE 'Jo;x%'")).to.deep.equal([{ filter: 'given_name==Jo*' }]);
    expect(() => asked('contacts', "email = 'a;id==1'")).to.throw("Keap accepts no semicolon in 'email'.");
    expect(asked('contacts', "id = 'x' OR id = '07'")).to.deep.equal([]);
  });

  it('bounds times with a second more at each end, where their names do not say what belongs to them', () => {
    const where = "update_time >= '2026-01-31T08:30:00Z' AND update_time < '2026-02-01T00:00:00+01:00'";
    const [start, end] = ['2026-01-31T08:29:59.000Z', '2026-01-31T23:00:01.000Z'];
    expect(asked('contacts', where)).to.deep.equal([{ filter: `start_update_time==${start};end_update_time==${end}` }]);
    expect(asked('transactions', "transaction_date > '2026-01-31T08:30:00Z'")).to.deep.equal([{ since: start }]);
    expect(asked('appointments', where)).to.deep.equal([
      { filter: 'update_time>=2026-01-31T08:30:00.000Z;update_time<2026-01-31T23:00:00.000Z' },
    ]);
  });

  it('searches all telephone numbers of a contact', () => {
    expect(asked('contacts', "phone_number = '(480*'")).to.deep.equal([
      { filter: 'phone_number==(480*;phone_fields==PHONE1,PHONE2,PHONE3,PHONE4,PHONE5' },
    ]);
  });

  it('looks for the latest changes of tasks first, and no further than it must', async () => {
    const tasks = objectOf(OBJECTS, 'tasks');
    expect(asked('tasks', "modification_time >= '2026-01-31T08:30:00Z'")).to.deep.equal([
      { order_by: 'update_time desc' },
    ]);
    expect(asked('tasks', "modification_time >= '2026-01-31T08:30:00Z'", 'create_time asc')).to.deep.equal([
      { order_by: 'create_time asc' },
    ]);
    const all = (await connection.listAll(tasks)).map((row) => String(row.modification_time)).sort();
    const since = all.at(-12) ?? '';
    const { plan } = prepareQuery({ where: `modification_time >= '${since}'` }, tasks);
    connection = simulator.connect();
    const found = await connection.listAll(tasks, { filter: plan.queries[0]?.native, limit: 10 });
    expect(found.filter((row) => String(row.modification_time) >= since)).to.have.length(
      all.filter((time) => time >= since).length,
    );
    expect(connection.requests.length).to.be.lessThan(4);
  });

  it('goes on with the token in the address that tags name', async () => {
    await connection.listAll(objectOf(OBJECTS, 'tags'), { limit: 20 });
    expect(new URL(connection.requests.at(-1)?.replace('GET ', '') ?? '').searchParams.get('page_token')).to.match(
      /^\w+$/,
    );
  });

  it('shows an appointment of the first version with what only the list of the second says', async () => {
    const appointments = objectOf(OBJECTS, 'appointments');
    const [listed] = await connection.listAll(appointments);
    const record = Object(await connection.run(appointments.get, { id: String(listed?.id), fields: [] }));
    expect(record).to.include({ update_time: listed?.update_time, user_id: listed?.user_id });
    expect(record.remind_time).to.be.a('number');
  });

  it('sends a file as that of its contact, and otherwise of the user', () => {
    const { upload } = objectOf(OBJECTS, 'files');
    const file = { name: 'a.txt', type: 'text/plain' };
    const partsOf = (values: object) =>
      upload?.create?.request({ values: { ...values }, fields: [], file }, {}).form?.parts.map(({ value }) => value);
    expect(partsOf({ contact_id: '7', is_public: false })).to.deep.equal(['a.txt', 'CONTACT', '7', 'false']);
    expect(partsOf({ file_name: 'b.txt', is_public: null })).to.deep.equal(['b.txt', 'USER']);
  });

  it('says what Keap says, and which of its budgets is the smaller', async () => {
    const refused = failureOf(connection.context.send({ path: '/rest/v2/tags', query: { filter: 'nosuch==1' } }));
    expect((await refused).code).to.equal('PROVIDER_REJECTED');
    const fault = { status: 429, headers: {}, body: { fault: { faultstring: 'Rate limit quota violation.' } } };
    expect(keap.classify?.(fault)).to.deep.include({ message: 'Rate limit quota violation.' });
    const headers = (quota: string) => ({
      'x-keap-product-throttle-limit': '1500',
      'x-keap-product-throttle-available': '1499',
      'x-keap-product-quota-limit': '150000',
      'x-keap-product-quota-available': quota,
    });
    expect(keap.rateLimit?.(headers('149999'))).to.deep.equal({ limit: 1500, remaining: 1499, resetSeconds: 60 });
    expect(keap.rateLimit?.(headers('7'))).to.deep.equal({ limit: 150_000, remaining: 7, resetSeconds: 86_400 });
    expect(keap.rateLimit?.({})).to.equal(undefined);
  });
});
