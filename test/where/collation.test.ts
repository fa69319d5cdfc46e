import { expect } from 'chai';
import fc from 'fast-check';
import { compareText, foldingOfEverything, foldingTowards, foldText } from '../../src/where/collation.ts';
import { runs, seedOr } from '../../suite/effort.ts';

const fold = (text: string) => foldText(text, 'ci');

describe('folding cases', () => {
  it('changes nothing under cs, which is the default', () => {
    expect(foldText('ÀB', 'cs')).to.equal('ÀB');
    expect(foldText('ÀB', undefined)).to.equal('ÀB');
  });

  for (const [one, other] of [
    ['ABCxyz', 'abcXYZ'],
    ['ÉCOLE', 'école'],
    ['ΟΔΟΣ', 'οδος'],
    ['ΟΔΟΣ', 'οδοσ'],
    ['ПРИВЕТ', 'привет'],
    ['\u212a', 'k'],
    ['ſ', 'S'],
    ['µ', 'Μ'],
    ['ẞ', 'ß'],
    ['\u{10400}', '\u{10428}'],
  ] as const) {
    it(`makes ${one} and ${other} the same`, () => {
      expect(fold(one)).to.equal(fold(other));
    });
  }

  for (const [one, other] of [
    ['ı', 'i'],
    ['İ', 'i'],
    ['İ', 'ı'],
    ['ß', 'ss'],
    ['é', 'e'],
    ['é', 'e\u0301'],
    ['Å', 'A'],
  ] as const) {
    it(`keeps ${one} and ${other} apart`, () => {
      expect(fold(one)).not.to.equal(fold(other));
    });
  }

  it('is the simple case folding of Unicode: what a pattern with the flags i and u takes for the same', () => {
    const { from, to } = foldingOfEverything();
    expect(from.length).to.be.greaterThan(1400);
    for (const [index, character] of from.entries()) {
      const isSame = new RegExp(`^\\u{${character.codePointAt(0)?.toString(16)}}$`, 'iu').test(to[index] ?? '');
      expect(isSame, `${character} → ${to[index]}`).to.equal(true);
    }
  });

  it('takes one code point to one code point, whatever stands beside it, and changes nothing the second time', () => {
    const { from, to } = foldingOfEverything();
    expect(fold(from.join(''))).to.equal(to.join(''));
    expect(fold(to.join(''))).to.equal(to.join(''));
    expect([...to.join('')]).to.have.length(from.length);
  });

  it('leaves every character at its place', () => {
    const { from, to } = foldingOfEverything();
    expect(to.map(({ length }) => length)).to.deep.equal(from.map(({ length }) => length));
  });

  it('orders as the folded texts are ordered', () => {
    const units = fc.constantFrom(...'aAbBzZ0_éÉσςΣıİßẞ', '\u{10400}', '\u{10428}', '\uff00', '😀', '\u212a');
    const texts = fc.string({ unit: units, maxLength: 8 });
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        const sign = Math.sign(compareText(a, b, 'ci'));
        expect(sign).to.equal(Math.sign(compareText(fold(a), fold(b))));
        expect(sign === 0).to.equal(fold(a) === fold(b));
      }),
      { seed: seedOr(7), numRuns: runs(5000) },
    );
  });

  it('knows every character that can become part of a text', () => {
    expect(foldingTowards('k1é')).to.deep.equal({ from: ['K', 'É', '\u212a'], to: ['k', 'é', 'k'] });
    expect(foldingTowards('123 -')).to.deep.equal({ from: [], to: [] });
  });
});

describe('comparing texts', () => {
  it('goes by code point, so that an emoji stands behind U+FF00', () => {
    const sorted = ['', 'A', 'AB', 'B', 'a', 'é', '\uff00', '😀', '😀a', '😁'];
    expect([...sorted].reverse().sort(compareText)).to.deep.equal(sorted);
  });

  it('agrees with the bytes of UTF-8, the order of collate "C"', () => {
    const texts = [
      ...['', '\0', 'a', 'ab', '\u007f', '\u0080', '\u07ff', '\u0800', '\ud7ff', '\ue000', '\uffff', '\u{10000}'],
      ...['\u{10ffff}'],
    ];
    for (const a of texts) {
      for (const b of texts) {
        const bytes = Buffer.compare(Buffer.from(a), Buffer.from(b));
        expect(Math.sign(compareText(a, b)), JSON.stringify([a, b])).to.equal(bytes);
      }
    }
  });
});
