import { expect } from 'chai';
import { type NativePage, notFound, type ProviderRequest, type ProviderResponse } from '#connector';
import { bulkIngestOf, bulkQueryOf } from './bulk.ts';

const FIELDS = [
  { name: 'Id', native: 'Id', type: 'string' },
  { name: 'IsDeleted', native: 'IsDeleted', type: 'boolean' },
] as const;
const PLACE = { id: '750x', limit: 10, fields: FIELDS };

function responseOf(body: unknown, headers: ProviderResponse['headers'] = {}): ProviderResponse {
  return { status: 200, headers, body };
}

describe('a query job of Salesforce', () => {
  const { look, read } = bulkQueryOf('Contact');
  if (!('read' in look) || !('read' in read)) throw new Error('Both are pairs.');
  const stateOf = (body: object) => look.read(responseOf(body), { id: '750x' });
  const pageOf = (body: string | undefined, count: number, locator = 'null'): NativePage =>
    read.read(responseOf(body, { 'sforce-numberofrecords': String(count), 'sforce-locator': locator }), PLACE);

  it('has the states of the documents, and no other', () => {
    const kinds = ['UploadComplete', 'InProgress', 'JobComplete', 'Aborted'].map((state) => stateOf({ state }).kind);
    expect(kinds).to.deep.equal(['running', 'running', 'done', 'failed']);
    expect(stateOf({ state: 'Failed', errorMessage: 'Sorry' })).to.deep.equal({
      kind: 'failed',
      state: 'Failed',
      message: 'Sorry',
    });
    expect(() => stateOf({ state: 'toString' })).to.throw('The job has the unknown state toString.');
    expect(() => stateOf({})).to.throw('The response lacks the state of the job.');
  });

  it('has rows as JSON has them, and says where the next page is', () => {
    const page = pageOf('"IsDeleted","Id"\n"true","a"\n"false",""\n', 2, 'MTI');
    expect([...page.records]).to.deep.equal([
      { Id: 'a', IsDeleted: true },
      { Id: null, IsDeleted: false },
    ]);
    expect(page.next).to.equal('MTI');
    expect(pageOf(undefined, 0)).to.not.have.property('next');
  });

  for (const [what, body, message] of [
    ['that was cut off', '"Id","IsDeleted"\n"a","true"\n', 'The page of the job has 1 rows, and its header says 2.'],
    ['without a column', '"Id"\n"a"\n"b"\n', 'The rows of the job lack the column IsDeleted.'],
    ['with a row too long', '"Id","IsDeleted"\n"a","true","x"\n', 'A row of the job has 3 values in 2 columns.'],
  ] as const) {
    it(`takes no page ${what}`, () => {
      expect(() => [...pageOf(body, 2).records]).to.throw(message);
    });
  }
});

describe('an ingest job of Salesforce', () => {
  const ingest = bulkIngestOf('Account', { create: { run: async () => ({}) }, externalIds: [] });
  if (ingest === undefined || !('run' in ingest.start) || !('run' in ingest.read)) throw new Error('Both are runs.');
  const { start, read } = ingest;
  const rows = [
    { Name: 'A "B"', Score: 1 },
    { Name: 'C', Note: null },
    { Name: 'C', Note: '' },
  ];
  const sent: ProviderRequest[] = [];
  const contextOf = (send: (request: ProviderRequest) => ProviderResponse) => ({
    config: {},
    signal: new AbortController().signal,
    send: async (request: ProviderRequest) => {
      sent.push(request);
      return send(request);
    },
  });
  beforeEach(() => sent.splice(0));

  it('gets its rows when its id is kept, and not before', async () => {
    const context = contextOf(() => responseOf({ id: '750x' }));
    const failure = notFound('The id was not kept.');
    const begin = (keep: (id: string) => Promise<void>) => start.run(context, { action: 'create', rows, keep });
    const failed = await begin(() => Promise.reject(failure)).catch((error: unknown) => error);
    expect(failed).to.equal(failure);
    expect(sent.splice(0)).to.have.length(1);
    await begin(async (id) => expect([id, sent.length]).to.deep.equal(['750x', 1]) && undefined);
    const [, file, close] = sent;
    expect(file).to.deep.include({ csv: '"Name","Score","Note"\n"A ""B""","1",\n"C",,"#N/A"\n"C",,"#N/A"\n' });
    expect([file?.idempotent, close?.json]).to.deep.equal([false, { state: 'UploadComplete' }]);
  });

  it('assigns results to rows by their content', async () => {
    const lists = [
      '"sf__Id","sf__Created",Note,Name,Score\n"2","true","#N/A","C",""\n"1","true","","A ""B""","1"\n"9","true","","Z",""\n',
      '"sf__Error",Name,Score,Note\n"CODE:No:Name --","C","","#N/A"\n',
      'Name,Score,Note\n',
    ];
    const results = await read.run(
      contextOf(() => responseOf(lists[sent.length - 1])),
      { id: '750x', rows },
    );
    expect([...results].map(({ row, kind }) => [row, kind])).to.deep.equal([
      [1, 'written'],
      [0, 'written'],
      [undefined, 'written'],
      [2, 'failed'],
    ]);
  });
});
