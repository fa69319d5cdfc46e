import { type Answer, type Call, empty, Fault, json, type Routes } from '#connector/simulator';
import { type Found, type QueryEngine, takeRows } from '../query.ts';
import { type FieldSchema, readField } from '../schema.ts';
import { answerCsv, type CsvStyle, printRow } from './csv.ts';
import {
  badJob,
  badState,
  createJobs,
  type Job,
  type JobOffice,
  readPlace,
  readStyle,
  readWord,
  showJob,
  showProgress,
  type Work,
  writePlace,
} from './jobs.ts';

const ROOT = '/services/data/{version}/jobs/query';
const TYPE = 'V2Query';

interface Query extends Work {
  readonly found: Found;
}

/** Bulk API 2.0, query jobs. */
export function createQueryJobs(office: JobOffice, queries: QueryEngine): Routes {
  const jobs = createJobs<Query>(office, TYPE);
  const show = (job: Job<Query>) => ({ ...showJob(job, jobs.stateOf(job)), ...showProgress(job, TYPE) });
  return {
    [`POST ${ROOT}`]: (call) => {
      const body = call.body.object();
      const operation = readWord('operation', body.operation, ['query', 'queryAll']);
      if (typeof body.query !== 'string') throw badJob('A query has to be specified');
      const found = queries.findAll(body.query, { includeDeleted: operation === 'queryAll' });
      assertCsv(found);
      const job = jobs.create(call, { operation, object: found.object, ...readStyle(body) }, createQuery(found));
      jobs.queue(job);
      const { lineEnding, columnDelimiter } = job.terms;
      return json({ ...showJob(job, 'UploadComplete'), lineEnding, columnDelimiter });
    },
    [`GET ${ROOT}`]: (call) => json(jobs.list(call, show)),
    [`GET ${ROOT}/{id}`]: (call) => json(show(jobs.get(call))),
    [`PATCH ${ROOT}/{id}`]: (call) => {
      const job = jobs.get(call);
      readWord('state', call.body.object().state, ['Aborted']);
      jobs.abort(job);
      return json(showJob(job, jobs.stateOf(job)));
    },
    [`DELETE ${ROOT}/{id}`]: (call) => {
      jobs.remove(jobs.get(call), ['JobComplete', 'Aborted', 'Failed']);
      return empty();
    },
    [`GET ${ROOT}/{id}/results`]: (call) => {
      const job = jobs.get(call);
      const state = jobs.stateOf(job);
      if (state !== 'JobComplete') throw badState(`Results of a Job in the state ${state} are not available`);
      assertVersion(job, call);
      return answerResults(job, call, office.setSize());
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
    told: () => ({ numberRecordsProcessed, isPkChunkingSupported: true }),
  };
}

/** @throws Fault 400 */
function assertCsv({ fields }: Found): void {
  for (const [, { type }] of fields) {
    if (type === 'address' || type === 'location')
      throw new Fault(400, 'API_ERROR', 'Selecting compound data not supported in Bulk Query');
    if (type === 'base64') throw new Fault(400, 'FEATURENOTENABLED', 'Binary fields not supported');
  }
}

/** "You must use the same API version to get query results that you used to create the query." */
function assertVersion({ version }: Job, { params }: Call): void {
  if (params.version === `v${version}`) return;
  throw new Fault(409, 'API_ERROR', `The job was created with API version ${version}`);
}

function answerResults({ terms, content: { found } }: Job<Query>, call: Call, usual: number): Answer {
  const start = readPlace(call.query.get('locator'));
  if (start > found.rows.length) throw new Fault(400, 'INVALID_QUERY_LOCATOR', 'invalid query locator');
  const end = Math.min(start + readMost(call.query.get('maxRecords'), usual), found.rows.length);
  const next = call.isStuck ? start : end;
  return answerCsv(call, printSet(found, terms, start, end), {
    'sforce-locator': next < found.rows.length ? writePlace(next) : 'null',
    'sforce-numberofrecords': String(end - start),
  });
}

const ROWS_A_PIECE = 500;

/** Each set begins with the header. */
function* printSet(found: Found, style: CsvStyle, start: number, end: number): Generator<string> {
  const print = printerOf(found, style);
  yield printRow(
    found.fields.map(([path]) => path),
    style,
  );
  for (let at = start; at < end; at += ROWS_A_PIECE) {
    yield takeRows(found.rows, at, Math.min(at + ROWS_A_PIECE, end))
      .map(print)
      .join('');
  }
}

function readMost(text: string | null, usual: number): number {
  if (text === null) return usual;
  if (!/^[1-9]\d{0,9}$/.test(text)) throw badJob(`maxRecords: ${text} is no number of records`);
  return Number(text);
}

function printerOf({ fields }: Found, style: CsvStyle) {
  const writers = fields.map(([path, field]) => [path, field, WRITERS[field.type] ?? String] as const);
  return (row: Parameters<typeof readField>[0]) =>
    printRow(
      writers.map(([path, field, write]) => {
        const value = readField(row, path, field);
        return value === null ? '' : write(value);
      }),
      style,
    );
}

/** As texts; the rest is as it is. */
const WRITERS: Readonly<Record<FieldSchema['type'], (value: unknown) => string>> = {
  datetime: (value) => `${String(value).slice(0, 23)}Z`,
  double: (value) => writeDouble(Number(value)),
  currency: (value) => writeDouble(Number(value)),
  percent: (value) => writeDouble(Number(value)),
};

/** As Java writes doubles: always with a fraction, and from ten million on and below a thousandth by a power of ten. */
export function writeDouble(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-3)) {
    const [digits = '', power = ''] = value.toExponential().split('e');
    return `${digits.includes('.') ? digits : `${digits}.0`}E${Number(power)}`;
  }
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
