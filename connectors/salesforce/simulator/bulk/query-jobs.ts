import { type Call, Fault, json, type Routes, type SimulatedResponse } from '#connector/simulator';
import { type Found, type QueryEngine, takeRows } from '../query.ts';
import { parseStatement } from '../statement.ts';
import { type CsvStyle, printRow, respondWithCsv } from './csv.ts';
import {
  badJob,
  badState,
  createJobs,
  type Job,
  type JobContent,
  type JobOffice,
  readStyle,
  readWord,
  showJob,
} from './jobs.ts';

const ROOT = '/services/data/{version}/jobs/query';

interface Query extends JobContent {
  readonly found: Found;
}

/** Creates the routes of query jobs of Bulk API 2.0. */
export function createQueryJobs(office: JobOffice, { find }: QueryEngine): Routes {
  const jobs = createJobs<Query>(office, { root: ROOT, jobType: 'V2Query' });
  return {
    ...jobs.routes,
    [`POST ${ROOT}`]: (call) => {
      const body = call.body.object();
      const operation = readWord('operation', body.operation, ['query', 'queryAll']);
      if (typeof body.query !== 'string') throw badJob('A query has to be specified');
      const found = find(parseStatement(body.query, true), operation === 'queryAll');
      assertCsv(found);
      const job = jobs.create(call, { operation, object: found.object.name, ...readStyle(body) }, createQuery(found));
      jobs.queue(job);
      return json(showJob(job, 'UploadComplete'));
    },
    [`GET ${ROOT}/{id}/results`]: (call) => {
      const job = jobs.get(call);
      const state = jobs.stateOf(job);
      if (state !== 'JobComplete') throw badState(`Results of a Job in the state ${state} are not available`);
      // "You must use the same API version to get query results that you used to create the query."
      if (call.params.version !== `v${job.version}`) {
        throw new Fault(409, 'API_ERROR', `The job was created with API version ${job.version}`);
      }
      return respondWithResults(job, call, office.pace().setSize);
    },
  };
}

function createQuery(found: Found): Query {
  let numberRecordsProcessed = 0;
  return {
    found,
    bytes: 0,
    total: () => found.rows.length,
    advance: (until) => {
      numberRecordsProcessed = until;
    },
    reported: () => ({ numberRecordsProcessed }),
  };
}

/**
 * Asserts that CSV can contain the fields.
 * @throws Fault 400
 */
function assertCsv({ fields }: Found): void {
  for (const { type } of fields) {
    if (type === 'address' || type === 'location')
      throw new Fault(400, 'API_ERROR', 'Selecting compound data not supported in Bulk Query');
    if (type === 'base64') throw new Fault(400, 'FEATURENOTENABLED', 'Binary fields not supported');
  }
}

function respondWithResults({ terms, content: { found } }: Job<Query>, call: Call, usual: number): SimulatedResponse {
  const start = readPosition(call.query.get('locator'), found.rows.length);
  const most = call.query.get('maxRecords') ?? String(usual);
  if (!/^[1-9]\d{0,9}$/.test(most)) throw badJob(`maxRecords: ${most} is no number of records`);
  const end = Math.min(start + Number(most), found.rows.length);
  const next = call.isStuck ? start : end;
  return respondWithCsv(call, printSet(found, terms, start, end), {
    'sforce-locator': next < found.rows.length ? Buffer.from(String(next)).toString('base64url') : 'null',
    'sforce-numberofrecords': String(end - start),
  });
}

/**
 * Reads a locator, which is base64 of a number as documented: `MTAwMDA` is 10000.
 * @throws Fault 400
 */
function readPosition(locator: string | null, last: number): number {
  const text = locator === null ? '0' : Buffer.from(locator, 'base64url').toString();
  if (/^\d{1,15}$/.test(text) && Number(text) <= last) return Number(text);
  throw new Fault(400, 'INVALID_QUERY_LOCATOR', 'invalid query locator');
}

const ROWS_A_PIECE = 500;

/** Prints a set of results. Each set begins with the header. */
function* printSet({ fields, rows }: Found, style: CsvStyle, start: number, end: number): Generator<string> {
  yield printRow(
    fields.map(({ name }) => name),
    style,
  );
  const print = (row: Parameters<(typeof fields)[number]['read']>[0]) =>
    printRow(
      fields.map(({ type, read }) => {
        const value = read(row);
        return value === null ? '' : (WRITERS[type] ?? String)(value);
      }),
      style,
    );
  for (let at = start; at < end; at += ROWS_A_PIECE) {
    yield takeRows(rows, at, Math.min(at + ROWS_A_PIECE, end))
      .map(print)
      .join('');
  }
}

/** Writers of values as texts. Values of other types stay unchanged. */
const WRITERS: Readonly<Record<string, (value: unknown) => string>> = {
  datetime: (value) => `${String(value).slice(0, 23)}Z`,
  double: writeDouble,
  currency: writeDouble,
  percent: writeDouble,
};

/** Prints a double as Java does: always with a fraction, and with an exponent from ten million on and below a thousandth. */
function writeDouble(value: unknown): string {
  const number = Number(value);
  const size = Math.abs(number);
  if (size !== 0 && (size >= 1e7 || size < 1e-3)) {
    const [digits = '', power = ''] = number.toExponential().split('e');
    return `${digits.includes('.') ? digits : `${digits}.0`}E${Number(power)}`;
  }
  return Number.isInteger(number) ? `${number}.0` : String(number);
}
