import { expect } from 'chai';
import type { NativeIngest, NativeQuery, ObjectSpec } from '../../src/connector/index.ts';
import { findObjectProblems } from '../../src/connector/validate.ts';

const PAGES = {
  format: 'csv',
  size: 100,
  request: () => ({ path: '/jobs/1/rows' }),
  next: { header: 'x-next' },
} as const;

const QUERY: NativeQuery = {
  fromRows: 1000,
  count: { request: () => ({}), read: () => 1 },
  start: () => ({ method: 'POST', path: '/jobs' }),
  id: ['id'],
  status: (id) => ({ path: `/jobs/${id}` }),
  state: ['state'],
  states: { running: ['busy'], done: ['ready'], failed: ['broken', 'stopped'] },
  pages: PAGES,
};

const LIST = { maxPageSize: 10, request: () => ({}), read: () => ({ records: [] }) };

/** As a module that no compiler saw. */
function problemsOf(declared: object, object: Partial<ObjectSpec> = { list: LIST }): readonly string[] {
  const query: NativeQuery = Object.assign({ ...QUERY }, declared);
  return findObjectProblems({ rows: { fields: {}, ...object, bulk: { query } } });
}

describe('a declaration of jobs of a provider', () => {
  it('has no problem when it says all', () => {
    expect(problemsOf({})).to.deep.equal([]);
    expect(problemsOf({ message: ['error', 'text'], withoutTypes: ['address'] })).to.deep.equal([]);
    const json = {
      ...PAGES,
      format: 'json',
      rows: ['rows'],
      next: { member: ['next'] },
      rowCount: { header: 'x-rows' },
    };
    expect(problemsOf({ pages: json })).to.deep.equal([]);
  });

  const PROBLEMS: readonly (readonly [name: string, declared: object, ...problems: readonly string[]])[] = [
    ['fromRows', { fromRows: 0 }, 'has a fromRows that is no whole number from 1'],
    ['count', { count: undefined }, 'has no count, so that nobody knows when it is used'],
    ['start', { start: undefined }, 'has no start'],
    ['id', { id: [] }, 'does not say where the id stands'],
    ['status', { status: undefined }, 'has no status'],
    ['state', { state: undefined }, 'does not say where the state stands'],
    [
      'states',
      { states: { running: ['busy'], done: ['busy'] } },
      "names no state that means 'failed'",
      "has two meanings of the state 'busy'",
    ],
    ['message', { message: [''] }, 'has a message that stands nowhere'],
    ['pages', { pages: undefined }, 'has no pages'],
    ['format', { pages: { ...PAGES, format: 'xml' } }, "has pages of 'xml', which are neither csv nor json"],
    ['size', { pages: { ...PAGES, size: 0.5 } }, 'has a size of pages that is no whole number from 1'],
    ['request', { pages: { ...PAGES, request: undefined } }, 'has no request of a page'],
    ['rows', { pages: { ...PAGES, format: 'json' } }, 'does not say where the rows of a page are'],
    ['rows of CSV', { pages: { ...PAGES, rows: ['rows'] } }, 'says where the rows are of pages that have nothing else'],
    ['next', { pages: { ...PAGES, next: undefined } }, 'does not say where the next page stands'],
    [
      'a header in upper case',
      { pages: { ...PAGES, next: { header: 'X-Next' } } },
      'does not say where the next page stands: headers are in lower case',
    ],
    [
      'a member of CSV',
      { pages: { ...PAGES, next: { member: ['next'] } } },
      'does not say where the next page stands: CSV has no members',
    ],
    ['rowCount', { pages: { ...PAGES, rowCount: { member: [] } } }, 'has a rowCount that stands nowhere'],
  ];
  for (const [name, declared, ...problems] of PROBLEMS) {
    it(`is not used for its ${name}`, () => {
      expect(problemsOf(declared)).to.deep.equal(problems.map((problem) => `rows: bulk.query ${problem}`));
    });
  }

  it('is not used without a list', () => {
    expect(problemsOf({}, {})).to.deep.equal(['rows: bulk.query has no list beside it']);
  });
});

