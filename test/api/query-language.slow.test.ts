import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { LIMITS } from '../../src/where/parse.ts';
import { pluck, type TestApp, useSharedApp } from '../support/app.ts';
import { codeBlocks } from '../support/code-blocks.ts';

const CONFIGURATION = { username: 'demo-key', 'company.name': 'acme', simulator: true };

async function explain(service: TestApp, token: string, body: object) {
  return service.send('POST', '/query/explain', body, { token });
}

describe('POST /query/explain', () => {
  const service = useSharedApp();
  let token = '';

  before(async () => {
    ({ token } = await service.createInstance('bamboohr', CONFIGURATION));
  });

  it('says of each predicate who answers it and why, and shows the request', async () => {
    const where = "status = 'Active' and (lastName like 'O%' or not hireDate < 2024-01-01) and id > 5";
    const { status, body, headers } = await explain(service, token, { objectName: 'employees', where, fields: 'id' });
    expect(status).to.equal(200);
    expect(headers.get('elements-element-instance-id')).to.match(/^\d+$/);
    expect(body).to.include({
      objectName: 'employees',
      parsed: "status = 'Active' AND (lastName LIKE 'O%' OR hireDate >= 2024-01-01) AND id > 5",
      pushed: "status = 'Active' AND id > 5",
      residual: "lastName LIKE 'O%' OR hireDate >= 2024-01-01",
      pushdown: 'partial',
      estimatedProviderCalls: 1,
    });
    const why = "the provider has no LIKE for 'lastName'";
    expect(body.predicates).to.deep.equal([
      { predicate: "status = 'Active'", position: 0, length: 17, exactness: 'exact', pushed: true },
      { predicate: "lastName LIKE 'O%'", position: 23, length: 18, exactness: 'none', pushed: false, reason: why },
      {
        predicate: 'hireDate >= 2024-01-01',
        position: 49,
        length: 21,
        exactness: 'exact',
        pushed: false,
        reason: `it is part of an OR that cannot be pushed: ${why}`,
      },
      { predicate: 'id > 5', position: 76, length: 6, exactness: 'exact', pushed: true },
    ]);
    expect(body.limit).to.deep.equal({
      providerPageSize: 1000,
      pushed: false,
      reason: 'rows are checked again in the service',
    });
    expect(body.request).to.include({
      method: 'POST',
      url: 'https://acme.bamboohr.com/api/v2/datasets/employee/data',
    });
    expect(JSON.parse(body.request.body)).to.include({ filter: "status eq 'Active' and eeid gt 5" });
  });

  it('passes page size and order on when the provider answers all of it', async () => {
    const query = { objectName: 'employees', where: "status = 'Active'", orderBy: 'hireDate desc' };
    const { body } = await explain(service, token, query);
    expect(body).to.deep.include({
      pushdown: 'full',
      sort: { orderBy: 'hireDate desc', pushed: true },
      limit: { providerPageSize: 200, pushed: true },
    });
    expect(body).not.to.have.property('residual');
  });

  it('says when the rows are sorted here', async () => {
    const { body } = await explain(service, token, { objectName: 'employees', orderBy: 'payRate' });
    expect(body.sort).to.deep.equal({ orderBy: 'payRate asc', pushed: false });
    expect(body.limit.reason).to.equal('rows are sorted in the service');
    expect(body).not.to.have.property('parsed');
  });

  it('says when what the fields can hold decides the filter, which is then answered without the provider', async () => {
    const never = await explain(service, token, { objectName: 'employees', where: "id > 5 AND status = 'retired'" });
    expect(never.status).to.equal(200);
    expect(never.body).to.include({ holds: 'never', pushdown: 'full', estimatedProviderCalls: 0 });
    expect(never.body).not.to.have.any.keys('request', 'pushed', 'residual');
    expect(never.body.predicates[1]).to.deep.equal({
      predicate: "status = 'retired'",
      position: 11,
      length: 18,
      exactness: 'exact',
      pushed: false,
      holds: 'never',
      reason: 'no value of the field can match it',
    });
    const where = "id > 5 AND status = 'retired'";
    const response = await service.call('/employees', { token, query: { where } });
    expect([response.status, response.body]).to.deep.equal([200, []]);
    expect(response.headers.get('elements-provider-calls')).to.equal('0');
    const always = await explain(service, token, { objectName: 'employees', where: "status != 'retired'" });
    expect(always.body).to.include({ holds: 'always', pushdown: 'full', estimatedProviderCalls: 1 });
    expect(JSON.parse(always.body.request.body)).not.to.have.property('filter');
  });

  it('agrees with the query itself on the pushdown', async () => {
    for (const where of ["status = 'Active'", "lastName = 'Smith'", "lastName like '%a%'", 'payRate > 1 and id > 1']) {
      const { body } = await explain(service, token, { objectName: 'employees', where });
      const response = await service.call('/employees', { token, query: { where, pageSize: 1 } });
      expect(response.headers.get('elements-query-pushdown'), where).to.equal(body.pushdown);
    }
  });

  it('answers for a disabled instance', async () => {
    const instance = await service.createInstance('bamboohr', CONFIGURATION);
    await service.send('DELETE', `/instances/${instance.id}/enabled`);
    const { status } = await explain(service, instance.token, { objectName: 'employees', where: 'id = 1' });
    expect(status).to.equal(200);
  });

  it('refuses what the query would refuse, and what it does not know', async () => {
    const cases = [
      [{ objectName: 'employees', where: 'hireDat > 2024-01-01' }, 'WHERE_INVALID'],
      [{ objectName: 'employees', where: 'id = = 1' }, 'WHERE_SYNTAX'],
      [{ objectName: 'employes' }, 'NOT_FOUND'],
      [{ objectName: 'employees', pageSize: 5 }, 'REQUEST_INVALID'],
      [{}, 'REQUEST_INVALID'],
    ] as const;
    for (const [query, code] of cases) {
      expect((await explain(service, token, query)).body.code, JSON.stringify(query)).to.equal(code);
    }
  });

  it('shows no secret', async () => {
    const { body } = await explain(service, token, { objectName: 'employees', where: "lastName = 'demo-key'" });
    expect(JSON.stringify(body.request)).not.to.include('demo-key');
  });
});

