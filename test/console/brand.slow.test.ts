import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { assert, constantFrom, nat, oneof, property } from 'fast-check';
import { AA, contrastOf, shadesOf } from '../../console/connect/brand.ts';

const DESIGN = readFileSync(join(import.meta.dirname, '../../console/design.css'), 'utf8');

/** In light and dark. */
function backgroundsOf(scheme: 0 | 1): readonly string[] {
  return ['back', 'panel', 'raised'].map((name) => {
    const pair = new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(DESIGN);
    return pair?.[scheme + 1] ?? expect.fail(`The design has no --${name}.`);
  });
}

const anyColor = oneof(
  constantFrom('#000000', '#ffffff', '#777777', '#767676', '#ffff00', '#0000ff', '#ff0000', '#f5f7fa', '#1f2731'),
  nat(0xffffff).map((value) => `#${value.toString(16).padStart(6, '0')}`),
);

describe('the colour of a product', () => {
  it('has the contrasts that WCAG gives', () => {
    expect(contrastOf('#000000', '#ffffff')).to.equal(21);
    expect(contrastOf('#777777', '#ffffff')).to.be.closeTo(4.478, 0.001);
    expect(contrastOf('#ffffff', '#0b5cad')).to.be.closeTo(6.66, 0.01);
  });

  it('leaves every text readable, whatever it is', () => {
    assert(
      property(anyColor, (color) => {
        const shades = shadesOf(color);
        const [, ...accents] = /^light-dark\((#\w{6}), (#\w{6})\)$/.exec(shades['--accent']) ?? [];
        expect(accents).to.have.length(2);
        for (const scheme of [0, 1] as const)
          for (const back of backgroundsOf(scheme))
            expect(contrastOf(accents[scheme] ?? '', back), `link on ${back}`).to.be.at.least(AA);
        for (const back of [shades['--fill'], shades['--fill-hover']])
          expect(contrastOf(shades['--on-fill'], back), `button ${back}`).to.be.at.least(AA);
      }),
      { numRuns: 2000 },
    );
  });

  it('stays as it is where it can be read', () => {
    expect(shadesOf('#0b5cad')).to.deep.include({ '--fill': '#0b5cad', '--on-fill': '#ffffff' });
    expect(shadesOf('#0b5cad')['--accent']).to.match(/^light-dark\(#0b5cad, #/);
    expect(shadesOf('#ffcc00')['--on-fill']).to.equal('#000000');
    expect(shadesOf('#ffcc00')['--accent']).to.match(/, #ffcc00\)$/);
  });
});
