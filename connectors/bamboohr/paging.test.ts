import { expect } from 'chai';
import { findWindow, MAX_PAGE_SIZE, takePage } from './paging.ts';

describe('pages by position', () => {
  it('are a page of BambooHR where they begin at a multiple of their size', () => {
    expect(findWindow(0, 20)).to.deep.equal({ page: 1, pageSize: 20, skip: 0 });
    expect(findWindow(40, 20)).to.deep.equal({ page: 3, pageSize: 20, skip: 0 });
  });

  it('are the smallest page around them where they do not', () => {
    expect(findWindow(7, 20)).to.deep.equal({ page: 1, pageSize: 27, skip: 7 });
    expect(findWindow(130, 20)).to.deep.equal({ page: 6, pageSize: 25, skip: 5 });
  });

  it('always begin with the wanted row, never past the largest page', () => {
    for (let offset = 0; offset < 5000; offset += 37) {
      for (const limit of [1, 20, 200, 999, 1000]) {
        const { page, pageSize, skip } = findWindow(offset, limit);
        expect((page - 1) * pageSize + skip).to.equal(offset);
        expect(pageSize).to.be.within(limit, MAX_PAGE_SIZE);
        expect(skip).to.be.below(pageSize);
      }
    }
  });

  it('are cut from an answer that holds everything', () => {
    const input = { parameters: {}, fields: [], orderBy: [], limit: 2 };
    expect(takePage([1, 2, 3], input)).to.deep.equal({ records: [1, 2], total: 3, next: '2' });
    expect(takePage([1, 2, 3], { ...input, cursor: '2' })).to.deep.equal({ records: [3], total: 3 });
    expect(takePage([], input)).to.deep.equal({ records: [], total: 0 });
  });
});