describe('the filter of GET /instances', () => {
  const service = useSharedApp();

  before(async () => {
    for (const name of ["O'Neil 100%", 'Payroll', 'payroll'])
      await service.createInstance('bamboohr', CONFIGURATION, { name });
    await service.createInstance(
      'odata',
      { 'base.url': 'https://demo.example.com/odata/v4/shop', simulator: true },
      { name: 'Shop' },
    );
  });

  async function names(where: string): Promise<string[]> {
    const body = await service.get('/instances', { query: { where } });
    return pluck(body, 'name');
  }

  it('is the query language, answered by the database', async () => {
    expect(await names("element.key = 'odata'")).to.deep.equal(['Shop']);
    expect(await names("name LIKE '%\\%' OR name IN ('Payroll', 'x')")).to.deep.equal(["O'Neil 100%", 'Payroll']);
    expect(await names("NOT (element.key != 'bamboohr' OR name = 'O''Neil 100%')")).to.deep.equal([
      'Payroll',
      'payroll',
    ]);
    expect(await names('createdDate > 2020-01-01 AND valid = TRUE AND disabled = FALSE AND id >= 1')).to.have.length(4);
    expect(await names('createdDate < 2020-01-01 OR user.id IS NULL')).to.deep.equal([]);
  });

  it('goes along with tags, search and paging', async () => {
    const where = "element.key = 'bamboohr'";
    const first = await service.call('/instances', { query: { where, searchText: 'PAY', pageSize: 1 } });
    expect(pluck(first.body, 'name')).to.deep.equal(['Payroll']);
    const nextPage = first.headers.get('elements-next-page-token') ?? '';
    const second = await service.call('/instances', { query: { where, searchText: 'PAY', pageSize: 1, nextPage } });
    expect(pluck(second.body, 'name')).to.deep.equal(['payroll']);
    expect(second.headers.get('elements-next-page-token')).to.equal(null);
    const other = await service.call('/instances', { query: { where: 'id > 0', searchText: 'PAY', nextPage } });
    expect(other.body.code).to.equal('REQUEST_INVALID');
  });

  it('says what is wrong with a filter', async () => {
    const { status, body } = await service.call('/instances', { query: { where: "nam = 'x' and id = 'a'" } });
    expect(status).to.equal(400);
    expect(body.code).to.equal('WHERE_INVALID');
    expect(pluck(body.details, 'message')).to.deep.equal([
      "Unknown field 'nam'. Did you mean 'name'?",
      "'id' is of type integer: expected a whole number, such as 12.",
    ]);
  });
});

