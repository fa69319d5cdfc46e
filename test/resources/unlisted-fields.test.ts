import { expect } from 'chai';
import type { ObjectSpec } from '../../src/connector/index.ts';
import { describeObject } from '../../src/resources/objects.ts';
import { failureOf } from '../support/failures.ts';
import { createObject, createService } from './fake-provider.ts';

const WHOLE = { id: 1, name: 'one', score: 3, note: 'long' };

function createRows(): ObjectSpec {
  const { note: _, ...short } = WHOLE;
  const object = createObject([short]);
  const fields: ObjectSpec['fields'] = {
    ...object.fields,
    note: { type: 'string', unlisted: true, createable: true, updateable: true },
  };
  const run = async () => WHOLE;
  return { ...object, fields, get: { run }, create: { run }, update: { run } };
}

describe('a field that is not listed', () => {
  const service = createService({ rows: createRows() });
  const target = { instance: service.instance, objectName: 'rows', signal: new AbortController().signal };
  const SHORT = { id: 1, name: 'one', score: 3, place: null };

  it('is in no row of a list, and not asked for', async () => {
    expect((await service.list()).records).to.deep.equal([SHORT]);
    const [request] = service.sent.slice(-1);
    const asked = Object(request).json.fields.map(({ name }: { readonly name: string }) => name);
    expect(asked).to.deep.equal(['id', 'name', 'score', 'place']);
  });

  it('is in every single record', async () => {
    const { resources } = service;
    const records = [
      await resources.getRecord(target, '1'),
      await resources.createRecord(target, { note: 'long' }),
      await resources.updateRecord(target, '1', { note: 'long' }),
    ];
    for (const { record } of records) expect(record).to.deep.equal({ ...SHORT, note: 'long' });
  });

  for (const [request, position] of [
    [{ where: "score = 1 AND note = 'long'" }, 14],
    [{ where: 'note IN (1, 2)' }, 0],
    [{ orderBy: 'id,note desc' }, 3],
    [{ fields: 'id,note' }, 3],
  ] as const) {
    it(`is refused where it is in ${JSON.stringify(request)}`, async () => {
      const { code, details } = await failureOf(service.list(request));
      expect(code).to.equal('WHERE_INVALID');
      const message = "The provider returns the field 'note' only for single records, not in lists.";
      expect(details).to.deep.equal([{ position, length: 4, message }]);
    });
  }

  it('is not suggested for another name', async () => {
    const { message } = await failureOf(service.list({ fields: 'nota' }));
    expect(message).to.include("Unknown field 'nota'.").and.not.include("'note'");
  });

  it('is described as such', () => {
    const unlisted = describeObject('rows', createRows()).fields.filter((field) => 'unlisted' in field);
    expect(unlisted).to.have.length(1);
    expect(unlisted[0]).to.include({ name: 'note', unlisted: true });
  });
});
