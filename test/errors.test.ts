import { expect } from 'chai';
import { cutText, listFaults, nearestName, suggest, summarise } from '../src/errors.ts';

describe('the nearest name', () => {
  it('is the one with the fewest edits, when a third of the name or two characters are right', () => {
    expect(nearestName('naem', ['age', 'name', 'names'])).to.equal('name');
    expect(nearestName('NAME', ['name'])).to.equal('name');
    expect(nearestName('ab', ['abcd', 'abcde'])).to.equal('abcd');
    expect(nearestName('ab', ['abcde'])).to.equal(undefined);
    expect(nearestName('first', ['last_', 'fIrst', 'first'])).to.equal('fIrst');
    expect(nearestName('x', [])).to.equal(undefined);
  });

  it('is not looked for when the name has more than 100 characters', () => {
    const looked: string[] = [];
    const candidates = {
      *[Symbol.iterator]() {
        looked.push('');
        yield 'x'.repeat(100);
      },
    };
    expect(nearestName('x'.repeat(101), candidates)).to.equal(undefined);
    expect(looked).to.have.length(0);
    expect(nearestName('x'.repeat(99), candidates)).to.equal('x'.repeat(100));
  });

  it('is looked for among 2,000 names of about its length', () => {
    const far = Array.from({ length: 10_000 }, () => 'x'.repeat(50));
    const near = Array.from({ length: 2000 }, () => 'zzzz');
    expect(nearestName('name', [...far, ...near.slice(1), 'named'])).to.equal('named');
    expect(nearestName('name', [...far, ...near, 'named'])).to.equal(undefined);
  });

  it('is looked for among 20,000 characters of names', () => {
    const near = Array.from({ length: 250 }, () => 'z'.repeat(80));
    const name = 'y'.repeat(80);
    expect(nearestName(name, [...near.slice(1), `${name}x`.slice(1)])).to.equal(`${name}x`.slice(1));
    expect(nearestName(name, [...near, `${name}x`.slice(1)])).to.equal(undefined);
  });

  it('comes as a hint and by itself', () => {
    expect(suggest('naem', ['name'])).to.deep.equal({ hint: " Did you mean 'name'?", nearest: { nearest: 'name' } });
    expect(suggest('naem', ['x'])).to.deep.equal({ hint: '', nearest: {} });
  });
});

describe('faults', () => {
  const faults = (count: number) => Array.from({ length: count }, (_, index) => ({ message: `Fault ${index}.` }));

  it('are told to 50, and then that there are more', () => {
    expect(listFaults(faults(50))).to.deep.equal(faults(50));
    expect(listFaults(faults(51))).to.deep.equal([...faults(49), { message: '… and more.' }]);
    expect(summarise(faults(1))).to.equal('Fault 0.');
    expect(summarise(faults(3))).to.equal('Fault 0. (and 2 more, see details)');
    expect(summarise(faults(50))).to.equal('Fault 0. (and 49 more, see details)');
    expect(summarise(faults(5000))).to.equal('Fault 0. (and at least 50 more, see details)');
  });

  it('quote 100 characters of what is long', () => {
    expect(cutText('x'.repeat(100))).to.equal('x'.repeat(100));
    expect(cutText('x'.repeat(101))).to.equal(`${'x'.repeat(100)}…`);
    expect(cutText('😀'.repeat(60)).isWellFormed()).to.equal(true);
  });
});
