import {
  csvRows,
  defined,
  type IngestAction,
  type IngestResult,
  type IngestRows,
  json,
  type NativeEnd,
  type NativeIngest,
  type NativeLook,
  type NativeQuery,
  type ObjectSpec,
  type ProviderRequest,
  type ProviderResponse,
  type PushedField,
  path,
} from '#connector';
import { countOperation, ID, statementOf, verbOf } from './query.ts';

/**
 * Types that jobs do not return, or return in another format than a query. Sources: "Create a Query Job" on compound fields; README.md on
 * the others.
 */
const WITHOUT = ['address', 'location', 'complexvalue', 'base64', 'anyType'] as const;

const FORM = { contentType: 'CSV', columnDelimiter: 'COMMA', lineEnding: 'LF' } as const;
const AS_CSV = { accept: 'text/csv' } as const;

const KINDS: Readonly<Record<string, Exclude<NativeLook['kind'], 'failed'>>> = {
  Open: 'open',
  UploadComplete: 'running',
  InProgress: 'running',
  JobComplete: 'done',
};
const FAILED: readonly string[] = ['Failed', 'Aborted'];

function readId({ body }: ProviderResponse): string {
  return json.key(json.at(body, 'id'), 'the id of the job');
}

function readLook({ body }: ProviderResponse): NativeLook {
  const state = json.text(json.at(body, 'state'), 'the state of the job');
  if (FAILED.includes(state))
    return defined({ kind: 'failed', state, message: json.findText(json.at(body, 'errorMessage')) });
  const kind = Object.hasOwn(KINDS, state) ? KINDS[state] : undefined;
  if (kind === undefined) throw new Error(`The job has the unknown state ${state}.`);
  return { kind };
}

/**
 * Returns the requests that end a job. Sources: Bulk API 2.0 and Bulk API Developer Guide, "Abort a Query Job", "Delete a Query Job",
 * "Upload Complete or Abort a Job", "Delete a Job".
 */
function endOf(what: 'query' | 'ingest') {
  return ({ id, isDone, isKept = false }: NativeEnd): readonly ProviderRequest[] => {
    const jobPath = path`/jobs/${what}/${id}`;
    return [
      ...(isDone ? [] : [{ method: 'PATCH', path: jobPath, json: { state: 'Aborted' } } as const]),
      ...(isKept ? [] : [{ method: 'DELETE', path: jobPath } as const]),
    ];
  };
}

/**
 * Returns the bulk query of an object, which is a job of Bulk API 2.0. Sources: Bulk API 2.0 and Bulk API Developer Guide, "Create a Query
 * Job", "Get Information About a Query Job", "Get Results for a Query Job".
 */
export function bulkQueryOf(objectName: string): NativeQuery<string> {
  return {
    // This number of rows is five pages. A job takes at least four calls, and waits in a queue with other jobs.
    fromRows: 10_000,
    pageSize: 5000,
    withoutTypes: WITHOUT,
    count: countOperation(objectName),
    // The statement has no order. With one, Salesforce would not process parts of the object separately.
    start: {
      request: (input) => ({
        method: 'POST',
        path: '/jobs/query',
        json: { operation: verbOf(input), query: statementOf(objectName, input), ...FORM },
      }),
      read: readId,
    },
    look: { request: ({ id }) => ({ path: path`/jobs/query/${id}` }), read: readLook },
    read: {
      request: ({ id, cursor, limit }) => ({
        path: path`/jobs/query/${id}/results`,
        query: { locator: cursor, maxRecords: limit },
        headers: AS_CSV,
      }),
      read: ({ headers, body }, { fields }) => {
        const next = json.findText(headers['sforce-locator']);
        const count = json.count(headers['sforce-numberofrecords'], 'the number of its rows');
        return { records: recordsIn(body, fields, count), ...(next !== 'null' && { next }) };
      },
    },
    end: endOf('query'),
  };
}

/**
 * Converts rows of CSV to records as JSON contains them. An empty text becomes null. The fields themselves read numbers from texts.
 * @throws Error when a column is missing, or when the number of rows differs from that in the header
 */
function* recordsIn(body: unknown, fields: readonly PushedField[], count: number): Generator<unknown, void> {
  let found = 0;
  for (const row of tableIn(body)) {
    found++;
    yield Object.fromEntries(
      fields.map(({ native, type }) => {
        const text = row.get(native);
        if (text === undefined) throw new Error(`The rows of the job lack the column ${native}.`);
        return [native, type === 'boolean' && /^(?:true|false)$/.test(text) ? text === 'true' : text || null];
      }),
    );
  }
  if (found !== count) throw new Error(`The page of the job has ${found} rows, and its header says ${count}.`);
}

/**
 * Reads the table of a response.
 * @throws Error when the response is not CSV
 */
function* tableIn(body: unknown): Generator<ReadonlyMap<string, string>, void> {
  if (body === undefined) return;
  if (typeof body !== 'string') throw new Error('The rows of the job are not CSV.');
  let names: readonly string[] | undefined;
  for (const cells of csvRows(body)) {
    if (names === undefined) names = cells;
    else if (cells.length === names.length) yield new Map(names.map((name, at) => [name, cells[at] ?? '']));
    else throw new Error(`A row of the job has ${cells.length} values in ${names.length} columns.`);
  }
}

