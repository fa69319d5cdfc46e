import { expect } from 'chai';
import fc from 'fast-check';
import { findCircle } from '../../src/formulas/check-circle.ts';
import type { StepDraft } from '../../src/formulas/draft.ts';

type Graph = Readonly<Record<string, string>>;

/** Steps from `name: 'next next'`; a name that begins with `loop` is one. */
function steps(graph: Graph): readonly StepDraft[] {
  return Object.entries(graph).map(([name, next]) => {
    const [onSuccess = '', ...onFailure] = next.split(' ');
    const type = name.startsWith('loop') ? 'loop' : 'script';
    return { name, type, properties: {}, onSuccess: onSuccess === '' ? [] : [onSuccess], onFailure };
  });
}

const circleOf = (graph: Graph) => findCircle(steps(graph));

describe('a circle of steps', () => {
  it('is found, and named from where it begins', () => {
    expect(circleOf({ a: 'a' })).to.deep.equal(['a']);
    expect(circleOf({ a: 'b', b: 'c', c: 'b' })).to.deep.equal(['b', 'c']);
    expect(circleOf({ start: 'a', a: 'end b', b: 'start', end: '' })).to.deep.equal(['start', 'a', 'b']);
  });

  it('is none where ways meet, end, or lead to no step', () => {
    expect(circleOf({ a: 'b c', b: 'd', c: 'd', d: '' })).to.equal(undefined);
    expect(circleOf({ a: 'nothing' })).to.equal(undefined);
    expect(circleOf({})).to.equal(undefined);
  });

  it('is none through a loop, and one beside it', () => {
    expect(circleOf({ a: 'loop', loop: 'b c', b: 'loop', c: '' })).to.equal(undefined);
    expect(circleOf({ loop: 'inner', inner: 'loop2', loop2: 'body loop', body: 'loop2' })).to.equal(undefined);
    expect(circleOf({ loop: 'a', a: 'b', b: 'a' })).to.deep.equal(['a', 'b']);
  });

  it('is found in a long chain without the call stack', () => {
    const chain = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`s${n}`, `s${n + 1}`]));
    expect(circleOf(chain)).to.equal(undefined);
    expect(circleOf({ ...chain, s20000: 's0' })).to.have.lengthOf(20_001);
  });

  it('is found where walking along every way comes back', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'loop'];
    const next = fc.array(fc.constantFrom(...names), { maxLength: 2 }).map((list) => list.join(' '));
    const graphs = fc.record(Object.fromEntries(names.map((name) => [name, next])));
    fc.assert(
      fc.property(graphs, (graph) => {
        const list = steps(graph);
        const nextOf = (name: string) => {
          const step = list.find((one) => one.name === name);
          return step === undefined || step.type === 'loop' ? [] : [...step.onSuccess, ...step.onFailure];
        };
        const comesBack = names.some((name) => {
          const reached = new Set<string>();
          const waiting = [...nextOf(name)];
          for (let at = waiting.pop(); at !== undefined; at = waiting.pop())
            if (!reached.has(at)) {
              reached.add(at);
              waiting.push(...nextOf(at));
            }
          return reached.has(name);
        });
        const circle = findCircle(list);
        expect(circle !== undefined).to.equal(comesBack);
        circle?.forEach((name, at) => {
          expect(nextOf(name)).to.include(circle[(at + 1) % circle.length]);
        });
      }),
    );
  });
});
