import { expect } from 'chai';
import { createMovableClock, createSearchIndex, createTable } from '#connector/simulator';

/** Creates a table with three rows, and an index that knows its changes ten seconds later. */
function indexed(deleted?: string, lagMs = 10_000) {
  const clock = createMovableClock();
  const index = createSearchIndex({ clock, lagMs });
  const table = createTable({
    rows: ['a', 'b', 'c'].map((id) => ({ id, text: 'old', ...(deleted && { [deleted]: false }) })),
    keyOf: ({ id }) => String(id),
    onChange: (change) => index.note('things', change),
    ...(deleted && { deleted }),
  });
  const found = () => index.rows({ name: 'things', table }).map(({ id, text }) => `${id} ${text}`);
  return { clock, index, table, found };
}

describe('the index of a simulated search', () => {
  for (const deleted of [undefined, 'isDeleted']) {
    it(`knows changes later, ${deleted ? 'with' : 'without'} a recycle bin`, () => {
      const { clock, table, found } = indexed(deleted);
      table.update('a', { text: 'new' });
      table.remove('c');
      table.insert({ id: 'd', text: 'made' });
      expect(found()).to.have.members(['a old', 'b old', 'c old']);
      clock.move(9000);
      table.update('a', { text: 'newest' });
      expect(found()).to.have.members(['a old', 'b old', 'c old']);
      clock.move(1000);
      expect(found()).to.deep.equal(['a new', 'b old', 'd made']);
      clock.move(9000);
      expect(found()).to.deep.equal(['a newest', 'b old', 'd made']);
    });
  }

  it('knows only changes of the table', () => {
    const { index, table, found } = indexed();
    index.note('others', { key: 'a', after: {} });
    expect(found()).to.have.lengthOf(3);
    table.remove('b');
    expect(found()).to.deep.equal(['a old', 'c old', 'b old']);
  });

  it('knows everything at once without a lag', () => {
    const { table, found } = indexed(undefined, 0);
    table.insert({ id: 'd', text: 'made' });
    expect(found()).to.include('d made');
  });
});
