import { expect } from 'chai';
import { type ApiAnswer, pluck, useApp } from '../../support/app.ts';
import { useInstance } from '../support/instances.ts';
import { SHOP } from '../support/simulated.ts';
import { useReceiver } from './receiving.ts';

const PATH = '/notifications/subscriptions';
const RECORDS = 8;

const GOODS = {
  fields: [
    { path: 'key', type: 'string' },
    { path: 'cents', type: 'number' },
    { path: 'info.kind', type: 'string' },
    { path: 'released', type: 'date' },
  ],
};
const OF_PRODUCTS = {
  vendorName: 'Products',
  fields: [
    { path: 'key', vendorPath: 'Id' },
    { path: 'cents', vendorPath: 'Price', configuration: [{ type: 'number', properties: { multiply: 100 } }] },
    { path: 'info.kind', vendorPath: 'Category' },
    { path: 'released', vendorPath: 'ReleasedOn' },
  ],
  configuration: [{ type: 'passThrough', properties: { fromVendor: false, toVendor: false } }],
};

type Record = { readonly [name: string]: unknown };

describe('filters of endpoints over records', () => {
  const service = useApp({ SIMULATORS_PORT: '0', EGRESS_ALLOW: '127.0.0.1' });
  const receiver = useReceiver();
  const instance = useInstance(service, 'odata', SHOP);

  before(async () => {
    await service.change('POST', '/organizations/objects/goods/definitions', GOODS);
    await service.change('POST', '/organizations/elements/odata/transformations/goods', OF_PRODUCTS);
  });

  async function list(
    objectName: string,
    query: { readonly where?: string; readonly pageSize: number },
  ): Promise<Record[]> {
    return instance.get(`/${objectName}`, { query });
  }

  /** Returns what a filter says of records, by tests of an endpoint. */
  async function judge(where: string, objectName: string, records: readonly Record[]): Promise<ApiAnswer['body'][]> {
    const { id } = await service.change('POST', PATH, { url: receiver.open('typed'), where });
    const verdicts = [];
    for (const object of records)
      verdicts.push(
        await service.change('POST', `${PATH}/${id}/test`, {
          instanceId: instance.id,
          type: `${objectName}.updated`,
          object,
        }),
      );
    await service.send('DELETE', `${PATH}/${id}`);
    return verdicts;
  }

  // The literals have other types than the fields, or other spellings.
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    [
      'Products',
      'Id',
      ["Price > '95.00'", "ReleasedOn >= '2000-01-01'", "Price IN ('0', '19.990')", "Id = '02'", 'Name != 5'],
    ],
    [
      'goods',
      'key',
      ["cents > '9500.0'", "released >= '2000-01-01'", "info.kind = 'Music'", "key = '02'", "cents NOT IN ('0')"],
    ],
  ];
  for (const [objectName, id, filters] of cases) {
    it(`compare as the list does, for ${objectName === 'goods' ? 'mapped' : 'discovered'} objects`, async () => {
      const records = await list(objectName, { pageSize: RECORDS });
      expect(records).to.have.length(RECORDS);
      const kinds = new Set<boolean>();
      for (const filter of filters) {
        const { status, body } = await instance.call(`/${objectName}`, { query: { where: filter, pageSize: 1_000 } });
        // A list rejects a literal that is none of the field's type. Then there is nothing to compare with.
        if (status === 400) continue;
        expect(status, JSON.stringify(body)).to.equal(200);
        const ids = new Set(body.map((record: Record) => record[id]));
        const where = filter.replace(/^[\w.]+/, 'object.$&');
        const verdicts = await judge(where, objectName, records);
        const matches = records.map((record) => ids.has(record[id]));
        for (const each of matches) kinds.add(each);
        expect(
          verdicts.map((verdict) => verdict.matches),
          filter,
        ).to.deep.equal(matches);
        expect(
          verdicts.every(({ unfiltered, warnings }) => !unfiltered && warnings === undefined),
          filter,
        ).to.equal(true);
      }
      expect([...kinds]).to.have.members([true, false]);
    });
  }

  it('tell the fields whose types are unknown', async () => {
    const where = "object.Price > 5 AND object.Colour = 'red' AND type LIKE '%.updated'";
    const [verdict] = await judge(where, 'Products', [{ Price: '7.5', Colour: 'red' }]);
    expect(verdict).to.deep.include({
      matches: true,
      unfiltered: false,
      warnings: [
        {
          field: 'object.Colour',
          message:
            "The type of 'object.Colour' is unknown here. The literals that it is compared with decide how: numbers as numbers, texts as texts.",
        },
      ],
    });
    const [other] = await judge(where, 'nothing', [{ Price: '7.5', Colour: 'red' }]);
    expect(other.matches).to.equal(true);
    expect(pluck(other.warnings, 'field')).to.deep.equal(['object.Price', 'object.Colour']);
  });

  it('know the fields of mapped objects, and warn of no other ones', async () => {
    const warned = async (where: string) => {
      const { id, warnings = [] } = await service.change('POST', PATH, { url: receiver.open('warned'), where });
      await service.send('DELETE', `${PATH}/${id}`);
      return pluck(warnings, 'field');
    };
    expect(await warned("objectName = 'goods' AND object.info.kind = 'x'")).to.deep.equal([]);
    expect(await warned('object.cents > 5 AND object.centz > 5')).to.deep.equal(['object.centz']);
  });
});
