import { expect } from 'chai';
import type { ListInput, ListPage, ObjectSpec } from '#connector';
import { type Connection, failureOf, fieldOf, judge, type Provider, startProvider } from '#connector/testing';
import { withoutThreads } from '../../suite/discover.ts';
import { toFieldSpec } from './fields.ts';
import salesforce from './index.ts';
import { discoverObjects } from './objects.ts';
import { countOperation } from './query.ts';
import { createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

type Row = Readonly<Record<string, unknown>>;

/** Id of an account of the simulator that has contacts. */
const ACCOUNT = '0015g0000000001AAA';

const CONFIGURATION = { ...DEMO_CONFIGURATION, 'oauth.user.token': DEMO_ACCESS_TOKEN };

describe('the Salesforce connector', () => {
  let simulator: Provider;
  let connection: Connection;

  before(async () => {
    simulator = await startProvider(salesforce, createSimulator, CONFIGURATION);
  });
  beforeEach(() => {
    connection = simulator.connect();
  });
  after(() => simulator.stop());

  describe('discovery', () => {
    it('asks once for all objects, and once for each that is used', async () => {
      const account = await connection.describe('Account');
      expect(connection.requests.map(shown)).to.deep.equal([
        'GET /services/data/v62.0/sobjects',
        'GET /services/data/v62.0/sobjects/Account/describe',
      ]);
      expect(Object.keys(account.fields)).to.include.members(['Id', 'BillingAddress', 'Tier__c']);
    });

    it('offers what Salesforce lets anybody do', async () => {
      const objects = await discoverObjects(connection.context);
      expect(operationsOf(objects.Account)).to.deep.equal(['list', 'get', 'create', 'update', 'remove', 'describe']);
      expect(operationsOf(objects.User)).to.deep.equal(['list', 'get', 'describe']);
      expect(operationsOf(objects.ContentVersion)).to.deep.equal([
        'list',
        'get',
        'create',
        'update',
        'media',
        'describe',
      ]);
      expect(operationsOf(objects.AccountChangeEvent)).to.deep.equal(['describe']);
      expect([objects.Account?.custom, objects.Site__c?.custom]).to.deep.equal([false, true]);
    });

    it('offers the name of a parent on demand, where it surely has one', async () => {
      const contact = await connection.describe('Contact');
      expect(contact.fields['Account.Name']).to.deep.include({ type: 'string', onDemand: true, collation: 'ci' });
      const task = await connection.describe('Task');
      expect(Object.keys(task.fields).filter((name) => name.includes('.'))).to.deep.equal(['Who.Name']);
    });

    it('reads fields as Salesforce describes them', async () => {
      const account = await connection.describe('Account');
      expect(account.fields.Name).to.deep.include({ type: 'string', required: true, nullable: false, collation: 'ci' });
      expect(account.fields.Tier__c).to.deep.include({ custom: true, values: ['Gold', 'Silver', 'Bronze'] });
      expect(account.fields.Type?.values).to.equal(undefined);
      expect(account.fields.ExternalKey__c).to.deep.include({ collation: 'cs', label: 'External key' });
      expect(account.fields.OwnerId).to.deep.include({ type: 'string', nativeType: 'reference', required: false });
      expect(account.fields.Share__c).to.deep.include({ type: 'number', createable: false, updateable: false });
      expect(account.fields.NumberOfEmployees?.range).to.deep.equal(['-2147483648', '2147483647']);
      expect(toFieldSpec({ type: 'long' }, { textIsExact: false })).to.deep.include({
        format: 'decimal-text',
        range: ['-9223372036854775808', '9223372036854775807'],
      });
      expect(account.fields.BillingAddress).to.deep.include({ type: 'object', sortable: false });
      expect(account.fields.Regions__c?.type).to.equal('array');
      for (const name of ['Description', 'SecretCode__c', 'BillingAddress']) {
        expect(account.fields[name]?.filter, name).to.equal(undefined);
      }
    });
  });

  describe('lists', () => {
    it('reads page after page, and tells the total', async () => {
      const task = await connection.describe('Task');
      for (let index = 0; index < 190; index++) {
        await connection.run(task.create, { values: { Subject: `Task ${index}` }, fields: [] });
      }
      const first: ListPage = await connection.run(task.list, listOf(task, ['Id'], { limit: 50 }));
      expect([first.records.length, first.total]).to.deep.equal([200, 210]);
      expect(first.next).to.match(/^\/services\/data\/v62\.0\/query\/\w+-200$/);
      const cursor = first.next ?? '';
      const second: ListPage = await connection.run(task.list, listOf(task, ['Id'], { limit: 50, cursor }));
      expect([second.records.length, second.next]).to.deep.equal([10, undefined]);
    });

    it('counts the rows of a query without reading one', async () => {
      const account = await connection.describe('Account');
      const filter = `Id = '${ACCOUNT}'`;
      expect(await connection.run(countOperation('Account'), { ...listOf(account, ['Id']), filter })).to.equal(1);
      const { searchParams } = new URL(connection.requests.at(-1)?.slice(4) ?? '');
      expect(searchParams.get('q')).to.equal(`SELECT COUNT() FROM Account WHERE ${filter}`);
    });

    it('asks for the fields that are needed, in an order that is the same every time', async () => {
      const contact = await connection.describe('Contact');
      const orderBy = [
        { field: fieldOf(contact, 'Email'), direction: 'asc' },
        { field: fieldOf(contact, 'Birthdate'), direction: 'desc' },
      ] as const;
      await connection.run(contact.list, listOf(contact, ['Id', 'Name'], { orderBy, filter: "Name = 'x'" }));
      expect(lastOf(connection)).to.equal(
        "GET /services/data/v62.0/query?q=SELECT Id, Name FROM Contact WHERE Name = 'x' ORDER BY Email ASC NULLS LAST, Birthdate DESC NULLS FIRST, Id",
      );
    });

    it('does not order by the id twice', async () => {
      const contact = await connection.describe('Contact');
      const orderBy = [{ field: fieldOf(contact, 'Id'), direction: 'desc' }] as const;
      await connection.run(contact.list, listOf(contact, [], { orderBy }));
      expect(lastOf(connection)).to.match(/q=SELECT Id FROM Contact ORDER BY Id DESC NULLS FIRST$/);
    });

    it('finds deleted records when asked', async () => {
      const contact = await connection.describe('Contact');
      const parameters = { includeDeleted: { kind: 'boolean', value: true } } as const;
      const all: ListPage = await connection.run(contact.list, listOf(contact, ['Id'], { parameters }));
      const living: ListPage = await connection.run(contact.list, listOf(contact, ['Id']));
      expect([all.total, living.total]).to.deep.equal([62, 60]);
      expect(lastOf(connection, -2)).to.include('/queryAll?q=');
    });

    it('puts a statement that is too long for a URL into a body', async () => {
      const contact = await connection.describe('Contact');
      const filter = `Name IN (${Array.from({ length: 900 }, (_, index) => `'Nobody ${index}'`).join(', ')})`;
      const page: ListPage = await connection.run(contact.list, listOf(contact, ['Id'], { filter }));
      expect([page.records.length, lastOf(connection)]).to.deep.equal([0, 'POST /services/data/v62.0/composite']);
      const failure = await failureOf(
        connection.run(contact.list, listOf(contact, ['Id'], { filter: `${filter} AND x = 1` })),
      );
      expect([failure.code, failure.providerMessage]).to.deep.equal([
        'PROVIDER_REJECTED',
        "INVALID_FIELD: No such column 'x' on entity 'Contact'. If you are attempting to use a custom field, be sure to append the '__c' after the custom field name.",
      ]);
    });
  });

  describe('what is below a record', () => {
    it('has the names of its relationships, where a statement can ask for it', async () => {
      const [account, opportunity, user] = await Promise.all(
        ['Account', 'Opportunity', 'User'].map((name) => connection.describe(name)),
      );
      // ActivityHistories cannot be queried on its own, and the relationship from an owner to accounts has no name.
      expect(childNames(account)).to.deep.equal(['Contacts', 'Opportunities', 'Tasks', 'Sites__r', 'Readings__r']);
      expect([childNames(opportunity), childNames(user)]).to.deep.equal([['Tasks'], []]);
    });

    it('is described like any object, and has no more than a list', async () => {
      const contacts = await below(connection, 'Account', 'Contacts');
      const contact = await connection.describe('Contact');
      expect(Object.keys(contacts.fields)).to.deep.equal(Object.keys(contact.fields));
      expect(contacts.fields.Email?.filter).to.deep.equal(contact.fields.Email?.filter);
      expect(operationsOf(contacts)).to.deep.equal(['list']);
    });

    const statements: readonly (readonly [string, string, Partial<ListInput<string>>, string])[] = [
      ['Account', 'Contacts', {}, `FROM Contact WHERE AccountId = '${ACCOUNT}' ORDER BY Id`],
      [
        'Account',
        'Opportunities',
        { filter: '(Amount > 1 OR Amount = null)' },
        `FROM Opportunity WHERE AccountId = '${ACCOUNT}' AND (Amount > 1 OR Amount = null) ORDER BY Id`,
      ],
      ['Account', 'Tasks', {}, `FROM Task WHERE WhatId = '${ACCOUNT}' ORDER BY Id`],
      ['Account', 'Sites__r', {}, `FROM Site__c WHERE Account__c = '${ACCOUNT}' ORDER BY Id`],
    ];
    for (const [parent, child, input, statement] of statements) {
      it(`is asked for by the field that refers to the record: ${parent}/…/${child}`, async () => {
        const object = await below(connection, parent, child);
        await connection.run(object.list, listOf(object, ['Id'], { ...input, parentId: ACCOUNT }));
        expect(connection.requests.map(shown).filter((request) => request.includes('?q='))).to.deep.equal([
          `GET /services/data/v62.0/query?q=SELECT Id ${statement}`,
        ]);
      });
    }

    it('is followed over pages of the provider', async () => {
      const account = await connection.describe('Account');
      const contact = await connection.describe('Contact');
      const { Id: parentId } = toRow(await connection.run(account.create, { values: { Name: 'Large' }, fields: [] }));
      for (let index = 0; index < 205; index++) {
        await connection.run(contact.create, { values: { LastName: `${index}`, AccountId: parentId }, fields: [] });
      }
      const contacts = await below(connection, 'Account', 'Contacts');
      const rows = await connection.listAll(contacts, { parentId: String(parentId), limit: 50 });
      expect(rows).to.have.length(205);
      expect(new Set(rows.map(({ AccountId }) => AccountId))).to.deep.equal(new Set([parentId]));
    });

    it('is not found where there is no such record, and empty where there is', async () => {
      const contacts = await below(connection, 'Account', 'Contacts');
      const filter = "LastName = 'Nobody'";
      expect(await connection.listAll(contacts, { parentId: ACCOUNT, filter })).to.deep.equal([]);
      // The second id belongs to a contact.
      for (const parentId of ['0015g0000000999AAA', '0035g0000000001AAA', "x' OR Id != '", 'short', '../Contact/1']) {
        const failure = await failureOf(connection.listAll(contacts, { parentId }));
        expect(failure.code, parentId).to.equal('NOT_FOUND');
      }
    });

    it('takes ids of 15 characters as well', async () => {
      const contacts = await below(connection, 'Account', 'Contacts');
      const long = await connection.listAll(contacts, { parentId: ACCOUNT });
      expect(long).to.have.length.above(0);
      expect(await connection.listAll(contacts, { parentId: ACCOUNT.slice(0, 15) })).to.deep.equal(long);
    });

    it('may be in the recycle bin', async () => {
      const contacts = await below(connection, 'Account', 'Contacts');
      const parameters = { includeDeleted: { kind: 'boolean', value: true } } as const;
      await connection.run(contacts.list, listOf(contacts, ['Id'], { parameters, parentId: ACCOUNT }));
      expect(connection.requests.map(shown).some((request) => request.includes('/queryAll?q='))).to.equal(true);
    });
  });

  describe('records', () => {
    it('are read back after they were created and changed', async () => {
      const account = await connection.describe('Account');
      const created = await connection.run(account.create, { values: { Name: 'New' }, fields: [] });
      const { Id: id } = toRow(created);
      expect(created).to.deep.include({ Name: 'New', BillingCity: null, IsDeleted: false });
      const update = { id: String(id), values: { BillingCity: 'Oslo' }, fields: [] };
      expect(await connection.run(account.update, update)).to.deep.include({ Name: 'New', BillingCity: 'Oslo' });
      await connection.run(account.remove, { id: String(id) });
      expect(await failureOf(connection.run(account.get, { id: String(id), fields: [] }))).to.have.property(
        'code',
        'NOT_FOUND',
      );
    });

    it('have instants in UTC, choices as a list, and both are written as Salesforce wants them', async () => {
      const account = await connection.describe('Account');
      const [visited, regions] = [fieldOf(account, 'VisitedAt__c'), fieldOf(account, 'Regions__c')];
      expect(visited.read?.('2024-02-29T08:30:00.000+0000')).to.equal('2024-02-29T08:30:00.000Z');
      expect([visited.read?.(null), regions.read?.(null)]).to.deep.equal([null, null]);
      expect(regions.read?.('APAC;EMEA')).to.deep.equal(['APAC', 'EMEA']);
      expect([regions.write?.(['APAC', 'EMEA']), regions.write?.('APAC')]).to.deep.equal(['APAC;EMEA', 'APAC']);
    });

    it('cannot be left by an id', async () => {
      const account = await connection.describe('Account');
      await failureOf(connection.run(account.get, { id: '../../x?y#z', fields: [] }));
      expect(lastOf(connection)).to.equal('GET /services/data/v62.0/sobjects/Account/../../x?y#z');
    });

    it('with a file say where it is', async () => {
      const { media } = await connection.describe('ContentVersion');
      const request = media?.request({ id: '068x' }, connection.context.config);
      expect(request).to.deep.equal({
        path: '/sobjects/ContentVersion/068x/VersionData',
        headers: { accept: '*/*' },
      });
    });
  });

  describe('failures', () => {
    const judged = (status: number, body: unknown) => judge(salesforce, { status, headers: {}, body });
    const error = (errorCode: string, fields: readonly string[] = []) => [{ errorCode, message: 'Words.', fields }];

    for (const [status, errorCode, kind] of [
      [401, 'INVALID_SESSION_ID', 'credentials'],
      [403, 'REQUEST_LIMIT_EXCEEDED', 'rateLimited'],
      [403, 'INSUFFICIENT_ACCESS', 'rejected'],
      [400, 'MALFORMED_QUERY', 'rejected'],
      [400, 'INVALID_FIELD', 'rejected'],
      [400, 'UNABLE_TO_LOCK_ROW', 'unavailable'],
      [404, 'NOT_FOUND', 'notFound'],
      [404, 'ENTITY_IS_DELETED', 'notFound'],
      [409, 'CONFLICT', 'rejected'],
      [500, 'UNKNOWN_EXCEPTION', 'unavailable'],
      [503, 'SERVER_UNAVAILABLE', 'unavailable'],
    ] as const) {
      it(`${status} ${errorCode} is ${kind}`, () => {
        expect(judged(status, error(errorCode))).to.deep.equal({ kind, message: `${errorCode}: Words.` });
      });
    }

    it('name the fields they are about', () => {
      expect(judged(400, error('STRING_TOO_LONG', ['Name', 'Phone']))?.message).to.equal(
        'STRING_TOO_LONG: Words. (Name, Phone)',
      );
    });

    it('without a form of their own are judged by status, and success is none', () => {
      expect(judged(502, '<html>')).to.deep.equal({ kind: 'unavailable' });
      expect(judged(200, { records: [] })).to.equal(undefined);
      expect(judged(204, undefined)).to.equal(undefined);
    });
  });

  describe('addresses', () => {
    const { auth } = salesforce;
    const authorizeUrlOf = (config: Row) => (auth.type === 'oauth2' ? auth.authorizeUrl?.(config) : undefined);

    it('lead to the login of production, of sandboxes, or of the customer', () => {
      expect(authorizeUrlOf({})).to.equal('https://login.salesforce.com/services/oauth2/authorize');
      expect(authorizeUrlOf({ 'salesforce.sandbox': true })).to.equal(
        'https://test.salesforce.com/services/oauth2/authorize',
      );
      expect(authorizeUrlOf({ 'salesforce.sandbox': true, 'site.address': 'Acme.my.salesforce.com' })).to.equal(
        'https://acme.my.salesforce.com/services/oauth2/authorize',
      );
    });

    it('lead to the place that the login told', () => {
      const config = { 'instance.url': 'https://acme--dev.sandbox.my.salesforce.com/', 'api.version': '63.0' };
      expect(salesforce.baseUrl(config)).to.equal('https://acme--dev.sandbox.my.salesforce.com/services/data/v63.0');
    });

    it('of a customer are hosts of Salesforce', () => {
      const pattern = salesforce.configuration.find(({ key }) => key === 'site.address')?.pattern;
      const hosts = ['acme.my.salesforce.com', 'acme--dev.sandbox.my.salesforce.com', 'a-1.develop.my.salesforce.com'];
      expect(hosts.every((host) => pattern?.test(host))).to.equal(true);
      const others = [
        'acme.my.salesforce.com.evil.example',
        'evil.example/acme.my.salesforce.com',
        'my.salesforce.com',
        '-.my.salesforce.com',
      ];
      expect(others.filter((host) => pattern?.test(host))).to.deep.equal([]);
    });
  });

  it('reads the budget of the last 24 hours', () => {
    const read = (text: string) => salesforce.rateLimit?.({ 'sforce-limit-info': text });
    expect(read('api-usage=25/5000')).to.deep.equal({ limit: 5000, remaining: 4975 });
    expect(read('api-usage=5001/5000; per-app-api-usage=17/250(appName=x)')).to.deep.equal({
      limit: 5000,
      remaining: 0,
    });
    expect([read('per-app-api-usage=17/250(appName=x)'), salesforce.rateLimit?.({})]).to.deep.equal([
      undefined,
      undefined,
    ]);
  });
});

const PARTS = ['list', 'get', 'create', 'update', 'remove', 'media', 'describe'] as const;

function operationsOf(object: ObjectSpec | undefined): readonly string[] {
  return PARTS.filter((part) => object?.[part] !== undefined);
}

function toRow(record: unknown): Row {
  return Object(record);
}

/** Returns the decoded target of a request such as `GET /services/data/v62.0/query?q=…`. */
function shown(request: string): string {
  return decodeURIComponent(request.replace('https://acme.my.salesforce.com', ''));
}

function lastOf({ requests }: Connection, index = -1): string {
  return shown(requests.at(index) ?? '');
}

/** Returns the input of a list request with the named fields. */
function listOf(object: ObjectSpec, names: readonly string[], more: Partial<ListInput<unknown>> = {}) {
  const fields = names.map((name) => fieldOf(object, name));
  return { parameters: {}, fields, orderBy: [], limit: 2000, ...more };
}

const childNames = (object?: ObjectSpec) => Object.keys(object?.children ?? {});

/** Returns the object of a child list with its fields. */
async function below({ context, describe: find }: Connection, parent: string, child: string): Promise<ObjectSpec> {
  const outline = (await find(parent)).children?.[child];
  if (outline?.describe === undefined) throw new Error(`Nothing is described below ${parent} as ${child}.`);
  return outline.describe(withoutThreads(context));
}
