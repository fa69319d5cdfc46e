import { expect } from 'chai';
import { changedEmployees } from './changes.ts';

const SINCE = '2026-03-01T09:30:00.123Z';

function read(employees: unknown, date = 'Sun, 01 Mar 2026 10:00:00 GMT') {
  if (!('read' in changedEmployees)) throw new Error('It is not read.');
  return changedEmployees.read(
    { status: 200, headers: { date }, body: { latest: SINCE, employees } },
    { since: SINCE },
  );
}

const entry = (id: string, action: string, lastChanged: string) => ({ [id]: { id, action, lastChanged } });

describe('what BambooHR tells of changed employees', () => {
  it('is asked for with a time without fractions', () => {
    if (!('request' in changedEmployees)) throw new Error('It is unknown here.');
    expect(changedEmployees.request({ since: SINCE }, {}).query).to.deep.equal({ since: '2026-03-01T09:30:00Z' });
  });

  it('has words of its own for what happened', () => {
    const at = '2026-03-01T09:31:00+00:00';
    const reported = read({
      ...entry('3', 'Inserted', at),
      ...entry('4', 'Updated', at),
      ...entry('5', 'Deleted', at),
    });
    expect(reported.changes).to.deep.equal([
      { id: '3', action: 'created', at },
      { id: '4', action: 'updated', at },
      { id: '5', action: 'deleted', at },
    ]);
    expect(read(entry('6', 'Merged', at)).changes).to.deep.equal([{ id: '6', action: 'unknown', at }]);
  });

  it('is an empty list where nothing changed', () => {
    expect(read([])).to.deep.equal({ changes: [] });
  });

  it('is left for the next time where more may happen in its second', () => {
    const settled = entry('3', 'Updated', '2026-03-01T09:59:57+00:00');
    const open = entry('4', 'Updated', '2026-03-01T02:59:58-07:00');
    expect(read({ ...settled, ...open }).changes.map(({ id }) => id)).to.deep.equal(['3']);
  });
});
