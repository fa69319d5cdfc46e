import { expect } from 'chai';
import type { PropertyType } from './metadata.ts';
import { readerOf, withoutControlInformation, writeBody } from './values.ts';

function primitive(name: string): PropertyType {
  return { kind: 'primitive', name };
}

const decimal = primitive('Edm.Decimal');
const size: PropertyType = {
  kind: 'complex',
  name: 'S.Size',
  properties: () => [
    { name: 'height', type: decimal, nullable: true, hasDefault: false, computed: false, immutable: false },
  ],
};

describe('OData values', () => {
  const NUMBERS: readonly (readonly [unknown, unknown])[] = [
    ['12.50', 12.5],
    ['-0.1', -0.1],
    ['0', 0],
    ['9007199254740992', 9007199254740992],
    ['9007199254740993', '9007199254740993'],
    ['0.12345678901234567890', '0.12345678901234567890'],
    ['12345678901234567890.5', '12345678901234567890.5'],
    [12.5, 12.5],
    [null, null],
    ['INF', 'INF'],
  ];
  for (const [native, ours] of NUMBERS) {
    it(`show the decimal ${JSON.stringify(native)} as ${JSON.stringify(ours)}`, () => {
      expect(readerOf(decimal)?.(native)).to.equal(ours);
    });
  }

  it('show instants in UTC with every digit', () => {
    const read = readerOf(primitive('Edm.DateTimeOffset'));
    expect(read?.('2026-01-31T08:30:00.1234567+02:00')).to.equal('2026-01-31T06:30:00.1234567Z');
    expect(read?.('2026-01-31T23:30:00-05:00')).to.equal('2026-02-01T04:30:00Z');
    expect(read?.('2026-01-31T08:30:00Z')).to.equal('2026-01-31T08:30:00Z');
    expect(read?.('never')).to.equal('never');
  });

  it('are converted inside collections and complex values, and left alone elsewhere', () => {
    expect(
      readerOf({ kind: 'collection', name: 'Collection(S.Size)', of: size })?.([{ height: '1.50', more: '2' }]),
    ).to.deep.equal([{ height: 1.5, more: '2' }]);
    expect(readerOf(primitive('Edm.String'))).to.equal(undefined);
    expect(readerOf({ kind: 'collection', name: 'Collection(Edm.String)', of: primitive('Edm.String') })).to.equal(
      undefined,
    );
  });

  it('lose control information at every level', () => {
    const native = { '@odata.etag': 'x', a: 1, 'a@odata.type': '#Int32', b: [{ '@id': 'y', c: null }] };
    expect(withoutControlInformation(native)).to.deep.equal({ a: 1, b: [{ c: null }] });
  });

  it('go out as JSON numbers as long as no digit is lost', () => {
    const types = new Map([
      ['price', decimal],
      ['size', size],
    ]);
    expect(writeBody({ price: '12.50', 'size.height': 3, name: '12' }, types)).to.deep.equal({
      json: { price: 12.5, size: { height: 3 }, name: '12' },
    });
  });

  it('go out as text, and say so, when one would lose digits', () => {
    const types = new Map([
      ['price', decimal],
      ['size', size],
    ]);
    expect(writeBody({ price: 12.5, size: { height: '0.12345678901234567890' }, name: 1 }, types)).to.deep.equal({
      json: { price: '12.5', size: { height: '0.12345678901234567890' }, name: 1 },
      headers: { 'content-type': 'application/json;IEEE754Compatible=true' },
    });
  });
});
