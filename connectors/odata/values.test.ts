import { expect } from 'chai';
import { ExactNumber } from '#connector';
import type { PropertyType } from './metadata.ts';
import { readerOf, withoutControlInformation, withoutOwnControlInformation, writeBody } from './values.ts';

function primitive(name: string, precision?: number): PropertyType {
  return { kind: 'primitive', name, precision };
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
    ['12.50', '12.5'],
    ['-0.1', '-0.1'],
    ['0', '0'],
    ['9007199254740992', '9007199254740992'],
    ['9007199254740993', '9007199254740993'],
    ['0.12345678901234567890', '0.1234567890123456789'],
    ['12345678901234567890.5', '12345678901234567890.5'],
    [12.5, '12.5'],
    [1e21, '1000000000000000000000'],
    [new ExactNumber('9007199254740993'), '9007199254740993'],
    [null, null],
    ['INF', 'INF'],
  ];
  for (const [native, ours] of NUMBERS) {
    it(`show the decimal ${JSON.stringify(native)} as ${JSON.stringify(ours)}`, () => {
      expect(readerOf(decimal)?.(native)).to.equal(ours);
    });
  }

  it('show decimals as numbers where their precision says that a double holds them all, and every Int64 as text', () => {
    expect(readerOf(primitive('Edm.Decimal', 15))?.('12.50')).to.equal(12.5);
    expect(readerOf(primitive('Edm.Decimal', 16))?.('12.50')).to.equal('12.5');
    expect(readerOf(primitive('Edm.Int64'))?.(7)).to.equal('7');
    expect(readerOf(primitive('Edm.Int32'))).to.equal(undefined);
  });

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
    ).to.deep.equal([{ height: '1.5', more: '2' }]);
    expect(readerOf(primitive('Edm.String'))).to.equal(undefined);
    expect(readerOf({ kind: 'collection', name: 'Collection(Edm.String)', of: primitive('Edm.String') })).to.equal(
      undefined,
    );
  });

  it('lose control information at every level', () => {
    const d = new ExactNumber('9007199254740993');
    const native = { '@odata.etag': 'x', a: 1, 'a@odata.type': '#Int32', b: [{ '@id': 'y', c: null }], d };
    expect(withoutControlInformation(native)).to.deep.equal({ a: 1, b: [{ c: null }], d });
    expect(withoutOwnControlInformation(native)).to.deep.equal({ a: 1, b: native.b, d });
    expect(readerOf(primitive('Edm.Untyped'))?.(native)).to.deep.equal({ a: 1, b: [{ c: null }], d });
    const plain = { a: [{ b: [1] }] };
    expect(withoutControlInformation(plain), 'nothing is copied where there is nothing to drop').to.equal(plain);
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
    for (const height of ['0.12345678901234567890', new ExactNumber('0.12345678901234567890')]) {
      expect(writeBody({ price: 12.5, size: { height }, name: 1 }, types)).to.deep.equal({
        json: { price: '12.5', size: { height: '0.1234567890123456789' }, name: 1 },
        headers: { 'content-type': 'application/json;IEEE754Compatible=true' },
      });
    }
  });
});
