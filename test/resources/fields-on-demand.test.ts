import { expect } from 'chai';
import type { ObjectSpec } from '../../src/connector/index.ts';
import { createObject, createService } from './fake-provider.ts';

function createRows(): ObjectSpec {
  const object = createObject([{ id: 1, name: 'one', owner: { name: 'Ann' } }]);
  return { ...object, fields: { ...object.fields, 'owner.name': { type: 'string', onDemand: true } } };
}

describe('a field on demand', () => {
  const askedFor = (sent: readonly unknown[]) =>
    sent.map((request) => Object(request).json.fields.map(({ name }: { readonly name: string }) => name));

  it('is neither asked for nor answered unless it is named', async () => {
    const service = createService({ rows: createRows() });
    const { records } = await service.list();
    expect(records).to.deep.equal([{ id: 1, name: 'one', score: null, place: null }]);
    expect(askedFor(service.sent)).to.deep.equal([['id', 'name', 'score', 'place']]);
  });

  it('is answered when it is named', async () => {
    const service = createService({ rows: createRows() });
    const { records } = await service.list({ fields: 'id,owner.name' });
    expect(records).to.deep.equal([{ id: 1, owner: { name: 'Ann' } }]);
  });

  it('is asked for when the filter needs it, and not answered then', async () => {
    const service = createService({ rows: createRows() });
    const { records } = await service.list({ where: "owner.name = 'Ann'", fields: 'id' });
    expect(records).to.deep.equal([{ id: 1 }]);
    expect(askedFor(service.sent)).to.deep.equal([['id', 'owner.name']]);
  });
});
