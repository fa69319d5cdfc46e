import { expect } from 'chai';
import { parts, path } from '#connector';

const comments = parts({
  about: { label: 'Comments' },
  whole: { field: 'issueId', label: 'Id of the issue' },
  id: { separator: '-', own: /^\d+$/ },
  fields: { text: { type: 'string', createable: true } },
  path: (issue, own) => path`/issues/${issue}/comments` + (own === undefined ? '' : path`/${own}`),
  rows: 'comments',
  paging: { kind: 'offset', offset: 'offset', size: 'limit', max: 10 },
  change: 'PUT',
});
const pathOf = (id: string) => {
  const { get } = comments;
  return get !== undefined && 'request' in get ? get.request({ id, fields: [] }, {}).path : undefined;
};

describe('parts of a record', () => {
  it('are found by the id of the record and their own', () => {
    expect(pathOf('7-9')).to.equal('/issues/7/comments/9');
    expect(pathOf('EX-1-9')).to.equal('/issues/EX-1/comments/9');
  });

  it('are not found by an id of another form', () => {
    for (const id of ['', '7', '7-', '-9', '7-x', 'EX/9']) {
      expect(() => pathOf(id), id).to.throw('There is no such record: its id is `<issueId>-<id>`.');
    }
  });

  it('have both ids in a new record, and the id of their record only in its path', () => {
    const { create } = comments;
    if (create === undefined || !('request' in create)) throw new Error('Two halves were expected.');
    const input = { values: { issueId: 'EX-1', text: 'x' }, fields: [] };
    expect(create.request(input, {})).to.deep.include({ path: '/issues/EX-1/comments', json: { text: 'x' } });
    const body = { id: '9', text: 'x' };
    expect(create.read({ status: 200, headers: {}, body }, input)).to.deep.equal({
      ...body,
      issueId: 'EX-1',
      id: 'EX-1-9',
    });
  });
});
