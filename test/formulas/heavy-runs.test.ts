import { expect } from 'chai';
import { createHeavyRuns } from '../../src/formulas/executions/heavy-runs.ts';

const NEVER = new AbortController().signal;

describe('heavy executions', () => {
  /** Begins heavy executions, and returns the names of those that may run, in their order. */
  function begin() {
    const enter = createHeavyRuns();
    const admitted: string[] = [];
    const ends = new Map<string, () => void>();
    const start = (accountId: number, name: string, signal = NEVER) =>
      enter(accountId, signal).then((end) => {
        admitted.push(name);
        ends.set(name, end);
      });
    return { start, admitted, end: (name: string) => ends.get(name)?.() };
  }
  const settle = () => new Promise((resolve) => setImmediate(resolve));

  it('are one of an account, and others follow in their order', async () => {
    const { start, admitted, end } = begin();
    for (const name of ['a', 'b', 'c']) void start(1, name);
    await settle();
    expect(admitted).to.deep.equal(['a']);
    end('a');
    await settle();
    expect(admitted).to.deep.equal(['a', 'b']);
  });

  it('leave room for another account', async () => {
    const { start, admitted, end } = begin();
    for (const name of ['a', 'b']) void start(1, name);
    void start(2, 'other');
    void start(3, 'third');
    await settle();
    expect(admitted).to.deep.equal(['a', 'other']);
    end('other');
    await settle();
    expect(admitted).to.deep.equal(['a', 'other', 'third']);
  });

  it('give up their place when they are aborted', async () => {
    const { start, admitted, end } = begin();
    void start(1, 'a');
    const controller = new AbortController();
    const waiting = start(1, 'b', controller.signal).catch((reason: unknown) => reason);
    void start(1, 'c');
    controller.abort(new Error('It was lost.'));
    expect(String(await waiting)).to.equal('Error: It was lost.');
    end('a');
    await settle();
    expect(admitted).to.deep.equal(['a', 'c']);
  });
});
