import { expect } from 'chai';
import type { ChangesPage, ListPage, ObjectSpec } from '#connector';
import { failureOf, judge, listedFields, type Provider, startProvider } from '#connector/testing';
import { prepareQuery } from '../../src/where/index.ts';
import servicenow from './index.ts';
import { createSimulator, DEMO_CONFIGURATION } from './simulator.ts';

describe('ServiceNow', () => {
  let provider: Provider;
  let incident: ObjectSpec;

  before(async () => {
    provider = await startProvider(servicenow, createSimulator, DEMO_CONFIGURATION);
    incident = await provider.connect().describe('incident');
  });
  after(() => provider.stop());

  /** Returns the queries of the requests to ServiceNow in their order. */
  const asked = (where: string) => (prepareQuery({ where }, incident).plan.queries ?? []).map(({ native }) => native);

  const queryOf = (request: string) => new URL(request.slice(4)).searchParams;

  describe('discovery', () => {
    it('asks three times for all tables, and once for each that is used', async () => {
      const connection = provider.connect();
      const { fields } = await connection.describe('cmdb_ci_server');
      const paths = connection.requests.map((request) => new URL(request.slice(4)).pathname.split('/').at(-1));
      expect(paths.sort()).to.deep.equal(['sys_audit_delete', 'sys_db_object', 'sys_dictionary', 'sys_dictionary']);
      // The table's own fields, and those of the table that it extends.
      expect(fields).to.include.keys('ram', 'ip_address');
    });

    it('reads of a column what it takes', () => {
      const { fields } = incident;
      expect(fields.caller_id).to.deep.include({ type: 'string', nativeType: 'reference', required: true });
      expect([fields.caller_id?.sortable, fields.state?.sortable, fields.opened_at?.sortable]).to.deep.equal([
        false,
        false,
        true,
      ]);
      for (const name of ['sys_id', 'sys_updated_on', 'comments_and_work_notes']) {
        expect([fields[name]?.createable, fields[name]?.updateable], name).to.deep.equal([false, false]);
      }
    });

    it('knows what is below a record, and what deletions it is told of', async () => {
      const { objects } = await provider.connect().discover();
      expect(Object.keys(objects.incident?.children ?? {})).to.include.members(['attachments', 'comments']);
      expect(objects.sys_user?.children).to.include.keys('incident', 'sys_user_group', 'attachments');
      expect(objects.sys_dictionary?.create).to.equal(undefined);
      expect(objects.sys_attachment?.fields.table_name).to.include({ createable: true, required: true });
    });
  });

  describe('filters', () => {
    it('are ANDs of ORs, and ask for values where there is a negation', () => {
      expect(asked('state = 1 OR (state = 2 AND priority > 3)')).to.deep.equal([
        'state=1^ORstate=2^state=1^ORpriority>3',
      ]);
      expect(asked('NOT (state = 2)')).to.deep.equal(['stateISNOTEMPTY^state!=2']);
      expect(asked("opened_at >= '2026-01-31T10:00:00+02:00'")).to.deep.equal(['opened_at>=2026-01-31 08:00:00']);
      expect(asked('active = TRUE')).to.deep.equal(['active=true']);
    });

    it('do not tell cases apart, so "is not" asks for every text', () => {
      expect(asked("number != 'INC1'")).to.deep.equal(['numberISNOTEMPTY']);
      expect(asked("number NOT LIKE 'INC%'")).to.deep.equal(['numberISNOTEMPTY']);
      expect(asked("caller_id != 'x'")).to.deep.equal(['caller_idISNOTEMPTY']);
      const id = '0123456789abcdef0123456789abcdef';
      expect(asked(`caller_id != '${id}'`)).to.deep.equal([`caller_idISNOTEMPTY^caller_id!=${id}`]);
    });

    it('say where a text begins, ends or has a part', () => {
      expect(asked("number LIKE 'INC%'")).to.deep.equal(['numberSTARTSWITHINC']);
      expect(asked("number LIKE '%INC'")).to.deep.equal(['numberENDSWITHINC']);
      expect(asked("number LIKE '%INC%'")).to.deep.equal(['numberLIKEINC']);
    });

    it('let no text become syntax', () => {
      expect(asked("number = 'x^NQactive=true'")).to.deep.equal(['number=x^^NQactive=true']);
      expect(asked("number LIKE '%a^ORb%'")).to.deep.equal(['numberLIKEa^^ORb']);
      expect(asked("number IN ('a', 'b^c')")).to.deep.equal(['numberINa,b^^c']);
      expect(asked("number IN ('a', 'b,c') AND state = 1")).to.deep.equal(['number=a^ORnumber=b,c^state=1']);
      expect(asked("number LIKE ' a%' AND number LIKE '% %'")).to.deep.equal(['numberLIKEa^numberISNOTEMPTY']);
      expect(asked("number LIKE '100%_sure%'")).to.deep.equal(['numberLIKEsure']);
    });

    it('never have ServiceNow run anything', () => {
      for (const where of [
        "number = 'javascript:gs.getUserID()'",
        "number IN ('a', ' JavaScript :x')",
        "number IN ('a', 'b,javascript:x')",
        "number LIKE 'javascript:%'",
        "number LIKE '%@javascript:x'",
        "caller_id = 'javascript:x'",
      ]) {
        expect(asked(where).join(), where).not.to.match(/javascript\s*:/i);
      }
    });

    it('are no longer than an address', () => {
      const ids = Array.from({ length: 400 }, (_, index) => `'${index.toString(16).padStart(32, '0')}'`);
      const queries = asked(`caller_id IN (${ids.join(',')})`);
      expect(queries.length).to.be.greaterThan(2);
      for (const query of queries) expect(encodeURIComponent(String(query)).length).to.be.at.most(4500);
    });
  });

  describe('lists', () => {
    it('go on behind a page that has fewer rows, or none, for the user may not see them', async () => {
      const connection = provider.connect();
      let cursor: string | undefined;
      const sizes: number[] = [];
      do {
        const input = { limit: 2, ...(cursor !== undefined && { cursor }) };
        const page: ListPage = await connection.list(incident, input);
        sizes.push(page.records.length);
        expect(page.total).to.equal(undefined);
        cursor = page.next;
      } while (cursor !== undefined);
      expect(sizes.slice(0, -1).some((size) => size < 2)).to.equal(true);
      expect(sizes.reduce((sum, size) => sum + size)).to.equal((await connection.list(incident)).records.length);
    });

    it('name the wanted fields, and end their order with the id', async () => {
      const connection = provider.connect();
      const fields = listedFields(incident).filter(({ name }) => ['number', 'opened_at'].includes(name));
      const orderBy = fields.map((field) => ({ field, direction: 'desc' as const }));
      await connection.list(incident, { fields, orderBy, filter: 'active=true' });
      const query = queryOf(connection.requests[0] ?? '');
      expect(query.get('sysparm_fields')).to.equal('opened_at,number');
      expect(query.get('sysparm_query')).to.equal('active=true^ORDERBYDESCopened_at^ORDERBYDESCnumber^ORDERBYsys_id');
    });

    it('below a record take an id, and no query', async () => {
      const { objects } = await provider.connect().discover();
      const connection = provider.connect();
      const below = objects.incident?.children?.comments;
      if (below === undefined) throw new Error('There are no comments.');
      await connection.list(below, { parentId: 'abc', filter: 'element=comments' });
      expect(queryOf(connection.requests[0] ?? '').get('sysparm_query')).to.equal(
        'element_id=abc^element=comments^ORDERBYsys_id',
      );
      const failure = await failureOf(connection.list(below, { parentId: 'x^NQactive=true' }));
      expect([failure.code, connection.requests.length]).to.deep.equal(['NOT_FOUND', 1]);
    });
  });

  it('tells of deletions in all tables that extend one', async () => {
    const connection = provider.connect();
    const since = '2026-01-31T10:00:00.000Z';
    const task = await connection.describe('task');
    const requests = connection.requests.length;
    const page: ChangesPage = await connection.run(task.changes?.feed, { since });
    const query = queryOf(connection.requests[requests] ?? '').get('sysparm_query');
    expect(query).to.match(
      /^tablenameIN[\w,]+\^sys_created_on>=2026-01-31 10:00:00\^ORDERBYsys_created_on\^ORDERBYsys_id$/,
    );
    expect(query?.split('^')[0]?.slice(11).split(',')).to.have.members([
      'task',
      'incident',
      'problem',
      'change_request',
    ]);
    expect([page.changes, typeof page.until]).to.deep.equal([[], 'string']);
  });

  it('takes rows that an error follows for no list', () => {
    const error = { message: 'Transaction cancelled: maximum execution time exceeded', detail: null };
    const judged = judge(servicenow, { status: 200, headers: {}, body: { result: [{}], error, status: 'failure' } });
    expect(judged).to.deep.equal({ kind: 'unavailable', message: error.message });
    expect(judge(servicenow, { status: 200, headers: {}, body: { result: [] } })).to.equal(undefined);
  });

  it('goes to one instance and nowhere else', () => {
    const { baseUrl, hosts, configuration } = servicenow;
    const addressesOf = (name: string) => {
      const config = { 'company.name': name };
      return [baseUrl(config), typeof hosts === 'function' && hosts(config)];
    };
    for (const name of ['Acme', 'acme.service-now.com']) {
      expect(addressesOf(name)).to.deep.equal(['https://acme.service-now.com/api/now', ['acme.service-now.com']]);
    }
    const government = 'acme.servicenowservices.com';
    expect(addressesOf(government)).to.deep.equal([`https://${government}/api/now`, [government]]);
    for (const name of [
      'evil.example',
      'a.b.service-now.com',
      'service-now.com',
      'acme.service-now.com.evil.example',
    ]) {
      expect(addressesOf(name)[1], name).to.deep.equal([]);
    }
    const pattern = configuration.find(({ key }) => key === 'company.name')?.pattern;
    const others = ['evil.example/acme', 'acme@evil', 'acme.evil.example:443', '.', 'a..b', ''];
    expect(others.filter((name) => pattern?.test(name))).to.deep.equal([]);
  });
});
