import { expect } from 'chai';
import { type ApiAnswer, useAnotherProcess, useApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { SHOP } from './support/simulated.ts';

const PATH = '/organizations/elements/odata/transformations/goods';
const NOTHING_PASSES = [{ type: 'passThrough', properties: { fromVendor: false, toVendor: false } }];
/** Two versions, whose rows cannot be taken for one another. */
const VERSIONS = ['Name', 'Category'].map((vendorPath, version) => ({
  vendorName: 'Products',
  fields: [
    { path: 'version', configuration: [{ type: 'constant', properties: { value: version } }] },
    { path: 'text', vendorPath },
    { path: 'key', vendorPath: 'Id' },
  ],
  configuration: NOTHING_PASSES,
}));
const KINDS = [null, 'Book', 'Music', 'Tool'];
const CALLERS = 32;
const CHANGES = 20;

describe('a mapping that changes on two processes', function overProcesses() {
  this.timeout(120_000);
  const one = useApp();
  const other = useAnotherProcess(one);
  let token: string;

  before(async () => {
    ({ token } = await one.createInstance('odata', SHOP));
    const fields = [
      { path: 'version', type: 'number' },
      { path: 'text', type: 'string' },
      { path: 'key', type: 'string' },
    ];
    await one.change('POST', '/organizations/objects/goods/definitions', { fields });
    await one.change('POST', PATH, VERSIONS[0]);
  });

  it('gives every page one version, whoever asks where', async () => {
    let isOver = false;
    const pages: ApiAnswer['body'][][] = [];
    const ask = async (index: number) => {
      const service = index % 2 === 0 ? one : other;
      while (!isOver) {
        const where = index % 3 === 0 ? "key >= '1' OR key IS NOT NULL" : undefined;
        pages.push(await service.get('/goods', { token, query: { pageSize: 20, where } }));
      }
    };
    const callers = Array.from({ length: CALLERS }, (_, index) => ask(index));
    const bulk = { method: 'POST', token, query: { q: 'select * from goods' } };
    const { id } = await one.get('/bulk/query', bulk);
    for (let change = 1; change <= CHANGES; change++) {
      const [writer, reader] = change % 2 === 0 ? [one, other] : [other, one];
      await writer.change('PUT', PATH, VERSIONS[change % 2]);
      // The next request of the process that changed it, and soon those of the other.
      const [row] = await writer.get('/goods', { token, query: { pageSize: 1 } });
      expect(row.version).to.equal(change % 2);
      await until(
        async () => (await reader.call('/goods', { token, query: { pageSize: 1 } })).body[0].version === change % 2,
      );
    }
    isOver = true;
    await Promise.all(callers);
    await until(async () => (await one.call(`/bulk/${id}/status`, { token })).body.status === 'COMPLETED');
    expect(pages.length).to.be.greaterThan(CALLERS);
    for (const rows of pages) {
      expect(new Set(rows.map(({ version }) => version)).size).to.equal(1);
      for (const { version, text } of rows) if (version === 1) expect(KINDS).to.include(text);
    }
    expect(new Set(pages.flat().map(({ version }) => version))).to.deep.equal(new Set([0, 1]));
  });
});
