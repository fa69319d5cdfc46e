import { expect } from 'chai';
import { printRecord, recordOf, recordOfOwn } from '../../src/events/record.ts';

const event = (more: object) => ({
  accountId: 1,
  instanceId: 1,
  type: 'employees.updated' as const,
  objectName: 'employees',
  ...more,
});

describe('the record of an event', () => {
  for (const [object, name] of [
    [{ name: 'Acme', title: 'Not this' }, 'Acme'],
    [{ displayName: 'Charlotte', firstName: 'C', lastName: 'A' }, 'Charlotte'],
    [{ firstName: 'Charlotte', lastName: 'Abbott' }, 'Charlotte Abbott'],
    [{ FirstName: '', LastName: 'Abbott' }, 'Abbott'],
    [{ name: '  ', subject: ' Broken ' }, 'Broken'],
    [{ name: { first: 'Charlotte' }, email: 'c@example.com' }, 'c@example.com'],
    [{ name: 7 }, '7'],
    [{ nothing: 'of it' }, undefined],
    ['Acme', undefined],
    [null, undefined],
  ] as const) {
    it(`is called ${name} where the body has ${JSON.stringify(object)}`, () => {
      expect(recordOf(event({ objectId: '105', object }))).to.deep.equal({
        objectName: 'employees',
        id: '105',
        ...(name !== undefined && { name }),
      });
    });
  }

  it('has the id of the body where the event says none, and no name that is inherited', () => {
    expect(recordOf(event({ object: { id: 5 } }))).to.deep.equal({ objectName: 'employees', id: '5' });
    expect(recordOf(event({ objectId: '5', object: Object.create({ name: 'Acme' }) }))).to.deep.equal({
      objectName: 'employees',
      id: '5',
    });
    expect(recordOf(event({ objectName: undefined, object: { id: 5 } }))).to.equal(undefined);
  });

  it('has a name of bounded length that is well-formed', () => {
    const text = printRecord(recordOf(event({ object: { name: `${'a'.repeat(254)}\u{1f98a}` } })));
    expect(JSON.parse(text ?? '').name).to.equal(`${'a'.repeat(254)}\ufffd`);
  });

  it('of the platform is what its type begins with', () => {
    const data = { instanceId: 3, name: 'People', elementKey: 'bamboohr' };
    expect(recordOfOwn('instance.connected', data)).to.deep.equal({ objectName: 'instance', id: '3', name: 'People' });
    expect(recordOfOwn('delivery.exhausted', { deliveryId: 9, subscriptionId: 1 })).to.deep.equal({
      objectName: 'delivery',
      id: '9',
    });
    expect(recordOfOwn('something.else', data)).to.equal(undefined);
  });
});
