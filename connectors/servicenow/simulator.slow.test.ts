import { expect } from 'chai';
import { type ServedSimulator, serveSimulator } from '#connector/testing';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, PASSWORD, USERNAME } from './simulator.ts';

const BASIC = { authorization: `Basic ${btoa(`${USERNAME}:${PASSWORD}`)}`, 'content-type': 'application/json' };

describe('the ServiceNow simulator', () => {
  let simulator: ServedSimulator;

  before(async () => {
    simulator = await serveSimulator('servicenow', createSimulator);
  });
  after(() => simulator.stop());
  beforeEach(() => simulator.reset());

  const call = (path: string, request: RequestInit = {}, at = simulator) =>
    at.call<ResponseBody>(path, { headers: BASIC, ...request });

  async function list(table: string, query: string, more = '', at = simulator): Promise<readonly Row[]> {
    const { body } = await call(`/api/now/table/${table}?sysparm_query=${encodeURIComponent(query)}${more}`, {}, at);
    if (!Array.isArray(body.result)) throw new Error(JSON.stringify(body));
    return body.result;
  }

  async function write(method: string, path: string, values: object) {
    const { status, body } = await call(path, { method, body: JSON.stringify(values) });
    return { status, row: Object(body.result) as Row };
  }

  it('lets in its user by name and by token, and nobody at another instance', async () => {
    const path = '/api/now/table/incident?sysparm_limit=1';
    const bearer = { authorization: `Bearer ${DEMO_ACCESS_TOKEN}` };
    const responses = await Promise.all([
      call(path),
      call(path, { headers: { ...bearer, forwarded: 'host=demo.service-now.com' } }),
      call(path, { headers: { authorization: 'Bearer nope' } }),
      call(path, { headers: { ...bearer, forwarded: 'host=other.service-now.com' } }),
    ]);
    expect(responses.map(({ status }) => status)).to.deep.equal([200, 200, 401, 404]);
    const error = { message: 'User Not Authenticated', detail: 'Required to provide Auth information' };
    expect(responses[2]?.body).to.deep.equal({ error, status: 'failure' });
  });

  it('gives an access token for a code or for a refresh token that stays, and one answer to all that is wrong', async () => {
    const redirect_uri = 'https://app.example/back';
    const login = new URLSearchParams({
      response_type: 'code',
      client_id: 'demo-client',
      redirect_uri,
      auto: 'approve',
    });
    const { headers } = await call(`/oauth_auth.do?${login}`);
    const code = new URL(headers.get('location') ?? '').searchParams.get('code') ?? '';
    const client = { client_id: 'demo-client', client_secret: CLIENTS['demo-client']?.secret ?? '' };
    const ask = (members: Readonly<Record<string, string>>) =>
      call('/oauth_token.do', {
        method: 'POST',
        body: `${new URLSearchParams({ ...client, ...members })}`,
        headers: {},
      });
    const exchange = { grant_type: 'authorization_code', code, redirect_uri };
    const first = (await ask(exchange)).body;
    expect(first).to.include({ scope: 'useraccount', token_type: 'Bearer', expires_in: 1800 });
    const refresh = { grant_type: 'refresh_token', refresh_token: String(first.refresh_token) };
    const second = (await ask(refresh)).body;
    expect(second.refresh_token).to.equal(first.refresh_token);
    const read = () => call('/api/now/table/problem', { headers: { authorization: `Bearer ${second.access_token}` } });
    expect((await read()).status).to.equal(200);
    await simulator.command('/simulate/clock', { byMs: 1_800_000 });
    expect([(await read()).status, (await ask(refresh)).status]).to.deep.equal([401, 200]);
    for (const wrong of [exchange, { ...refresh, client_secret: 'x' }, { grant_type: 'x' }]) {
      const { status, body } = await ask(wrong);
      expect([status, body]).to.deep.equal([401, { error: 'server_error', error_description: 'access_denied' }]);
    }
  });

  it('answers texts and references, as the documents show them', async () => {
    const [plain] = await list('problem', 'ORDERBYnumber', '&sysparm_limit=1');
    const link = `${simulator.url}/api/now/table/sys_user_group/global`;
    expect(plain).to.deep.include({ number: 'PRB0000001', comments: '', sys_domain: { link, value: 'global' } });
    const fields =
      '&sysparm_exclude_reference_link=true&sysparm_fields=sys_domain,sys_domain.name,opened_by.active,nope';
    const [wanted] = await list('problem', 'ORDERBYnumber', fields);
    expect(wanted).to.deep.equal({ sys_domain: 'global', 'sys_domain.name': '', 'opened_by.active': 'false' });
  });

  it('takes a page, then leaves out what the user may not see: only the count tells of the end', async () => {
    const ids: unknown[] = [];
    const sizes: number[] = [];
    for (let offset = 0; offset < 130; offset += 10) {
      const path = `/api/now/table/incident?sysparm_query=ORDERBYsys_id&sysparm_limit=10&sysparm_offset=${offset}`;
      const { body, headers } = await call(path);
      const rows: readonly Row[] = Object(body.result);
      ids.push(...rows.map(({ sys_id }) => sys_id));
      sizes.push(rows.length);
      expect(headers.get('x-total-count')).to.equal('130');
    }
    expect([sizes.length, new Set(ids).size]).to.deep.equal([13, 116]);
    expect(sizes.slice(0, -1)).to.include(9);
  });

  it('gives rows twice where the order does not tell them apart', async () => {
    const [first = [], second = []] = await Promise.all(
      ['0', '60'].map((offset) => list('incident', 'ORDERBYcategory', `&sysparm_limit=60&sysparm_offset=${offset}`)),
    );
    const seen = new Set(first.map(({ sys_id }) => sys_id));
    expect(second.some(({ sys_id }) => seen.has(sys_id))).to.equal(true);
  });

  // The conditions follow «Operators available for filters and queries», «OR conditions» and KB0715430 (fields without a value).
  const CONDITIONS: readonly (readonly [query: string, matches: (row: Row) => boolean])[] = [
    ['active=true^assigned_toISNOTEMPTY', ({ active, assigned_to }) => active === 'true' && assigned_to !== ''],
    ['active=true^priority=1^ORpriority=2', (row) => row.active === 'true' && /^[12]$/.test(row.priority)],
    ['active=true^impact=1^NQactive=false^impact=3', (row) => row.impact === (row.active === 'true' ? '1' : '3')],
    ['category=SOFTWARE', ({ category }) => category.toLowerCase() === 'software'],
    ['subcategory!=email', ({ subcategory }) => subcategory === 'vpn'],
    ['subcategoryNOT INemail,x', ({ subcategory }) => subcategory === 'vpn'],
    ['made_sla!=true', ({ made_sla }) => made_sla !== 'true'],
    ['short_descriptionLIKERiNt', (row) => /rint/i.test(row.short_description)],
    ['short_descriptionNOT LIKEPrinter', (row) => /^(?!.*printer)/is.test(row.short_description || 'printer')],
    ['short_descriptionSTARTSWITHprin^short_descriptionENDSWITHer', (row) => /^prin.*er$/i.test(row.short_description)],
    ['short_descriptionLIKE%^short_description!=100%_sure', (row) => /^(?!100).*%/.test(row.short_description)],
    ['short_description=^^caret$', (row) => row.short_description === '^caret$'],
    ['impact<=2^urgency>=2', ({ impact, urgency }) => impact !== '3' && urgency !== '1'],
    ['reassignment_count>2', (row) => Number(row.reassignment_count) > 2],
    ['opened_at>=2024-02-01 00:00:00^opened_at<2024-03-01', (row) => row.opened_at.startsWith('2024-02')],
    ['closed_at<2024-02-01 00:00:00', (row) => row.closed_at !== '' && row.closed_at < '2024-02'],
    ['caller_idSTARTSWITHabel', (row) => row['caller_id.name'].startsWith('Abel')],
    ['caller_id.name=beth 1^assigned_to=NULL', (row) => `${row['caller_id.name']}${row.assigned_to}` === 'beth 1'],
    // ServiceNow ignores conditions that it does not understand, and returns more rows.
    ['nope=1^ORpriority=1', ({ priority }) => priority === '1'],
    ['priority=abc^nope.name=x^active=false^rubbish^', ({ active }) => active === 'false'],
  ];
  for (const [query, matches] of CONDITIONS) {
    it(`finds what is meant by ${query}`, async () => {
      const plain = '&sysparm_exclude_reference_link=true&sysparm_fields=caller_id.name,';
      const names = 'active,assigned_to,short_description,priority,impact,urgency,category,subcategory,made_sla,number';
      const fields = `${plain}${names},reassignment_count,opened_at,closed_at`;
      const [all, found] = await Promise.all([list('incident', '', fields), list('incident', query, fields)]);
      expect(found).to.deep.equal(all.filter(matches)).and.not.have.length(0);
    });
  }

  it('orders by several fields, and fails loudly on what ServiceNow would run', async () => {
    const found = await list('incident', 'ORDERBYDESCimpact^ORDERBYnope^ORDERBYnumber');
    const keys = found.map(({ impact, number }) => `${9 - Number(impact)}${number}`);
    expect(keys).to.deep.equal(keys.toSorted());
    const { error } = console;
    console.error = () => undefined;
    const response = await call('/api/now/table/incident?sysparm_query=numberINx,javascript:gs.now()');
    console.error = error;
    expect(response.status).to.equal(500);
  });

  it('takes texts as they are written, and % as a wildcard, where it is told to', async () => {
    const options = { text: 'as written', wildcards: 'active' } as const;
    const other = await serveSimulator('servicenow', (given) => createSimulator({ ...given, ...options }));
    const found = [
      await list('incident', 'category=SOFTWARE', '', other),
      await list('incident', 'numberLIKE%9', '', other),
    ];
    await other.stop();
    expect(found.map(({ length }) => length)).to.deep.equal([0, (await list('incident', 'numberLIKE9')).length]);
  });

  it('creates with its defaults, keeps journals elsewhere, and tells what was deleted', async () => {
    const values = {
      short_description: "D'Arcy 李",
      urgency: 2,
      impact: '2',
      nope: 1,
      sys_id: 'mine',
      work_notes: 'n',
    };
    const { status, row } = await write('POST', '/api/now/table/incident', values);
    const path = `/api/now/table/incident/${row.sys_id}`;
    expect(status).to.equal(201);
    expect(row).to.include({
      number: 'INC0010001',
      incident_state: '1',
      active: 'true',
      work_notes: '',
    });
    const journal = await list('sys_journal_field', `element_id=${row.sys_id}`, '&sysparm_fields=element,value,name');
    expect(journal).to.deep.equal([{ element: 'work_notes', value: 'n', name: 'incident' }]);
    const changed = (await write('PATCH', path, { state: '7', short_description: 'x'.repeat(161), due_date: 'never' }))
      .row;
    expect(changed).to.include({
      sys_mod_count: '1',
      due_date: '',
      short_description: 'x'.repeat(160),
    });
    expect((await call(path, { method: 'DELETE' })).status).to.equal(204);
    expect((await call(path)).status).to.equal(404);
    const gone = await list('sys_audit_delete', `documentkey=${row.sys_id}`, '&sysparm_fields=tablename,display_value');
    expect(gone).to.deep.equal([{ tablename: 'incident', display_value: 'INC0010001' }]);
  });

  it('describes tables by what they extend, and columns where they are declared', async () => {
    const [incident] = await list('sys_db_object', 'name=incident', '&sysparm_fields=label,super_class.name');
    expect(incident).to.deep.equal({ label: 'Incident', 'super_class.name': 'task' });
    const [caller] = await list('sys_dictionary', 'name=incident^element=caller_id');
    expect(caller).to.deep.include({
      internal_type: { link: `${simulator.url}/api/now/table/sys_glide_object?name=reference`, value: 'reference' },
      reference: { link: `${simulator.url}/api/now/table/sys_db_object?name=sys_user`, value: 'sys_user' },
      ...{ mandatory: 'true', read_only: 'false', max_length: '32' },
    });
    expect(await list('sys_dictionary', 'name=incident^element=number')).to.have.length(0);
  });

  it('takes files as they are, and gives them back', async () => {
    const [incident] = await list('incident', 'ORDERBYsys_id');
    const context = `table_name=incident&table_sys_id=${incident?.sys_id}&file_name=${encodeURIComponent('ä 日.bin')}`;
    const body = Uint8Array.of(0, 255, 13, 10);
    const upload = { method: 'POST', body, headers: { ...BASIC, 'content-type': 'image/jpeg' } };
    const sent = Object((await call(`/api/now/attachment/file?${context}`, upload)).body.result) as Row;
    expect(sent).to.include({ file_name: 'ä 日.bin', size_bytes: '4', content_type: 'image/jpeg' });
    const file = await fetch(`${simulator.url}/api/now/attachment/${sent.sys_id}/file`, { headers: BASIC });
    expect(new Uint8Array(await file.arrayBuffer())).to.deep.equal(body);
    expect(await list('sys_attachment', `table_sys_id=${incident?.sys_id}`)).to.deep.include(sent);
    expect((await call('/api/now/attachment/file?file_name=x', upload)).status).to.equal(400);
  });

  const REFUSED: readonly (readonly [status: number, message: string, method: string, path: string, body?: string])[] =
    [
      [400, 'Invalid table nope', 'GET', 'now/table/nope'],
      [404, 'No Record found', 'PATCH', 'now/table/problem/0123', '{}'],
      [405, 'Method not supported', 'DELETE', 'now/table/incident'],
      [400, 'Requested URI does not represent any resource', 'GET', 'now/tables'],
      [400, 'Exception while reading request', 'POST', 'now/table/incident', '{'],
    ];
  for (const [status, message, method, path, body] of REFUSED) {
    it(`says ${status} ${message} to ${method} ${path}`, async () => {
      const response = await call(`/api/${path}`, { method, ...(body && { body }) });
      expect([response.status, response.body.status]).to.deep.equal([status, 'failure']);
      expect(response.body.error).to.include({ message });
    });
  }

  it('says how many calls an hour has, and how long to wait', async () => {
    const other = await serveSimulator('servicenow', (given) => createSimulator({ ...given, callsPerHour: 1 }));
    const first = await call('/api/now/table/time_card', {}, other);
    const second = await call('/api/now/table/task', {}, other);
    await other.stop();
    expect([first.headers.get('x-ratelimit-limit'), second.status]).to.deep.equal(['1', 429]);
    expect(Number(second.headers.get('retry-after'))).to.be.within(3590, 3600);
    expect(Number(second.headers.get('x-ratelimit-reset'))).to.be.above(Date.now() / 1000 + 3590);
    const error = {
      message: 'Rate limit exceeded',
      detail: 'Rate limit per hour for Table API exceeded',
    };
    expect(second.body).to.deep.equal({ error, status: 'failure' });
  });

  it('changes records as others do, and tells of deletions in the class that they were of', async () => {
    const counts = { table: 'cmdb_ci', create: 1, update: 1, remove: 1 };
    const { created, updated, removed } = (await simulator.command('/simulate/changes', counts)) as Changes;
    const today = new Date(Date.now() - 60_000).toISOString().slice(0, 10);
    const changed = await list('cmdb_ci', `sys_updated_on>=${today} 00:00:00^ORDERBYsys_id`);
    expect(changed.map(({ sys_id }) => sys_id)).to.deep.equal([...created, ...updated].toSorted());
    const [gone] = await list('sys_audit_delete', `documentkey=${removed[0]}`);
    expect(gone?.tablename).to.equal('cmdb_ci_server');
  });
});

/** A response body. Its type is not checked, because the tests compare every member that they read. */
type ResponseBody = Readonly<Record<string, unknown>>;
type Changes = Readonly<Record<'created' | 'updated' | 'removed', readonly string[]>>;
type Row = Readonly<
  Record<
    | ('sys_id' | 'number' | 'active' | 'assigned_to' | 'short_description' | 'priority' | 'impact' | 'urgency')
    | ('category' | 'subcategory' | 'made_sla' | 'reassignment_count' | 'opened_at' | 'closed_at' | 'caller_id.name')
    | 'tablename',
    string
  >
>;
