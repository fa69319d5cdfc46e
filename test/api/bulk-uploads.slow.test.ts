import { expect } from 'chai';
import { type ApiAnswer, pluck, useApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { expectProblem } from './support/expect-problem.ts';
import { useInstance } from './support/instances.ts';
import { SHOP } from './support/simulated.ts';
import { authorizationOf, createTenants } from './support/tenants.ts';

const CREATE = { format: 'csv', action: 'create' };

const HOSTILE = [
  'plain',
  ' spaces around ',
  '"quoted", with ""two""',
  'lines\nof\r\nall\rkinds',
  '=1+1',
  '+1',
  '-1',
  '@x',
  'null',
  "O'Neil; drop table --",
  'Ünïcödé 名前 🙂',
  '\t\ufeff\u200b',
  '\\n',
  '",\n"',
  'x'.repeat(255),
];

describe('bulk uploads', () => {
  const service = useApp({ BULK_UPLOAD_MAX_BYTES: '200000' });
  const shop = useInstance(service, 'odata', SHOP);

  type Part = readonly [name: 'file' | 'metaData', value: string | Buffer<ArrayBuffer> | object];

  const upload = (file: string | Buffer<ArrayBuffer>, metaData: string | object = CREATE): readonly Part[] => [
    ['metaData', metaData],
    ['file', file],
  ];

  async function send(
    parts: readonly Part[],
    { object = 'Products', hub = '', headers = {}, token = shop.token } = {},
  ) {
    const form = new FormData();
    for (const [name, value] of parts) {
      if (name === 'file') form.append(name, new Blob([value as string]), 'rows.csv');
      else form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
    }
    const response = await fetch(`${service.app.baseUrl}${hub}/bulk/${object}`, {
      method: 'POST',
      headers: { authorization: `User ${service.userSecret}, Element ${token}`, ...headers },
      body: form,
    });
    return { status: response.status, body: Object(await response.json()) };
  }

  const statusOf = async (id: number, token = shop.token) => await service.get(`/bulk/${id}/status`, { token });
  const get = (path: string, headers = {}, query = {}): Promise<ApiAnswer> =>
    shop.call(path, { headers, query, asBytes: true });

  async function ended(parts: readonly Part[], more: Parameters<typeof send>[1] = {}): Promise<ApiAnswer['body']> {
    const { status, body } = await send(parts, more);
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body).to.include({ status: 'CREATED' });
    const { token = shop.token } = more;
    if (token === shop.token) expect(body.instanceId).to.equal(shop.id);
    await until(async () => !['CREATED', 'RUNNING'].includes((await statusOf(body.id, token)).status));
    return statusOf(body.id, token);
  }

  const outcomes = async (id: number, object = 'Products') =>
    JSON.parse((await get(`/bulk/${id}/${object}`, { accept: 'application/json' })).body.toString());

  it('write the good rows of a file, and give the bad ones back as a file that can be corrected and sent again', async () => {
    const isBad = (index: number) => [0, 7, 39].includes(index);
    const rows = Array.from(
      { length: 40 },
      (_, index) => `${1000 + index},${isBad(index) ? '' : `"N ""${index}"",\n"`}`,
    );
    const { id, ...status } = await ended([
      ['file', `\ufeffId,Name\r\n${rows.join('\n')}`],
      ['metaData', CREATE],
    ]);
    expect(status).to.include({ status: 'COMPLETED', jobDirection: 'UPLOAD', recordsCount: 40, recordsFailedCount: 3 });
    for (const { row, id: record, outcome, doubtful, code } of await outcomes(id)) {
      const expected = isBad(row - 1) ? [null, 'failed', 'REQUEST_INVALID'] : [String(999 + row), 'created', null];
      expect([record, outcome, code]).to.deep.equal(expected);
      expect(doubtful).to.equal(false);
    }
    const first = await shop.call(`/bulk/${id}/errors`, { query: { pageSize: 2 } });
    expect(pluck(first.body, 'row')).to.deep.equal([1, 8]);
    const nextPage = String(first.headers.get('elements-next-page-token'));
    const second = await shop.call(`/bulk/${id}/errors`, { query: { pageSize: 2, nextPage } });
    const [error, ...more] = second.body;
    expect(more).to.deep.equal([]);
    expect(error).to.deep.equal({
      row: 40,
      outcome: 'failed',
      doubtful: false,
      code: 'REQUEST_INVALID',
      message: "'Name' is required.",
    });
    const file = (await get(`/bulk/${id}/errors`, { accept: 'text/csv' })).body.toString();
    expect(file).to.equal('\ufeffId,Name\r\n1000,\n1007,\n1039,\r\n');
    const again = await ended(upload(file.replaceAll(/^(\d+),/gm, '$1,Mended')));
    expect(again).to.include({ recordsCount: 3, recordsFailedCount: 0 });
    const where = 'Id >= 1000 AND Id < 1040';
    const stored = await shop.get('/Products', { query: { where, orderBy: 'Id' } });
    expect(pluck(stored, 'Name')).to.deep.equal(rows.map((_, index) => (isBad(index) ? 'Mended' : `N "${index}",\n`)));
  });

  it('take a downloaded file back as it is, or edited', async () => {
    const body = await shop.change('POST', '/bulk/query', { objectName: 'Products' });
    await until(async () => (await statusOf(body.id)).status === 'COMPLETED');
    const file = (await get(`/bulk/${body.id}/Products`)).body.toString();
    const before = await shop.get('/Products', { query: { pageSize: 5000, orderBy: 'Id' } });
    const update = { format: 'csv', action: 'update' };
    const same = await ended(upload(file, update));
    expect(same).to.include({ status: 'COMPLETED', recordsFailedCount: 0, recordsCount: before.length });
    const records = await shop.get('/Products', { query: { pageSize: 5000, orderBy: 'Id' } });
    expect(records).to.deep.equal(before);
  });

  it('find records by another field, and create those that there are not', async () => {
    const metaData = { format: 'jsonl', action: 'upsert', identifierFieldName: 'Name' };
    const lines = [{ Name: 'Upserted', Id: 2000, Category: 'Book' }, { Name: 'Upserted', Category: null }, 'no object'];
    const file = lines.map((line) => JSON.stringify(line)).join('\n');
    const { id } = await ended(upload(`${file}\n{`, metaData), { object: 'Products', hub: '/hubs/general' });
    const [first, second, third, fourth] = await outcomes(id);
    expect([first, second].map(({ id: record, outcome }) => [record, outcome])).to.deep.equal([
      ['2000', 'created'],
      ['2000', 'updated'],
    ]);
    expect([third, fourth]).to.deep.equal([
      {
        row: 3,
        id: null,
        outcome: 'failed',
        doubtful: false,
        code: 'REQUEST_INVALID',
        message: 'The row is not a JSON object.',
      },
      {
        row: 4,
        id: null,
        outcome: 'failed',
        doubtful: false,
        code: 'REQUEST_INVALID',
        message: 'The row is not JSON.',
      },
    ]);
    const failed = await get(`/bulk/${id}/errors`, { accept: 'application/x-ndjson' }, { where: 'row > 2' });
    expect(failed.body.toString()).to.equal('"no object"\n{\r\n');
  });

  it('count the calls of rows that fail', async () => {
    const status = await ended(upload('Id\n999997\n999998\n999999\n', { format: 'csv', action: 'delete' }));
    expect(status).to.include({ recordsCount: 3, recordsFailedCount: 3 });
    expect(status.progress.providerCalls).to.equal(3);
  });

  it('end where nobody can tell any more where a row ends, and say which rows were not written', async () => {
    const status = await ended(upload('Id,Name\n3000,A\n3001,"B"x\n3002,C\n'));
    expect(status).to.include({ status: 'FAILED', code: 'REQUEST_INVALID', recordsCount: 1, recordsFailedCount: 0 });
    expect(status.message).to.equal(
      'Row 2 has a quote within a quoted cell that is not doubled. This row and all rows after it were not written.',
    );
    expect(await outcomes(status.id)).to.have.length(1);
  });

  it('tell of a row with too few or too many cells, and write the others', async () => {
    const { id, ...status } = await ended(upload('Id,Name\n4000,A\n4001\n4002,B,C\n4003,D\n'));
    expect(status).to.include({ status: 'COMPLETED', recordsCount: 4, recordsFailedCount: 2 });
    const errors = await shop.get(`/bulk/${id}/errors`);
    // Those of the good rows, and of none that was not sent.
    expect(status.progress.providerCalls).to.equal(2);
    expect(errors.map((error: ApiAnswer['body']) => [error.row, error.code, error.message])).to.deep.equal([
      [2, 'REQUEST_INVALID', 'The row has 1 cells, and the header has 2.'],
      [3, 'REQUEST_INVALID', 'The row has 3 cells, and the header has 2.'],
    ]);
    expect((await get(`/bulk/${id}/errors`, { accept: 'text/csv' })).body.toString()).to.equal(
      'Id,Name\n4001\n4002,B,C\n',
    );
  });

  it('bring hostile values from one instance to another as they were', async () => {
    const query = { objectName: 'Products', fields: 'Id,Name', where: 'Id >= 5000 AND Id < 5100', orderBy: 'Id' };
    const download = async (token: string) => {
      const body = await service.change('POST', '/bulk/query', query, { token });
      await until(async () => (await service.call(`/bulk/${body.id}/status`, { token })).body.status === 'COMPLETED');
      const response = await service.call(`/bulk/${body.id}/Products`, { token, asBytes: true });
      return response.body.toString();
    };
    const names = HOSTILE.map((name, index) => `{"Id":${5000 + index},"Name":${JSON.stringify(name)}}`);
    await ended(upload(names.join('\n'), { format: 'jsonl', action: 'create' }));
    const file = await download(shop.token);
    const gone = await ended(upload(file, { format: 'csv', action: 'delete' }));
    expect(gone).to.include({ recordsCount: HOSTILE.length, recordsFailedCount: 0 });
    expect((await download(shop.token)).split('\r\n')).to.deep.equal(['Id,Name', '']);
    const other = await service.createInstance('odata', SHOP);
    const back = await ended(upload(file), { token: other.token });
    expect(back).to.include({ status: 'COMPLETED', recordsCount: HOSTILE.length, recordsFailedCount: 0 });
    expect(await download(other.token)).to.equal(file);
    const records = await service.get('/Products', {
      token: other.token,
      query: { where: query.where, orderBy: 'Id' },
    });
    expect(pluck(records, 'Name')).to.deep.equal(HOSTILE);
  });

  it('are those of their account: nobody else adds to its instance, or sees what came of them', async () => {
    const { stranger, sibling } = await createTenants(service);
    const { id } = await ended(upload('Id,Name\n6000,Secretive\n6001,\n'));
    for (const tenant of [stranger, sibling]) {
      const own = await tenant.send('POST', '/instances', {
        element: { key: 'odata' },
        name: 'Own',
        configuration: SHOP,
      });
      for (const [method, path] of [
        ['GET', `/bulk/${id}/status`],
        ['GET', `/bulk/${id}/errors`],
        ['GET', `/bulk/${id}/Products`],
        ['PUT', `/bulk/${id}/cancel`],
        ['DELETE', `/bulk/${id}`],
      ] as const)
        expectProblem(await tenant.call(path, { method, token: own.body.token }), 'NOT_FOUND');
      const ownJobs = await tenant.call('/bulk/jobs', { token: own.body.token });
      expect(ownJobs.body).to.deep.equal([]);
      const { status } = await send(upload('Id,Name\n6002,Intruder\n'), {
        headers: authorizationOf(tenant, shop.token),
      });
      expect(status).to.equal(401);
    }
    expect(await statusOf(id)).to.include({ status: 'COMPLETED', recordsCount: 2 });
    const query = { where: 'Id >= 6000' };
    expect(await shop.get('/Products', { query })).to.have.length(1);
  });

  it('take metadata that come as a file, as FormData sends what has a type, and say what is wrong with them', async () => {
    type FilePart = readonly [name: string, file: File];
    const metaData = (text = JSON.stringify(CREATE)): FilePart => [
      'metaData',
      new File([text], 'meta.json', { type: 'application/json' }),
    ];
    const rows: FilePart = ['file', new File(['Id,Name\n7000,As a file\n'], 'rows.csv')];
    const ask = (parts: readonly FilePart[]) => {
      const form = new FormData();
      for (const [name, file] of parts) form.append(name, file);
      return shop.send('POST', '/bulk/Products', form);
    };
    for (const parts of [
      [metaData(), rows],
      [rows, metaData()],
    ]) {
      const { status, body } = await ask(parts);
      expect(status, JSON.stringify(body)).to.equal(200);
    }
    for (const [message, ...parts] of [
      ["'metaData' is not JSON.", metaData('{'), rows],
      ["'metaData' comes more than once.", metaData(), metaData(), rows],
      ["'file' is missing: the form has no part with a file.", metaData()],
      ["'metadata' has a filename; the part with the file is called 'file'.", ['metadata', metaData()[1]], rows],
    ] as const)
      expectProblem(await ask(parts), 'REQUEST_INVALID', message);
  });

  for (const [what, parts, status, message, object] of [
    ['no metadata', [['file', 'Id,Name\n']], 400, "'metaData' is missing: it says what to do with the rows."],
    ['no file', [['metaData', CREATE]], 400, "'file' is missing: the form has no part with a file."],
    ['metadata that are not JSON', upload('Id', '{'), 400, "'metaData' is not JSON."],
    [
      'an unknown action',
      upload('Id', { format: 'csv', action: 'erase' }),
      400,
      "metaData: 'action' must be one of: create, update, upsert, delete.",
    ],
    ['an unknown member', upload('Id', { ...CREATE, x: 1 }), 400, "Unknown member of metaData 'x'."],
    [
      'an unknown identifier',
      upload('Id', { format: 'csv', action: 'update', identifierFieldName: 'Nmae' }),
      400,
      "Unknown field 'Nmae'. Did you mean 'Name'?",
    ],
    ['an empty file', upload(''), 400, "'file' is empty."],
    ['a file without a header', upload('\n1,2\n'), 400, "Column 1 of the header of 'file' has no name."],
    ['a column twice', upload('Id,Name,Id\n'), 400, "The header of 'file' has the column 'Id' twice."],
    ['a column that is no field', upload('Id,Nmae\n'), 400, "Unknown column 'Nmae'. Did you mean 'Name'?"],
    [
      'what is no UTF-8',
      [
        ['file', Buffer.from([0x49, 0xff])],
        ['metaData', CREATE],
      ],
      400,
      "'file' is not well-formed UTF-8.",
    ],
    [
      'a file that is too large',
      upload('x'.repeat(200_001)),
      413,
      'The file is larger than 200000 bytes (BULK_UPLOAD_MAX_BYTES).',
    ],
    ['an object that there is not', upload('Id\n'), 404, undefined, 'Prodcuts'],
  ] as const) {
    it(`are refused with ${what}, before there is a job`, async () => {
      const count = async () => (await shop.get('/bulk/jobs')).length;
      const before = await count();
      const response = await send(parts, { object: object ?? 'Products' });
      expect(response.status, JSON.stringify(response.body)).to.equal(status);
      if (message !== undefined) expect(response.body.message).to.equal(message);
      expect(await count()).to.equal(before);
    });
  }
});