/** Salesforce's names of the actions. */
const OPERATIONS: Readonly<Record<IngestAction, string>> = {
  create: 'insert',
  update: 'update',
  upsert: 'upsert',
  delete: 'delete',
};

interface Abilities extends Pick<ObjectSpec, 'create' | 'update' | 'remove'> {
  /** Fields in addition to the id whose values identify a record in an upsert. */
  readonly externalIds: readonly string[];
}

/**
 * Returns the bulk ingest of an object, which is a writing job of Bulk API 2.0. Sources: Bulk API 2.0 and Bulk API Developer Guide, "Create
 * a Job", "Upload Job Data", "Upload Complete or Abort a Job", "Get Job Information", "Get Job Successful Record Results", "Get Job Failed
 * Record Results", "Get Job Unprocessed Record Results".
 * @returns undefined for an object that cannot be written
 */
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
    // A job takes six calls and waits in a queue. Without a job, each record takes two calls.
    fromRows: 500,
    // "Salesforce creates a separate batch for every 10,000 records."
    mostRows: 10_000,
    mostBytes: 4_000_000,
    withoutTypes: WITHOUT,
    withoutTexts: [NULL],
    actions,
    start: {
      run: async ({ send }, { action, key, rows, keep }) => {
        const operation = OPERATIONS[action];
        const found = action === 'upsert' ? { externalIdFieldName: key } : {};
        const terms = { operation, object: objectName, ...FORM, ...found };
        const id = readId(await send({ method: 'POST', path: '/jobs/ingest', json: terms }));
        await keep(id);
        const file = { path: path`/jobs/ingest/${id}/batches`, csv: printCsv(rows), idempotent: false };
        await send({ method: 'PUT', ...file });
        await send({ method: 'PATCH', path: path`/jobs/ingest/${id}`, json: { state: 'UploadComplete' } });
      },
    },
    look: { request: ({ id }) => ({ path: path`/jobs/ingest/${id}` }), read: readLook },
    read: {
      run: async ({ send }, { id, rows }) => {
        const lists: (readonly [OutcomeOf, unknown])[] = [];
        for (const [name, outcomeOf] of Object.entries(RESULTS)) {
          const { body } = await send({ path: path`/jobs/ingest/${id}/${name}`, headers: AS_CSV });
          lists.push([outcomeOf, body]);
        }
        return resultsIn(lists, rows);
      },
    },
    end: endOf('ingest'),
  };
}

/**
 * The value that stands for null. Source: "To set a field value to null, use a field value of #N/A. Empty field values are ignored when you
 * update records." To Salesforce, an empty text is null.
 */
const NULL = '#N/A';

function cellOf(value: unknown): string {
  return value === undefined ? '' : value === null || value === '' ? NULL : String(value);
}

/** Returns the columns that at least one row has, and the cells of the rows in these columns. */
function tableOf(rows: IngestRows['rows']) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return { columns, cells: rows.map((row) => columns.map((name) => cellOf(row[name]))) };
}

function printCsv(rows: IngestRows['rows']): string {
  const { columns, cells } = tableOf(rows);
  const print = (cell: string) => (cell === '' ? '' : `"${cell.replaceAll('"', '""')}"`);
  return [columns, ...cells].map((row) => `${row.map(print).join(',')}\n`).join('');
}

type ResultRow = ReadonlyMap<string, string>;
type OutcomeOf = (row: ResultRow) => IngestResult;

/** The lists of results by name. Together they contain all rows of a job. */
const RESULTS: Readonly<Record<string, OutcomeOf>> = {
  successfulResults: (row) => ({
    kind: 'written',
    id: json.key(row.get('sf__Id'), 'the id of a record'),
    isNew: row.get('sf__Created') === 'true',
  }),
  failedResults: (row) => ({
    kind: 'failed',
    response: responseOf(json.text(row.get('sf__Error'), 'the error of a row')),
  }),
  unprocessedrecords: () => ({ kind: 'unprocessed' }),
};

/**
 * Parses the error of a row into the response to a call for a single record, which has three members: `REQUIRED_FIELD_MISSING:Required
 * fields are missing: [Name]:Name --`.
 */
function responseOf(error: string) {
  const [, errorCode, message = error, fields = ''] = /^([A-Z_]+):(.*):(.*)--$/s.exec(error) ?? [];
  return { status: 400, body: [{ errorCode, message, fields: fields.split(/[\s,]+/).filter((name) => name !== '') }] };
}

/**
 * Assigns the results to rows. Results have no order, and identify a row only by its content. Among rows with the same content, any
 * assignment is as correct as another, so the first result belongs to the first of them.
 */
function* resultsIn(
  lists: readonly (readonly [OutcomeOf, unknown])[],
  rows: IngestRows['rows'],
): Generator<IngestResult, void> {
  const { columns, cells } = tableOf(rows);
  const rowsByContent = Map.groupBy(cells.keys(), (row) => JSON.stringify(cells[row]));
  for (const same of rowsByContent.values()) same.reverse();
  for (const [outcomeOf, body] of lists) {
    for (const found of tableIn(body)) {
      const content = JSON.stringify(columns.map((name) => found.get(name) ?? ''));
      yield { row: rowsByContent.get(content)?.pop(), ...outcomeOf(found) };
    }
  }
}
