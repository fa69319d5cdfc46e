import { expect } from 'chai';
import { createRotation, type Rotation } from '../../src/events/fairness.ts';

function fill(lines: Readonly<Record<number, readonly string[]>>): Rotation<string> {
  const rotation = createRotation<string>();
  for (const [accountId, items] of Object.entries(lines))
    for (const item of items) rotation.push(Number(accountId), item);
  return rotation;
}

function drain(rotation: Rotation<string>): string {
  let drained = '';
  for (let item = rotation.shift(); item !== undefined; item = rotation.shift()) drained += item;
  return drained;
}

describe('accounts in turns', () => {
  it('have one thing taken in each, in the order in which things came', () => {
    expect(drain(fill({ 1: ['a', 'b', 'c', 'd'], 2: ['x'], 3: ['p', 'q'] }))).to.equal('axpbqcd');
  });

  it('look at what is next without taking it', () => {
    const rotation = fill({ 1: ['a', 'b'], 2: ['x'] });
    expect([rotation.turn(), rotation.peek(), rotation.peek()]).to.deep.equal([1, 'a', 'a']);
    rotation.shift();
    expect([rotation.turn(), rotation.peek()]).to.deep.equal([2, 'x']);
  });

  it('leave out one that is paused, and hear of it again when it is resumed', () => {
    const rotation = fill({ 1: ['a', 'b'], 2: ['x', 'y'] });
    rotation.pause(1);
    rotation.push(1, 'c');
    expect(drain(rotation)).to.equal('xy');
    expect([rotation.turn(), rotation.peek()]).to.deep.equal([undefined, undefined]);
    rotation.resume(1);
    rotation.resume(2);
    expect(drain(rotation)).to.equal('abc');
    rotation.push(2, 'z');
    expect(drain(rotation)).to.equal('z');
  });
});
