import { defined, type IngestAction, type NativeIngest, type NativeQuery, type ObjectSpec, path } from '#connector';
import { countOperation, ID, statementOf, verbOf } from './query.ts';

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

export function bulkQueryOf(objectName: string): NativeQuery<string> {
  return {
    ...JOB,
    count: countOperation(objectName),
    // Without an order, for which Salesforce would give up working on parts of the object at a time.
    start: (input) => ({
      method: 'POST',
      path: '/jobs/query',
      json: { operation: verbOf(input), query: statementOf(objectName, input), ...FORM },
    }),
  };
}

const FORM = { contentType: 'CSV', columnDelimiter: 'COMMA', lineEnding: 'LF' } as const;

/** Salesforce's words. */
const OPERATIONS: Readonly<Record<IngestAction, string>> = {
  create: 'insert',
  update: 'update',
  upsert: 'upsert',
  delete: 'delete',
};

/**
 * A job of Bulk API 2.0 that writes. Sources: Bulk API 2.0 and Bulk API Developer Guide, "Create a Job", "Upload Job Data", "Upload Complete or Abort a Job", "Get Job
 * Information", "Get Job Successful Record Results", "Get Job Failed Record Results", "Get Job Unprocessed Record Results", "Valid CSV Record Rows".
 */
const INGEST = {
  // Six calls and the wait for its turn, against two for each record.
  fromRows: 500,
  // "Salesforce creates a separate batch for every 10,000 records."
  mostRows: 10_000,
  mostBytes: 4_000_000,
  withoutTypes: WITHOUT,
  // "Empty field values are ignored when you update records. To set a field value to null, use a field value of #N/A."
  nullCell: '#N/A',
  // An empty text is null to Salesforce.
  emptyCell: '#N/A',
  id: ['id'],
  send: (id, csv) => ({ method: 'PUT', path: path`/jobs/ingest/${id}/batches`, csv }),
  close: (id) => ({ method: 'PATCH', path: path`/jobs/ingest/${id}`, json: { state: 'UploadComplete' } }),
  status: (id) => ({ path: path`/jobs/ingest/${id}` }),
  state: ['state'],
  states: {
    open: ['Open'],
    running: ['UploadComplete', 'InProgress'],
    done: ['JobComplete'],
    failed: ['Failed', 'Aborted'],
  },
  message: ['errorMessage'],
  abort: (id) => ({ method: 'PATCH', path: path`/jobs/ingest/${id}`, json: { state: 'Aborted' } }),
  remove: (id) => ({ method: 'DELETE', path: path`/jobs/ingest/${id}` }),
  results: {
    succeeded: {
      request: (id) => ({ path: path`/jobs/ingest/${id}/successfulResults`, headers: { accept: 'text/csv' } }),
      id: 'sf__Id',
      created: 'sf__Created',
    },
    failed: {
      request: (id) => ({ path: path`/jobs/ingest/${id}/failedResults`, headers: { accept: 'text/csv' } }),
      error: 'sf__Error',
      answer: answerOf,
    },
    unprocessed: {
      request: (id) => ({ path: path`/jobs/ingest/${id}/unprocessedrecords`, headers: { accept: 'text/csv' } }),
    },
  },
} as const satisfies Omit<NativeIngest, 'actions' | 'start'>;

/** `REQUIRED_FIELD_MISSING:Required fields are missing: [Name]:Name --` is what a call for the record alone answers in three members. */
function answerOf(error: string) {
  const [, errorCode, message = error, fields = ''] = /^([A-Z_]+):(.*):(.*)--$/s.exec(error) ?? [];
  return { status: 400, body: [{ errorCode, message, fields: fields.split(/[\s,]+/).filter((name) => name !== '') }] };
}

interface Abilities extends Pick<ObjectSpec, 'create' | 'update' | 'remove'> {
  /** Fields whose values find one record in an upsert, beside the id. */
  readonly externalIds: readonly string[];
}

/** @returns undefined for an object that is only read */
export function bulkIngestOf(
  objectName: string,
  { create, update, remove, externalIds }: Abilities,
): NativeIngest | undefined {
  const actions: NativeIngest['actions'] = defined({
    create: create && [],
    update: update && [ID],
    upsert: create && update && [ID, ...externalIds],
    delete: remove && [ID],
  });
  if (Object.keys(actions).length === 0) return undefined;
  return {
    ...INGEST,
    actions,
    start: ({ action, key }) => ({
      method: 'POST',
      path: '/jobs/ingest',
      json: {
        operation: OPERATIONS[action],
        object: objectName,
        ...FORM,
        ...(action === 'upsert' && { externalIdFieldName: key }),
      },
    }),
  };
}
