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

  async function call(path: string, { method = 'GET', body, headers = BASIC }: CallOptions = {}): Promise<Called> {
    const sent = { method, headers, redirect: 'manual', ...(body !== undefined && { body }) } as const;
    const response = await fetch(simulator.url + path, sent);
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text.startsWith('{') ? JSON.parse(text) : {} };
  }
  const send = (method: string, path: string, body: object) => call(path, { method, body: JSON.stringify(body) });
  const rows = async (table: string, query: string, more = '') =>
    (await call(`/api/now/table/${table}?sysparm_query=${encodeURIComponent(query)}${more}`)).body.result;

  it('lets in its user by name and by token, and nobody at another instance', async () => {
    const path = '/api/now/table/incident?sysparm_limit=1';
    const bearer = { authorization: `Bearer ${DEMO_ACCESS_TOKEN}` };
    const answers = await Promise.all([
      call(path),
      call(path, { headers: bearer }),
      call(path, { headers: { ...bearer, forwarded: 'host=demo.service-now.com' } }),
      call(path, { headers: { authorization: 'Bearer nope' } }),
      call(path, { headers: { ...bearer, forwarded: 'host=other.service-now.com' } }),
    ]);
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 401, 404]);
    const detail = 'Required to provide Auth information';
    expect(answers[3]?.body).to.deep.equal({ error: { message: 'User Not Authenticated', detail }, status: 'failure' });
  });

  it('gives tokens for a code, an access token for a refresh token that stays, and one answer to all that is wrong', async () => {
    const back = encodeURIComponent('https://app.example/back');
    const login = await call(
      `/oauth_auth.do?response_type=code&client_id=demo-client&redirect_uri=${back}&state=s&auto=approve`,
    );
    const code = new URL(login.headers.get('location') ?? '').searchParams.get('code') ?? '';
    const client = { client_id: 'demo-client', client_secret: CLIENTS['demo-client']?.secret ?? '' };
    const ask = (members: Readonly<Record<string, string>>) =>
      call('/oauth_token.do', {
        method: 'POST',
        body: new URLSearchParams({ ...client, ...members }).toString(),
        headers: {},
      });
    const exchange = { grant_type: 'authorization_code', code, redirect_uri: 'https://app.example/back' };
    const first = (await ask(exchange)).body;
    expect(first).to.include({ scope: 'useraccount', token_type: 'Bearer', expires_in: 1800 });
    const refresh = { grant_type: 'refresh_token', refresh_token: first.refresh_token };
    const second = (await ask(refresh)).body;
    expect(second.refresh_token).to.equal(first.refresh_token);
    const authorization = `Bearer ${second.access_token}`;
    expect((await call('/api/now/table/problem', { headers: { authorization } })).status).to.equal(200);
    await simulator.command('/simulate/clock', { byMs: 1_800_000 });
    expect((await call('/api/now/table/problem', { headers: { authorization } })).status).to.equal(401);
    expect((await ask(refresh)).status).to.equal(200);
    const denied = await Promise.all([
      ask(exchange),
      ask({ ...refresh, client_secret: 'x' }),
      ask({ grant_type: 'x' }),
    ]);
    for (const { status, body } of denied) {
      expect([status, body]).to.deep.equal([401, { error: 'server_error', error_description: 'access_denied' }]);
    }
  });

  it('answers texts and references, as the documents show them', async () => {
    const [plain] = await rows('problem', 'ORDERBYnumber', '&sysparm_limit=1');
    const link = `${simulator.url}/api/now/table/sys_user_group/global`;
    expect(plain).to.deep.include({ number: 'PRB0000001', comments: '', sys_domain: { link, value: 'global' } });
    const fields =
      '&sysparm_limit=1&sysparm_fields=priority,sys_domain,opened_by.user_name,nope&sysparm_display_value=';
    const show = async (mode: string) => (await rows('problem', 'ORDERBYnumber', fields + mode))[0];
    const user = (await show('true'))['opened_by.user_name'];
    expect([await show('true'), await show('all&sysparm_exclude_reference_link=true')]).to.deep.equal([
      { priority: '1 - Critical', sys_domain: { display_value: 'global', link }, 'opened_by.user_name': user },
      {
        priority: { display_value: '1 - Critical', value: '1' },
        sys_domain: { display_value: 'global', value: 'global' },
        'opened_by.user_name': { display_value: user, value: user },
      },
    ]);
  });

  it('takes a page, then leaves out what the user may not see: only the links and the count tell of the end', async () => {
    const path = '/api/now/table/incident?sysparm_query=ORDERBYsys_id&sysparm_fields=sys_id&sysparm_limit=10';
    const ids = new Set<unknown>();
    const sizes: number[] = [];
    for (let next: string | undefined = path; next !== undefined; ) {
      const { body, headers } = await call(next);
      for (const { sys_id } of body.result) ids.add(sys_id);
      sizes.push(body.result.length);
      expect(headers.get('x-total-count')).to.equal('130');
      next = /<([^>]*)>;rel="next"/.exec(headers.get('link') ?? '')?.[1]?.slice(simulator.url.length);
    }
    expect([sizes.length, ids.size]).to.deep.equal([13, 116]);
    expect(sizes.slice(0, -1)).to.include(9);
    const all = (await call('/api/now/table/incident?sysparm_suppress_pagination_header=true&sysparm_limit=5')).headers;
    expect(all.get('link')).to.equal(null);
    const [first, second] = await Promise.all(
      ['0', '60'].map((offset) => rows('incident', 'ORDERBYcategory', `&sysparm_limit=60&sysparm_offset=${offset}`)),
    );
    const seen = new Set(first?.map(({ sys_id }) => sys_id));
    expect(second?.some(({ sys_id }) => seen.has(sys_id))).to.equal(true);
  });

  const LIKE_EMAIL = /email/i;
  // In the manner of «Operators available for filters and queries», «OR conditions» and KB0715430 (fields without a value).
  const CONDITIONS: readonly (readonly [query: string, matches: (row: Row) => boolean])[] = [
    ['active=true^assigned_toISNOTEMPTY', ({ active, assigned_to }) => active === 'true' && assigned_to !== ''],
    ['short_descriptionISEMPTY^ORdescriptionISEMPTY', (row) => row.short_description === '' || row.description === ''],
    ['active=true^priority=1^ORpriority=2', (row) => row.active === 'true' && /^[12]$/.test(row.priority)],
    ['active=true^impact=1^NQactive=false^impact=3', (row) => row.impact === (row.active === 'true' ? '1' : '3')],
    ['category=SOFTWARE', ({ category }) => category.toLowerCase() === 'software'],
    ['subcategory!=email', ({ subcategory }) => subcategory === 'vpn'],
    ['subcategoryNOT INemail,x', ({ subcategory }) => subcategory === 'vpn'],
    ['made_sla!=true', ({ made_sla }) => made_sla !== 'true'],
    ['short_descriptionLIKEEMAIL', (row) => LIKE_EMAIL.test(row.short_description)],
    [
      'short_descriptionNOT LIKEemail',
      (row) => row.short_description !== '' && !LIKE_EMAIL.test(row.short_description),
    ],
    [
      'short_descriptionSTARTSWITHunable^short_descriptionENDSWITH3',
      (row) => /^unable.*3$/i.test(row.short_description),
    ],
    ['short_descriptionLIKE%', (row) => row.short_description.includes('%')],
    ['short_description=^^caret$', (row) => row.short_description === '^caret$'],
    ['impactBETWEEN1@2^urgency>=2', ({ impact, urgency }) => impact !== '3' && urgency !== '1'],
    ['impactSAMEASurgency', ({ impact, urgency }) => impact === urgency],
    ['reassignment_count>2', (row) => Number(row.reassignment_count) > 2],
    ['opened_at>=2025-03-01 00:00:00^opened_at<2025-04-01', (row) => row.opened_at.startsWith('2025-03')],
    ['closed_atISNOTEMPTY^closed_at<2025-04-01 00:00:00', (row) => row.closed_at !== '' && row.closed_at < '2025-04'],
    ['caller_idSTARTSWITHabel', (row) => row['caller_id.name'].startsWith('Abel')],
    ['caller_id.name=beth 1', (row) => row['caller_id.name'].toLowerCase() === 'beth 1'],
    ['assigned_to=NULL', ({ assigned_to }) => assigned_to === ''],
    // What cannot be understood is left out: more is found than was meant.
    ['nope=1^ORpriority=1', ({ priority }) => priority === '1'],
    ['priority=abc^nope.name=x^active=false^rubbish^', ({ active }) => active === 'false'],
    ['short_description=x^NQactiveANYTHING', () => true],
  ];
  const PLAIN = `&sysparm_exclude_reference_link=true&sysparm_fields=${[
    ...[
      'sys_id',
      'active',
      'assigned_to',
      'short_description',
      'description',
      'priority',
      'impact',
      'urgency',
      'category',
    ],
    ...['subcategory', 'made_sla', 'reassignment_count', 'opened_at', 'closed_at', 'caller_id.name'],
  ].join()}`;
  for (const [query, matches] of CONDITIONS) {
    it(`finds what is meant by ${query}`, async () => {
      const [all, found] = await Promise.all([rows('incident', '', PLAIN), rows('incident', query, PLAIN)]);
      expect(found).to.deep.equal(all.filter(matches)).and.not.have.length(0);
    });
  }

  it('orders by more than one field, and fails on a value that ServiceNow would run', async () => {
    const fields = '&sysparm_fields=impact,number';
    const found = await rows('incident', 'ORDERBYDESCimpact^ORDERBYnope^ORDERBYnumber', fields);
    const key = ({ impact, number }: Row) => `${9 - Number(impact)}${number}`;
    expect(found.map(key)).to.deep.equal(found.map(key).toSorted());
    const { error } = console;
    console.error = () => undefined;
    const answer = await call('/api/now/table/incident?sysparm_query=number=javascript:gs.now()');
    console.error = error;
    expect(answer.status).to.equal(500);
  });

  it('can take texts as they are written, and % as a wildcard', async () => {
    const options = { text: 'as written', wildcards: 'active' } as const;
    const strict = await serveSimulator('servicenow', (given) => createSimulator({ ...given, ...options }));
    const url = `${strict.url}/api/now/table/incident?sysparm_query=`;
    const ask = async (query: string) => {
      const answer = await fetch(url + encodeURIComponent(query), { headers: BASIC });
      return ((await answer.json()) as Answered).result.length;
    };
    const counts = [await ask('category=SOFTWARE'), await ask('short_descriptionLIKEto%email')];
    await strict.stop();
    expect(counts).to.deep.equal([
      0,
      await rows('incident', 'short_descriptionLIKEto email').then(({ length }) => length),
    ]);
  });

  it('creates with its defaults, changes what is said, keeps journals elsewhere, and tells what was deleted', async () => {
    const created = await send('POST', '/api/now/table/incident', {
      ...{
        short_description: "D'Arcy 李",
        urgency: 2,
        impact: '2',
        active: true,
        nope: 1,
        sys_id: 'mine',
        work_notes: 'n',
      },
    });
    const { sys_id: id } = created.body.result;
    const path = `/api/now/table/incident/${id}`;
    expect([created.status, created.headers.get('location')]).to.deep.equal([201, simulator.url + path]);
    expect(created.body.result).to.include({
      priority: '3',
      number: 'INC0010001',
      incident_state: '1',
      work_notes: '',
    });
    expect(created.body.result).to.include({
      category: 'inquiry',
      sys_mod_count: '0',
      closed_at: '',
      sys_created_by: 'admin',
    });
    const journal = await rows('sys_journal_field', `element_id=${id}`, '&sysparm_fields=element,value,name');
    expect(journal).to.deep.equal([{ element: 'work_notes', value: 'n', name: 'incident' }]);
    const changed = await send('PATCH', path, { state: '7', short_description: 'x'.repeat(161), due_date: 'never' });
    expect(changed.body.result).to.include({ active: 'false', sys_mod_count: '1', due_date: '', impact: '2' });
    expect(changed.body.result.short_description).to.have.length(160);
    expect((await call(path, { method: 'DELETE' })).status).to.equal(204);
    expect((await call(path)).status).to.equal(404);
    const gone = await rows('sys_audit_delete', `documentkey=${id}`, '&sysparm_fields=tablename,display_value');
    expect(gone).to.deep.equal([{ tablename: 'incident', display_value: 'INC0010001' }]);
  });

  it('describes tables by what they extend, and columns where they are declared', async () => {
    const [incident] = await rows('sys_db_object', 'name=incident', '&sysparm_fields=label,super_class.name');
    expect(incident).to.deep.equal({ label: 'Incident', 'super_class.name': 'task' });
    const [caller] = await rows('sys_dictionary', 'name=incident^element=caller_id');
    const table = `${simulator.url}/api/now/table`;
    expect(caller).to.deep.include({
      internal_type: { link: `${table}/sys_glide_object?name=reference`, value: 'reference' },
      reference: { link: `${table}/sys_db_object?name=sys_user`, value: 'sys_user' },
      ...{ mandatory: 'true', read_only: 'false', max_length: '32' },
    });
    expect(await rows('sys_dictionary', 'name=incident^element=number')).to.have.length(0);
  });

  it('takes files as they are, and gives them back', async () => {
    const [incident] = await rows('incident', 'ORDERBYsys_id');
    const place = `table_name=incident&table_sys_id=${incident?.sys_id}&file_name=${encodeURIComponent('ä 日.bin')}`;
    const body = Uint8Array.of(0, 255, 13, 10);
    const headers = { ...BASIC, 'content-type': 'image/jpeg' };
    const { body: sent } = await call(`/api/now/attachment/file?${place}`, { method: 'POST', body, headers });
    expect(sent.result).to.include({ file_name: 'ä 日.bin', size_bytes: '4', content_type: 'image/jpeg' });
    const file = await fetch(sent.result.download_link, { headers: BASIC });
    expect(new Uint8Array(await file.arrayBuffer())).to.deep.equal(body);
    expect(JSON.parse(file.headers.get('x-attachment-metadata') ?? '')).to.include({ sys_id: sent.result.sys_id });
    const found = await call(
      `/api/now/attachment?sysparm_query=table_sys_id=${incident?.sys_id}^ORDERBYDESCsize_bytes`,
    );
    expect(found.body.result.map(({ sys_id }: Row) => sys_id)).to.include(sent.result.sys_id);
    expect((await call('/api/now/attachment/file?file_name=x', { method: 'POST', body, headers })).status).to.equal(
      400,
    );
  });

  const REFUSED: readonly (readonly [status: number, message: string, method: string, path: string, body?: string])[] =
    [
      [400, 'Invalid table nope', 'GET', 'now/table/nope'],
      [404, 'No Record found', 'GET', 'now/table/incident/0123'],
      [404, 'No Record found', 'PATCH', 'now/table/problem/0123', '{}'],
      [404, 'No Record found', 'GET', 'now/v1/table/incident?sysparm_query=number=0'],
      [405, 'Method not supported', 'DELETE', 'now/table/incident'],
      [400, 'Requested URI does not represent any resource', 'GET', 'now/tables'],
      [400, 'Exception while reading request', 'POST', 'now/table/incident', '{'],
      [403, 'Operation Failed', 'POST', 'now/table/sys_dictionary', '{}'],
      [400, 'Invalid sysparm_offset', 'GET', 'now/table/incident?sysparm_offset=-1'],
    ];
  for (const [status, message, method, path, body] of REFUSED) {
    it(`says ${status} ${message} to ${method} ${path}`, async () => {
      const answer = await call(`/api/${path}`, { method, ...(body !== undefined && { body }) });
      expect([answer.status, answer.body.status, answer.body.error.message]).to.deep.equal([
        status,
        'failure',
        message,
      ]);
    });
  }

  it('says how many calls an hour has, and how long to wait', async () => {
    const limited = await serveSimulator('servicenow', (given) => createSimulator({ ...given, callsPerHour: 1 }));
    const ask = () => fetch(`${limited.url}/api/now/table/problem?sysparm_limit=1`, { headers: BASIC });
    const [first, second] = [await ask(), await ask()];
    await limited.stop();
    expect([first.headers.get('x-ratelimit-limit'), second.status]).to.deep.equal(['1', 429]);
    expect(Number(second.headers.get('retry-after'))).to.be.within(3590, 3600);
    expect(Number(second.headers.get('x-ratelimit-reset'))).to.be.above(Date.now() / 1000 + 3590);
    const error = {
      message: 'Rate limit exceeded',
      detail: 'Rate limit of 1 requests per hour for Table API exceeded',
    };
    expect(await second.json()).to.deep.equal({ error, status: 'failure' });
  });

  it('changes records as others do, in the class that they are of', async () => {
    const counts = { table: 'cmdb_ci', create: 1, update: 1, remove: 1 };
    const { created, updated, removed } = (await simulator.command('/simulate/changes', counts)) as Changes;
    const today = new Date().toISOString().slice(0, 10);
    const changed = await rows('cmdb_ci', `sys_updated_on>=${today} 00:00:00^ORDERBYsys_id`, '&sysparm_fields=sys_id');
    expect(changed.map(({ sys_id }) => sys_id)).to.deep.equal([...created, ...updated].toSorted());
    const [gone] = await rows('sys_audit_delete', `documentkey=${removed[0]}`);
    expect(gone?.tablename).to.equal('cmdb_ci_server');
  });
});

interface CallOptions {
  readonly method?: string;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Called {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Answered;
}

/** The tests compare what they read. */
// biome-ignore lint/suspicious/noExplicitAny: an answer of any form
type Answered = Readonly<Record<string, any>>;
type Row = Readonly<Record<string, string>> & { readonly [name: string]: string };
type Changes = Readonly<Record<'created' | 'updated' | 'removed', readonly string[]>>;