const INGEST: NativeIngest = {
  fromRows: 100,
  mostRows: 1000,
  mostBytes: 1_000_000,
  actions: { create: [], delete: ['id'] },
  nullCell: '#N/A',
  start: () => ({ method: 'POST', path: '/jobs' }),
  send: (id, csv) => ({ method: 'PUT', path: `/jobs/${id}`, csv }),
  close: (id) => ({ method: 'PATCH', path: `/jobs/${id}` }),
  abort: (id) => ({ method: 'DELETE', path: `/jobs/${id}` }),
  id: ['id'],
  status: (id) => ({ path: `/jobs/${id}` }),
  state: ['state'],
  states: { open: ['open'], running: ['busy'], done: ['ready'], failed: ['broken'] },
  results: {
    succeeded: { request: () => ({}), id: 'id', created: 'created' },
    failed: { request: () => ({}), error: 'error' },
    unprocessed: { request: () => ({}) },
  },
};

const WRITES: Partial<ObjectSpec> = {
  create: { run: async () => ({}) },
  remove: { run: async () => undefined },
};

function ingestProblemsOf(declared: object, object: Partial<ObjectSpec> = WRITES): readonly string[] {
  const ingest: NativeIngest = Object.assign({ ...INGEST }, declared);
  return findObjectProblems({ rows: { fields: { id: { type: 'string' } }, ...object, bulk: { ingest } } });
}

describe('a declaration of jobs of a provider that write', () => {
  it('has no problem when it says all', () => {
    expect(ingestProblemsOf({})).to.deep.equal([]);
    expect(ingestProblemsOf({ emptyCell: '#E', withoutTypes: ['base64'], message: ['error'] })).to.deep.equal([]);
  });

  const { results } = INGEST;
  const PROBLEMS: readonly (readonly [name: string, declared: object, ...problems: readonly string[]])[] = [
    ['fromRows', { fromRows: 0 }, 'has a fromRows that is no whole number from 1'],
    ['mostRows', { mostRows: 99 }, 'has a mostRows that is no whole number from fromRows'],
    ['mostBytes', { mostBytes: 16_000_001 }, 'has a mostBytes that is no whole number up to 16000000'],
    ['actions', { actions: {} }, 'takes no action'],
    [
      'unknown action',
      { actions: { create: [], merge: [] } },
      "takes 'merge', which is none of create, update, upsert, delete",
    ],
    [
      'action without a field',
      { actions: { delete: [] } },
      "takes 'delete', and names no field by which records are found",
    ],
    [
      'action that the object has not',
      { actions: { update: ['id'] } },
      "takes 'update', and the object has no such calls for single records beside it",
    ],
    ['nullCell', { nullCell: '' }, 'does not say how no value is written'],
    ['emptyCell', { emptyCell: '' }, 'has an emptyCell that leaves the field as it is'],
    ['start', { start: undefined }, 'has no start'],
    ['send', { send: undefined }, 'has no send'],
    ['close', { close: undefined }, 'has no close'],
    ['abort', { abort: undefined }, 'has no abort'],
    ['id', { id: [] }, 'does not say where the id stands'],
    [
      'states',
      { states: { running: ['busy'], done: ['ready'], failed: ['busy'] } },
      "names no state that means 'open'",
      "has two meanings of the state 'busy'",
    ],
    ['results', { results: undefined }, 'has no results'],
    ['lists', { results: { ...results, unprocessed: {} } }, 'has no request of the rows that are unprocessed'],
    [
      'column of ids',
      { results: { ...results, succeeded: { request: () => ({}) } } },
      'does not say which column has the id of a record',
      'does not say which column tells new records',
    ],
    [
      'column of errors',
      { results: { ...results, failed: { request: () => ({}), error: '' } } },
      'does not say which column has the error of a row',
    ],
  ];
  for (const [name, declared, ...problems] of PROBLEMS) {
    it(`is not used for its ${name}`, () => {
      expect(ingestProblemsOf(declared)).to.deep.equal(problems.map((problem) => `rows: bulk.ingest ${problem}`));
    });
  }
});
