import { type NativeBulk, type NativeQuery, path } from '#connector';
import { countOperation, statementOf, verbOf } from './query.ts';

/** The data types that no job answers, or not as a query does. Sources: "Create a Query Job" on compound fields; README.md on the others. */
const WITHOUT = ['address', 'location', 'complexvalue', 'base64', 'anyType'] as const;

/**
 * A job of Bulk API 2.0. Sources: Bulk API 2.0 and Bulk API Developer Guide, "Create a Query Job", "Get Information About a Query Job", "Get
 * Results for a Query Job", "Abort a Query Job", "Delete a Query Job".
 */
const JOB = {
  // Five pages: the job takes four calls at least, and its turn among other jobs.
  fromRows: 10_000,
  withoutTypes: WITHOUT,
  id: ['id'],
  status: (id) => ({ path: path`/jobs/query/${id}` }),
  state: ['state'],
  states: { running: ['UploadComplete', 'InProgress'], done: ['JobComplete'], failed: ['Failed', 'Aborted'] },
  message: ['errorMessage'],
  abort: (id) => ({ method: 'PATCH', path: path`/jobs/query/${id}`, json: { state: 'Aborted' } }),
  remove: (id) => ({ method: 'DELETE', path: path`/jobs/query/${id}` }),
  pages: {
    format: 'csv',
    size: 5000,
    request: ({ id, cursor, limit }) => ({
      path: path`/jobs/query/${id}/results`,
      query: { locator: cursor, maxRecords: limit },
      headers: { accept: 'text/csv' },
    }),
    next: { header: 'sforce-locator' },
    end: ['null'],
    rowCount: { header: 'sforce-numberofrecords' },
  },
} as const satisfies Omit<NativeQuery<string>, 'count' | 'start'>;

export function bulkOf(objectName: string): NativeBulk<string> {
  return {
    query: {
      ...JOB,
      count: countOperation(objectName),
      // Without an order, for which Salesforce would give up working on parts of the object at a time.
      start: (input) => ({
        method: 'POST',
        path: '/jobs/query',
        json: {
          operation: verbOf(input),
          query: statementOf(objectName, input),
          contentType: 'CSV',
          columnDelimiter: 'COMMA',
          lineEnding: 'LF',
        },
      }),
    },
  };
}
