import { once } from 'node:events';
import { createServer, get, type Server } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import jsforce from 'jsforce';
import { createSimulator, DEMO_ACCESS_TOKEN } from './simulator.ts';

type Row = Readonly<Record<string, string>>;

/**
 * Salesforce's own client must accept the jobs as Salesforce's. Tests send direct requests for everything that the client does not show.
 */
describe('the Bulk API 2.0 of the Salesforce simulator', () => {
  let server: Server;
  let url: string;
  let connection: jsforce.Connection;

  beforeEach(async () => {
    const simulator = createSimulator({ baseUrl: '' });
    // The simulator must not be below a folder, because jsforce requests the jobs at the root of the host.
    server = createServer((request, response) => simulator.handle(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('The simulator listens on no port.');
    url = `http://127.0.0.1:${address.port}`;
    connection = new jsforce.Connection({ instanceUrl: url, accessToken: DEMO_ACCESS_TOKEN, version: '62.0' });
    connection.bulk2.pollInterval = 5;
    await simulate('jobs', { queuedMs: 0, workMs: 0 });
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  async function simulate(command: string, body: object): Promise<void> {
    const response = await fetch(`${url}/simulate/${command}`, { method: 'POST', body: JSON.stringify(body) });
    expect(response.status, await response.text()).to.equal(200);
  }

  async function send(method: string, path: string, body?: object | string, more: Record<string, string> = {}) {
    const response = await fetch(`${url}/services/data/v62.0/jobs/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${DEMO_ACCESS_TOKEN}`,
        'content-type': typeof body === 'string' ? 'text/csv' : 'application/json',
        ...more,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json';
    return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
  }

  const failureOf = ({ status, json }: Awaited<ReturnType<typeof send>>) =>
    `${status} ${json?.[0]?.errorCode}: ${json?.[0]?.message}`;

  async function createQuery(soql: string, more: object = {}): Promise<string> {
    const { status, json, text } = await send('POST', 'query', { operation: 'query', query: soql, ...more });
    expect(status, text).to.equal(200);
    return json.id;
  }

  async function load(terms: object, csv: string): Promise<string> {
    const { json, text } = await send('POST', 'ingest', terms);
    expect(json.state, text).to.equal('Open');
    expect((await send('PUT', `ingest/${json.id}/batches`, csv)).status).to.equal(201);
    expect((await send('PATCH', `ingest/${json.id}`, { state: 'UploadComplete' })).json.state).to.equal(
      'UploadComplete',
    );
    await send('GET', `ingest/${json.id}`);
    return json.id;
  }

  describe('queries', () => {
    it('answers jsforce the records of the query endpoint', async () => {
      const soql = 'SELECT Id, Name, Account.Name FROM Contact';
      const { records } = await connection.query(soql);
      const stream = await connection.bulk2.query(soql);
      const found = await stream.toArray();
      expect(found).to.deep.equal(
        records.map((record) => ({ Id: record.Id, Name: record.Name, 'Account.Name': record.Account?.Name ?? '' })),
      );
    });

    it('tells of a job what the documents tell, from its creation to its end', async () => {
      await simulate('jobs', { queuedMs: 1000, workMs: 1000 });
      const { json: created } = await send('POST', 'query', { operation: 'query', query: 'SELECT Id FROM Account' });
      expect(created).to.deep.include({
        operation: 'query',
        object: 'Account',
        state: 'UploadComplete',
        concurrencyMode: 'Parallel',
        contentType: 'CSV',
        apiVersion: 62,
        lineEnding: 'LF',
        columnDelimiter: 'COMMA',
      });
      expect(created.createdDate).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000\+0000$/);
      const reported = async () => {
        const { json } = await send('GET', `query/${created.id}`);
        return [json.state, json.jobType, json.numberRecordsProcessed];
      };
      expect(await reported()).to.deep.equal(['UploadComplete', 'V2Query', 0]);
      expect(failureOf(await send('GET', `query/${created.id}/results`))).to.match(/^400 INVALIDJOBSTATE/);
      expect(failureOf(await send('DELETE', `query/${created.id}`))).to.match(/^400 INVALIDJOBSTATE/);
      await simulate('clock', { byMs: 1000 });
      expect((await reported()).slice(0, 2)).to.deep.equal(['InProgress', 'V2Query']);
      await simulate('clock', { byMs: 1000 });
      expect(await reported()).to.deep.equal(['JobComplete', 'V2Query', 30]);
    });

    it('writes values as Salesforce does: all quoted, nothing for null, times in Z, numbers as Java has them', async () => {
      const id = await createQuery(
        'SELECT Id, Name, Score__c, AnnualRevenue, NumberOfEmployees, IsDeleted, FoundedOn__c, VisitedAt__c, Regions__c FROM Account WHERE Name = \'Say "Hi" GmbH\'',
      );
      await send('GET', `query/${id}`);
      const { text, headers } = await send('GET', `query/${id}/results`);
      expect(headers.get('content-type')).to.equal('text/csv');
      const [account] = (
        await connection.query('SELECT Id, VisitedAt__c, FoundedOn__c FROM Account WHERE Name = \'Say "Hi" GmbH\'')
      ).records;
      expect(text).to.equal(
        '"Id","Name","Score__c","AnnualRevenue","NumberOfEmployees","IsDeleted","FoundedOn__c","VisitedAt__c","Regions__c"\n' +
          `"${account?.Id}","Say ""Hi"" GmbH","123456.654321","500000.0","-1","false","${account?.FoundedOn__c}","${account?.VisitedAt__c.replace('+0000', 'Z')}","EMEA"\n`,
      );
      const numbers = await createQuery('SELECT Highest__c, Level__c, Lowest__c FROM Reading__c WHERE Count__c > 38');
      await simulate('readings', { count: 20_001 });
      const large = await createQuery('SELECT Highest__c FROM Reading__c WHERE Count__c = 20000');
      const valuesOf = async (job: string) => (await send('GET', `query/${job}/results`)).text.split('\n')[1];
      expect(await valuesOf(numbers)).to.equal('"39019.5","4.875","-9.75"');
      expect(await valuesOf(large)).to.equal('"2.001E7"');
    });

    it('separates and ends as it was asked to', async () => {
      const id = await createQuery('SELECT Name, Type FROM Account LIMIT 1', {
        columnDelimiter: 'CARET',
        lineEnding: 'CRLF',
      });
      expect((await send('GET', `query/${id}/results`)).text).to.equal('"Name"^"Type"\r\n"Acme"^"Customer"\r\n');
    });

    it('answers set after set by locators, each with a header, which stay good', async () => {
      const id = await createQuery('SELECT Id FROM Account');
      const sets: string[] = [];
      let locator = '';
      do {
        const response = await send('GET', `query/${id}/results?maxRecords=12${locator && `&locator=${locator}`}`);
        const rows: readonly Row[] = parse(response.text, { columns: true });
        expect(response.headers.get('sforce-numberofrecords')).to.equal(String(rows.length));
        sets.push(...rows.map((row) => row.Id ?? ''));
        locator = response.headers.get('sforce-locator') ?? '';
      } while (locator !== 'null');
      expect(sets).to.deep.equal((await connection.query('SELECT Id FROM Account')).records.map((row) => row.Id));
      const again = await send('GET', `query/${id}/results?maxRecords=12&locator=${btoa('12').replaceAll('=', '')}`);
      expect(parse(again.text, { columns: true })).to.have.length(12);
      expect(failureOf(await send('GET', `query/${id}/results?locator=x`))).to.equal(
        '400 INVALID_QUERY_LOCATOR: invalid query locator',
      );
      expect((await send('GET', `query/${id}/results?maxRecords=0`)).status).to.equal(400);
    });

    it('answers a header alone where nothing is found', async () => {
      const id = await createQuery("SELECT Id, Name FROM Account WHERE Name = 'nobody'");
      const { text, headers } = await send('GET', `query/${id}/results`);
      expect([text, headers.get('sforce-locator'), headers.get('sforce-numberofrecords')]).to.deep.equal([
        '"Id","Name"\n',
        'null',
        '0',
      ]);
    });

    it('finds what is in the recycle bin by queryAll only', async () => {
      const counts: number[] = [];
      for (const scanAll of [false, true]) {
        const stream = await connection.bulk2.query('SELECT Id FROM Account', { scanAll });
        counts.push((await stream.toArray()).length);
      }
      expect(counts).to.deep.equal([30, 33]);
    });

    it('packs results where that is asked for', async () => {
      const id = await createQuery('SELECT Id FROM Account');
      await send('GET', `query/${id}`);
      const bytesOf = async (encoding: string) => {
        return new Promise<Buffer>((resolve, reject) => {
          const headers = { authorization: `Bearer ${DEMO_ACCESS_TOKEN}`, 'accept-encoding': encoding };
          get(`${url}/services/data/v62.0/jobs/query/${id}/results`, { headers }, (response) => {
            response.toArray().then((pieces) => resolve(Buffer.concat(pieces)), reject);
          });
        });
      };
      expect(gunzipSync(await bytesOf('gzip')).toString()).to.equal((await bytesOf('identity')).toString());
    });

    for (const [soql, failure] of Object.entries({
      'SELECT BillingAddress FROM Account': 'API_ERROR: Selecting compound data not supported in Bulk Query',
      'SELECT Position__c FROM Site__c': 'API_ERROR: Selecting compound data not supported in Bulk Query',
      'SELECT VersionData FROM ContentVersion': 'FEATURENOTENABLED: Binary fields not supported',
      'SELECT COUNT(Id) FROM Account': 'API_ERROR: Aggregate functions not supported in Bulk Query',
      'SELECT Name FROM Account GROUP BY Name': 'API_ERROR: GROUP BY not supported in Bulk Query',
      'SELECT Id FROM Account OFFSET 1': 'API_ERROR: OFFSET not supported in Bulk Query',
      'SELECT TYPEOF What WHEN Account THEN Phone END FROM Task': 'API_ERROR: TYPEOF not supported in Bulk Query',
      'SELECT Id, (SELECT Id FROM Contacts) FROM Account':
        'API_ERROR: Aggregate Relationships not supported in Bulk V2 Query with CSV content type.',
      'SELECT Id FROM Nothing': "INVALID_TYPE: sObject type 'Nothing' is not supported.",
    })) {
      it(`refuses ${soql}`, async () => {
        expect(failureOf(await send('POST', 'query', { operation: 'query', query: soql }))).to.equal(`400 ${failure}`);
      });
    }

    it('is aborted while it works, and not afterwards; then it can be deleted', async () => {
      await simulate('jobs', { workMs: 60_000 });
      const id = await createQuery('SELECT Id FROM Account');
      expect((await send('PATCH', `query/${id}`, { state: 'UploadComplete' })).status).to.equal(400);
      expect((await send('PATCH', `query/${id}`, { state: 'Aborted' })).json.state).to.equal('Aborted');
      expect((await send('DELETE', `query/${id}`)).status).to.equal(204);
      expect(failureOf(await send('GET', `query/${id}`))).to.equal(
        '404 NOT_FOUND: The requested resource does not exist',
      );
      await simulate('jobs', { queuedMs: 0, workMs: 0 });
      const done = await createQuery('SELECT Id FROM Account');
      expect(failureOf(await send('PATCH', `query/${done}`, { state: 'Aborted' }))).to.equal(
        '400 INVALIDJOBSTATE: Aborting already Completed Job not allowed',
      );
    });

    it('fails when it is told to, keeps results for a week, and for the version that asked', async () => {
      await simulate('jobs', { queuedMs: 0, workMs: 0, failure: 'InternalServerError : Retried more than 15 times' });
      const failed = await createQuery('SELECT Id FROM Account');
      const { json } = await send('GET', `query/${failed}`);
      expect([json.state, json.errorMessage, json.numberRecordsProcessed]).to.deep.equal([
        'Failed',
        'InternalServerError : Retried more than 15 times',
        15,
      ]);
      await simulate('jobs', { queuedMs: 0, workMs: 0 });
      const id = await createQuery('SELECT Id FROM Account');
      const path = `query/${id}/results`;
      expect((await send('GET', path)).status).to.equal(200);
      expect((await send('GET', `../../v61.0/jobs/${path}`)).status).to.equal(409);
      await simulate('clock', { byMs: 7 * 24 * 3_600_000 + 1000 });
      expect((await send('GET', path)).status).to.equal(404);
    });
  });

  describe('many records', () => {
    it('are as many as are asked for, the same by pages and by bulk, in the order of their ids', async () => {
      await simulate('readings', { count: 5003 });
      const soql = "SELECT Id, Serial__c, Note__c, Count__c FROM Reading__c WHERE Kind__c != 'Heat' ORDER BY Id";
      const paged = await connection.query(soql, { autoFetch: true, maxFetch: 10_000 });
      const byJob: readonly Row[] = await (await connection.bulk2.query(soql)).toArray();
      expect(paged.totalSize).to.equal(3335);
      expect(byJob.map(({ Serial__c }) => Serial__c)).to.deep.equal(paged.records.map((row) => row.Serial__c));
      const ids = byJob.map(({ Id }) => Id ?? '');
      expect([...ids].sort()).to.deep.equal(ids);
      expect(await connection.sobject('Reading__c').retrieve(ids[7] ?? '')).to.include({ Id: ids[7] });
      const sorted = await connection.query('SELECT Id FROM Reading__c ORDER BY Serial__c DESC LIMIT 1');
      expect(sorted.records[0]?.Id).to.equal(
        (await connection.query("SELECT Id FROM Reading__c WHERE Serial__c = 'S-999'")).records[0]?.Id,
      );
    });
  });

  describe('loads', () => {
    it('inserts what is good and tells what is wrong with the rest, to jsforce', async () => {
      const { successfulResults, failedResults, unprocessedRecords } = await connection.bulk2.loadAndWaitForResults({
        object: 'Account',
        operation: 'insert',
        pollInterval: 5,
        input: [
          { Name: 'Bulk "one", two\nlines', AnnualRevenue: 12.5, FoundedOn__c: '2024-02-29', Tier__c: 'Gold' },
          { Name: '', AnnualRevenue: 1, FoundedOn__c: '', Tier__c: '' },
          { Name: 'Bad tier', AnnualRevenue: 1, FoundedOn__c: '', Tier__c: 'Tin' },
          { Name: 'Bad number', AnnualRevenue: 'much', FoundedOn__c: '', Tier__c: '' },
          { Name: 'Bulk two', AnnualRevenue: '', FoundedOn__c: null, Tier__c: 'Silver' },
        ],
      });
      expect(successfulResults.map((row) => [row.sf__Created, Object(row).Name])).to.deep.equal([
        ['true', 'Bulk "one", two\nlines'],
        ['true', 'Bulk two'],
      ]);
      expect(failedResults.map(({ sf__Error }) => sf__Error)).to.deep.equal([
        'REQUIRED_FIELD_MISSING:Required fields are missing: [Name]:Name --',
        'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST:Tier__c: bad value for restricted picklist field: Tin:Tier__c --',
        'INVALID_TYPE_ON_FIELD_IN_RECORD:AnnualRevenue: value not of required type: much:AnnualRevenue --',
      ]);
      expect(unprocessedRecords).to.deep.equal([]);
      const made = await connection.sobject('Account').retrieve(successfulResults[0]?.sf__Id ?? '');
      expect(made).to.include({ AnnualRevenue: 12.5, FoundedOn__c: '2024-02-29', Tier__c: 'Gold' });
    });

    it('updates: empty is untouched, #N/A is null; deletes; and names records that are not there', async () => {
      const { records } = await connection.query('SELECT Id, Name FROM Account WHERE BillingCity != null LIMIT 2');
      const [first = '', second = ''] = records.map(({ Id }) => Id);
      const updated = await connection.bulk2.loadAndWaitForResults({
        object: 'Account',
        operation: 'update',
        pollInterval: 5,
        input: `Id,Name,BillingCity\n${first},,#N/A\n${second.slice(0, 15)},Renamed,\n0015g00000zzzzzAAA,x,\nme,x,\n,x,\n`,
      });
      expect(updated.failedResults.map((row) => [row.sf__Id, row.sf__Error])).to.deep.equal([
        ['0015g00000zzzzzAAA', 'INVALID_CROSS_REFERENCE_KEY:invalid cross reference id:--'],
        ['me', 'MALFORMED_ID:Id: id value of incorrect type: me:Id --'],
        ['', 'MISSING_ARGUMENT:Id not specified in an update call:--'],
      ]);
      const accounts = connection.sobject('Account');
      expect(await accounts.retrieve(first)).to.include({ Name: records[0]?.Name, BillingCity: null });
      expect((await accounts.retrieve(second)).BillingCity).to.not.equal(null);
      const deletion = { object: 'Account', operation: 'delete', pollInterval: 5 } as const;
      const deleted = await connection.bulk2.loadAndWaitForResults({
        ...deletion,
        input: [{ Id: first }, { Id: first }],
      });
      expect(deleted.successfulResults.map((row) => [row.sf__Id, row.sf__Created])).to.deep.equal([[first, 'false']]);
      expect(deleted.failedResults[0]?.sf__Error).to.equal('ENTITY_IS_DELETED:entity is deleted:--');
    });

    it('upserts by an external id', async () => {
      const input = 'ExternalKey__c,Name\nBulk-1,First\nBulk-2,Second\n,Third\n';
      const upsert = async (csv: string) =>
        connection.bulk2.loadAndWaitForResults({
          object: 'Account',
          operation: 'upsert',
          externalIdFieldName: 'ExternalKey__c',
          pollInterval: 5,
          input: csv,
        });
      const { successfulResults, failedResults } = await upsert(input);
      expect(successfulResults.map(({ sf__Created }) => sf__Created)).to.deep.equal(['true', 'true']);
      expect(failedResults[0]?.sf__Error).to.equal('MISSING_ARGUMENT:ExternalKey__c not specified:--');
      const again = await upsert('ExternalKey__c,Name\nBulk-2,Changed\n');
      expect(again.successfulResults[0]).to.include({ sf__Id: successfulResults[1]?.sf__Id, sf__Created: 'false' });
      await connection.sobject('Account').create({ Name: 'Twin', ExternalKey__c: 'Bulk-2' });
      const third = await upsert('ExternalKey__c,Name\nBulk-2,Changed\n');
      expect(third.failedResults[0]?.sf__Error).to.match(
        /^DUPLICATE_EXTERNAL_ID:ExternalKey__c: more than one record found for external id field: \[\w{18}, \w{18}\]:ExternalKey__c --$/,
      );
    });

    it('answers results under the header that was sent, in the job’s own form', async () => {
      const terms = { object: 'Account', operation: 'insert', columnDelimiter: 'SEMICOLON', lineEnding: 'CRLF' };
      const id = await load(terms, 'Name;Tier__c\r\n"A;B";Gold\r\nC;Tin\r\n');
      const [done, failed, rest] = await Promise.all(
        ['successfulResults/', 'failedResults', 'unprocessedrecords'].map((kind) =>
          send('GET', `ingest/${id}/${kind}`),
        ),
      );
      expect(done?.text).to.match(/^"sf__Id";"sf__Created";Name;Tier__c\r\n"001\w{15}";"true";"A;B";"Gold"\r\n$/);
      expect(failed?.text).to.match(/^"sf__Id";"sf__Error";Name;Tier__c\r\n"";"INVALID_OR_NULL.* --";"C";"Tin"\r\n$/);
      expect(rest?.text).to.equal('Name;Tier__c\r\n');
      expect((await send('GET', `ingest/${id}`)).json).to.include({
        state: 'JobComplete',
        jobType: 'V2Ingest',
        numberRecordsProcessed: 2,
        numberRecordsFailed: 1,
      });
    });

    it('stops at an abort, and keeps what is done', async () => {
      await simulate('jobs', { queuedMs: 0, workMs: 1_000_000 });
      const names = Array.from({ length: 10 }, (_, index) => `Aborted ${index}`);
      const id = await load({ object: 'Account', operation: 'insert' }, `Name\n${names.join('\n')}\n`);
      await simulate('clock', { byMs: 350_000 });
      expect((await send('PATCH', `ingest/${id}`, { state: 'Aborted' })).json.state).to.equal('Aborted');
      const rest = await send('GET', `ingest/${id}/unprocessedrecords`);
      expect(rest.text).to.equal(`Name\n${names.slice(3).join('\n')}\n`);
      const soql = "SELECT Id FROM Account WHERE Name LIKE 'Aborted %'";
      expect((await connection.query(soql)).totalSize).to.equal(3);
    });

    for (const [what, terms, csv, message] of [
      [
        'an unknown column',
        { operation: 'insert' },
        'Name,Nothing\na,b\n',
        'InvalidBatch : Field name not found : Nothing',
      ],
      ['an update without ids', { operation: 'update' }, 'Name\na\n', 'InvalidBatch : Field name not found : Id'],
      [
        'more than ids to delete',
        { operation: 'delete' },
        'Id,Name\na,b\n',
        "InvalidBatch : The 'delete' batch must contain only ids",
      ],
      [
        'other ends of rows',
        { operation: 'insert' },
        'Name\r\na\r\n',
        'ClientInputError : LineEnding is invalid on user data. Current LineEnding setting is LF',
      ],
      [
        'a quote that is never closed',
        { operation: 'insert' },
        'Name\n"a\n',
        'InvalidBatch : Failed to parse CSV. EOF reached before closing an opened quote',
      ],
    ] as const) {
      it(`fails a job of ${what}, and writes nothing`, async () => {
        const before = (await connection.query('SELECT Id FROM Account')).totalSize;
        const id = await load({ object: 'Account', ...terms }, csv);
        const { json } = await send('GET', `ingest/${id}`);
        expect([json.state, json.errorMessage, json.numberRecordsProcessed]).to.deep.equal(['Failed', message, 0]);
        expect((await connection.query('SELECT Id FROM Account')).totalSize).to.equal(before);
      });
    }

    it('fails a row that is malformed, and no other', async () => {
      const id = await load({ object: 'Account', operation: 'insert' }, 'Name,Type\n"a" ,x\nb\nc"d,x\ngood,x\n');
      const rows: readonly Row[] = parse((await send('GET', `ingest/${id}/failedResults`)).text, { columns: true });
      expect(rows.map(({ sf__Error }) => sf__Error)).to.deep.equal([
        'CLIENT_INPUT_ERROR:Failed to parse CSV: characters behind a quote:--',
        'CLIENT_INPUT_ERROR:Failed to parse CSV: 1 values for 2 columns:--',
        'CLIENT_INPUT_ERROR:Failed to parse CSV: unescaped quote:--',
      ]);
    });

    it('takes one file only, while it is open', async () => {
      const { json } = await send('POST', 'ingest', { object: 'Account', operation: 'insert', contentType: 'CSV' });
      expect(json.contentUrl).to.equal(`services/data/v62.0/jobs/ingest/${json.id}/batches`);
      const path = `ingest/${json.id}`;
      expect(failureOf(await send('PATCH', path, { state: 'UploadComplete' }))).to.match(/^400 INVALIDJOB: /);
      expect(failureOf(await send('PUT', `${path}/batches`, {}))).to.match(/^400 INVALIDJOB: Content-Type/);
      expect(failureOf(await send('DELETE', path))).to.match(/^400 INVALIDJOBSTATE: /);
      for (let time = 0; time < 2; time++) await send('PUT', `${path}/batches`, 'Name\nx\n');
      expect(failureOf(await send('PATCH', path, { state: 'UploadComplete' }))).to.equal(
        `400 INVALIDJOB: Found multipe contents for job: <${json.id}>, please 'Close' / 'Abort' / 'Delete' the current Job then create a new Job and make sure you only do 'PUT' once on a given Job.`,
      );
      const id = await load({ object: 'Account', operation: 'insert' }, 'Name\nx\n');
      expect(failureOf(await send('PUT', `ingest/${id}/batches`, 'Name\ny\n'))).to.match(/^400 INVALIDJOBSTATE/);
      expect((await send('DELETE', `ingest/${id}`)).status).to.equal(204);
    });

    for (const [failure, terms] of [
      ["INVALIDENTITY: Entity 'Nothing' is not supported by the Bulk API", { object: 'Nothing', operation: 'insert' }],
      ["INVALIDENTITY: Entity 'User' is not supported by the Bulk API", { object: 'User', operation: 'insert' }],
      [
        'INVALIDJOB: operation: "merge" is none of insert, update, upsert, delete, hardDelete',
        { object: 'Account', operation: 'merge' },
      ],
      [
        'FEATURENOTENABLED: hardDelete operation requires special user profile permission, please contact your system administrator',
        { object: 'Account', operation: 'hardDelete' },
      ],
      [
        'INVALIDJOB: External ID was blank for Account. An External ID must be specified for upsert.',
        { object: 'Account', operation: 'upsert' },
      ],
      [
        'INVALIDJOB: Field name provided, Type does not match an External ID, Salesforce Id, or indexed field for Account',
        { object: 'Account', operation: 'upsert', externalIdFieldName: 'Type' },
      ],
      [
        'INVALIDJOB: lineEnding: "CR" is none of LF, CRLF',
        { object: 'Account', operation: 'insert', lineEnding: 'CR' },
      ],
    ] as const) {
      it(`refuses a job with ${failure}`, async () => {
        expect(failureOf(await send('POST', 'ingest', terms))).to.equal(`400 ${failure}`);
      });
    }
  });
});
