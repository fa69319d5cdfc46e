import { expect } from 'chai';
import { createPacer } from '../src/pace.ts';

describe('createPacer', () => {
  it('is due when a slice has lasted long enough, and not for what was waited for before it', () => {
    let nowMs = 0;
    const pacer = createPacer(new AbortController().signal, { steady: () => nowMs });
    expect(pacer.isDue()).to.equal(false);
    nowMs = 100;
    expect(pacer.isDue()).to.equal(true);
    pacer.begin();
    expect(pacer.isDue()).to.equal(false);
    nowMs = 105;
    expect(pacer.isDue()).to.equal(true);
  });
});
