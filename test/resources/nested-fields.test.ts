import { expect } from 'chai';
import { defineObject } from '../../src/connector/index.ts';
import { AppError } from '../../src/errors.ts';
import { writeRecord } from '../../src/resources/record.ts';

const ORDERS = defineObject({
  fields: {
    'customer.id': { type: 'string', native: 'CustomerRef.value', createable: true, required: true },
    'customer.name': { type: 'string', native: 'CustomerRef.name' },
  },
});

describe('a field that has to be given and whose name has dots', () => {
  it('is given by its name, or where records nest', () => {
    const native = { CustomerRef: { value: '7' } };
    expect(writeRecord({ 'customer.id': '7' }, ORDERS, 'create')).to.deep.equal(native);
    expect(writeRecord({ customer: { id: '7' } }, ORDERS, 'create')).to.deep.equal(native);
  });

  it('is missing otherwise', () => {
    for (const body of [{}, { 'customer.id': null }, { customer: { id: null } }, { customer: {} }]) {
      expect(() => writeRecord(body, ORDERS, 'create'), JSON.stringify(body)).to.throw(
        AppError,
        "'customer.id' is required.",
      );
    }
  });
});