describe('GET /docs/where', () => {
  const service = useSharedApp();

  it('is a page on the language and on what each provider answers, under a strict policy', async () => {
    const response = await fetch(`${service.app.url}/docs/where`);
    const html = await response.text();
    expect(response.headers.get('content-security-policy')).to.match(/^default-src 'none'/);
    expect(html)
      .to.include('<h1 id="the-query-language">The query language</h1>')
      .and.include('<h2 id="filters-that-each-provider-evaluates">')
      .and.include('href="/docs/elements/odata#filters-that-odata-evaluates"');
  });
});

describe('docs/reference/where.md', () => {
  const service = useSharedApp();
  const text = readFileSync(join(import.meta.dirname, '../../docs/reference/where.md'), 'utf8');
  let token = '';

  before(async () => {
    ({ token } = await service.createInstance('bamboohr', CONFIGURATION));
  });

  it('shows operators with examples that filters can have', async () => {
    const rows = [...section('## Operators').matchAll(/^\| `.*` \| `(.*)` \|/gm)].map(([, where = '']) => where);
    expect(rows).to.have.length(15);
    for (const where of rows) {
      const { status, body } = await explain(service, token, { objectName: 'employees', where });
      expect(status, `${where}: ${body.message}`).to.equal(200);
    }
  });

  it('has the limits of the parser', () => {
    const limits = section('## Limits');
    for (const limit of [
      `Text of a filter | ${LIMITS.textBytes / 1024} KB`,
      `Conditions | ${LIMITS.predicates}`,
      `Values of an \`IN\` | ${LIMITS.inMembers.toLocaleString('en')}`,
      `Levels of nesting | ${LIMITS.nesting}`,
      `Fields of an order | ${LIMITS.orderFields}`,
    ])
      expect(limits).to.include(`| ${limit} |`);
  });

  it('shows the messages of common mistakes', async () => {
    const rows = [...section('Common mistakes').matchAll(/^\| `(.*)` \| (.*) \|$/gm)];
    expect(rows).to.have.length(15);
    for (const [, where, message] of rows) {
      const { body } = await explain(service, token, { objectName: 'employees', where });
      expect(body.details[0].message).to.equal(message);
    }
  });

  function section(start: string): string {
    const from = text.slice(text.indexOf(start));
    return from.split('\n## ').slice(0, 1).join('');
  }
});

describe('docs/explanation/where.md', () => {
  const service = useSharedApp();
  const text = readFileSync(join(import.meta.dirname, '../../docs/explanation/where.md'), 'utf8');
  const [strong, weak] = codeBlocks(text).flatMap(({ language, code }) =>
    language === 'json' ? [JSON.parse(code) as { readonly objectName: string; readonly parsed: string }] : [],
  );
  const tokens = { incident: '', issues: '' };

  before(async () => {
    const serviceNow = { 'company.name': 'demo', username: 'admin', password: 'demo-password', simulator: true };
    tokens.incident = (await service.createInstance('servicenow', serviceNow)).token;
    const redmine = {
      url: 'https://redmine.example.com/pm',
      'api.key': '0123456789abcdef0123456789abcdef01234567',
      simulator: true,
    };
    tokens.issues = (await service.createInstance('redmine', redmine)).token;
  });

  it('shows what explain says of a strong and a weak provider', async () => {
    for (const [shown, token] of [
      [strong, tokens.incident],
      [weak, tokens.issues],
    ] as const) {
      const { objectName, parsed } = shown ?? {};
      const { body } = await explain(service, token, { objectName, where: parsed });
      expect(body).to.deep.include(shown);
    }
  });

  it('says how many rows the weak provider returns, how many of them match, and that the strong one can answer alone', async () => {
    const ofState = await service.call('/issues', { token: tokens.issues, query: { where: 'status_id = 2' } });
    expect(ofState.headers.get('elements-query-pushdown')).to.equal('full');
    const matching = await service.call('/issues', { token: tokens.issues, query: { where: weak?.parsed } });
    expect(matching.body).to.have.length(2);
    expect(text).to.include(`returns ${ofState.body.length} issues for that, and two of them pass the residual`);
    const exact = await service.call('/incident', {
      token: tokens.incident,
      query: { where: 'state = 2 AND priority = 1' },
    });
    expect(exact.headers.get('elements-query-pushdown')).to.equal('full');
  });

  it('says that the weak provider cannot answer alone', async () => {
    const headers = { 'elements-query-mode': 'pushdown-only' };
    const { body } = await service.call('/issues', { token: tokens.issues, query: { where: weak?.parsed }, headers });
    expect(body.code).to.equal('WHERE_UNSUPPORTED');
    expect(body.details).to.have.length(2);
  });
});
