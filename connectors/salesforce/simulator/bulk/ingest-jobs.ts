import { gunzipSync } from 'node:zlib';
import { type Answer, type Call, createBody, empty, Fault, json, type Routes } from '#connector/simulator';
import type { Dataset } from '../rows.ts';
import { OBJECTS, type ObjectSchema } from '../schema.ts';
import { answerCsv, delimiterOf, endOf, printRow } from './csv.ts';
import {
  badJob,
  badState,
  createJobs,
  type Job,
  type JobOffice,
  type JobTerms,
  readStyle,
  readWord,
  showJob,
  showProgress,
} from './jobs.ts';
import { createLoad, type Load, type Outcome } from './load.ts';

const ROOT = '/services/data/{version}/jobs/ingest';
const TYPE = 'V2Ingest';
/** Documented. */
export const MOST_BYTES = 150_000_000;
const MOST_INLINE_CHARACTERS = 100_000;

/** Bulk API 2.0, ingest jobs. */
export function createIngestJobs(office: JobOffice, dataset: Dataset): Routes {
  const jobs = createJobs<Load>(office, TYPE);
  const show = (job: Job<Load>) => ({ ...showJob(job, jobs.stateOf(job)), ...showProgress(job, TYPE) });

  function create(call: Call, body: Readonly<Record<string, unknown>>): Job<Load> {
    const terms = readTerms(body);
    return jobs.create(call, terms, createLoad(dataset, terms));
  }

  function close(job: Job<Load>): void {
    if (jobs.stateOf(job) !== 'Open') throw badState(`Closing a Job in the state ${jobs.stateOf(job)} not allowed`);
    const uploads = job.content.uploads();
    if (uploads === 0) throw badJob(`No content was uploaded for job: <${job.id}>`);
    if (uploads > 1) throw badJob(foundMultipleContents(job.id));
    jobs.queue(job);
  }

  const results =
    (print: (job: Job<Load>) => Iterable<string>): Routes[string] =>
    (call) => {
      const job = jobs.get(call);
      if (job.ended === undefined) {
        throw badState(`Results of a Job in the state ${jobs.stateOf(job)} are not available`);
      }
      return answerCsv(call, print(job));
    };

  return {
    [`POST ${ROOT}`]: async (call) => {
      if (call.body.type !== 'multipart/form-data') return answerCreated(create(call, call.body.object()));
      const form = await call.body.multipart();
      const content = await textOf(form.get('content'));
      if (content.length > MOST_INLINE_CHARACTERS) {
        throw badJob(`The content of a multipart request has at most ${MOST_INLINE_CHARACTERS} characters`);
      }
      const job = create(call, createBody(Buffer.from(await textOf(form.get('job')))).object());
      job.content.put(content);
      jobs.queue(job);
      return json(showJob(job, 'UploadComplete'));
    },
    [`GET ${ROOT}`]: (call) => json(jobs.list(call, show)),
    [`GET ${ROOT}/{id}`]: (call) => json(show(jobs.get(call))),
    [`PUT ${ROOT}/{id}/batches`]: (call) => {
      const job = jobs.get(call);
      if (jobs.stateOf(job) !== 'Open') throw badState(`Job: ${job.id} is not Open for data`);
      if (call.body.type !== 'text/csv') throw badJob(`Content-Type: ${call.body.type} is not text/csv`);
      job.content.put(unpack(call));
      return empty(201);
    },
    [`PATCH ${ROOT}/{id}`]: (call) => {
      const job = jobs.get(call);
      const state = readWord('state', call.body.object().state, ['UploadComplete', 'Aborted']);
      if (state === 'Aborted') jobs.abort(job);
      else close(job);
      return json(showJob(job, state === 'Aborted' ? 'Aborted' : 'UploadComplete'));
    },
    [`DELETE ${ROOT}/{id}`]: (call) => {
      jobs.remove(jobs.get(call), ['UploadComplete', 'JobComplete', 'Aborted', 'Failed']);
      return empty();
    },
    [`GET ${ROOT}/{id}/successfulResults`]: results(printSuccessful),
    [`GET ${ROOT}/{id}/failedResults`]: results(printFailed),
    [`GET ${ROOT}/{id}/unprocessedrecords`]: results(printUnprocessed),
  };
}

function answerCreated(job: Job<Load>): Answer {
  const { lineEnding, columnDelimiter } = job.terms;
  const contentUrl = `services/data/v${job.version}/jobs/ingest/${job.id}/batches`;
  return json({ ...showJob(job, 'Open'), contentUrl, lineEnding, columnDelimiter });
}

async function textOf(part: ReturnType<FormData['get']>): Promise<string> {
  if (part === null) throw badJob('A multipart request has the parts job and content');
  return typeof part === 'string' ? part : part.text();
}

function unpack({ headers, body }: Call): string {
  if (headers['content-encoding'] !== 'gzip') return body.text();
  try {
    return gunzipSync(body.bytes, { maxOutputLength: MOST_BYTES }).toString('utf8');
  } catch {
    throw new Fault(400, 'INVALIDBATCH', 'The content is no gzip of at most 150 MB');
  }
}

/** The misspelling is Salesforce's. */
function foundMultipleContents(id: string): string {
  return `Found multipe contents for job: <${id}>, please 'Close' / 'Abort' / 'Delete' the current Job then create a new Job and make sure you only do 'PUT' once on a given Job.`;
}

type Ability = keyof NonNullable<ObjectSchema['abilities']>;

const ABILITIES: Readonly<Record<string, readonly Ability[]>> = {
  insert: ['createable'],
  update: ['updateable'],
  upsert: ['createable', 'updateable'],
  delete: ['deletable'],
};

/** @throws Fault 400 */
function readTerms(body: Readonly<Record<string, unknown>>): JobTerms {
  const operation = readWord('operation', body.operation, [...Object.keys(ABILITIES), 'hardDelete']);
  if (operation === 'hardDelete') {
    const message =
      'hardDelete operation requires special user profile permission, please contact your system administrator';
    throw new Fault(400, 'FEATURENOTENABLED', message);
  }
  const name = typeof body.object === 'string' ? body.object : '';
  const object = Object.hasOwn(OBJECTS, name) ? OBJECTS[name] : undefined;
  if (object === undefined || ABILITIES[operation]?.some((ability) => object.abilities?.[ability] === false)) {
    throw new Fault(400, 'INVALIDENTITY', `Entity '${name}' is not supported by the Bulk API`);
  }
  return { operation, object: name, ...readStyle(body), ...readKey(body, { operation, name, object }) };
}

interface Named {
  readonly operation: string;
  readonly name: string;
  readonly object: ObjectSchema;
}

function readKey({ externalIdFieldName: key }: Readonly<Record<string, unknown>>, { operation, name, object }: Named) {
  if (operation !== 'upsert') {
    if (key === undefined || key === null) return {};
    throw badJob(`External ID can only be specified for upsert, not for ${operation}`);
  }
  if (typeof key !== 'string' || key === '') {
    throw badJob(`External ID was blank for ${name}. An External ID must be specified for upsert.`);
  }
  if (key !== 'Id' && object.fields[key]?.externalId !== true) {
    throw badJob(
      `Field name provided, ${key} does not match an External ID, Salesforce Id, or indexed field for ${name}`,
    );
  }
  return { externalIdFieldName: key };
}

const printSuccessful = printOutcomes('sf__Created', (outcome) =>
  outcome.kind === 'done' ? [outcome.id, String(outcome.created)] : undefined,
);
const printFailed = printOutcomes('sf__Error', (outcome) =>
  outcome.kind === 'failed' ? [outcome.id, outcome.error] : undefined,
);

/** Salesforce's columns, then the values that were sent, under the header that was sent. */
function printOutcomes(second: string, told: (outcome: Outcome) => readonly [string, string] | undefined) {
  return function* ({ terms, content }: Job<Load>): Generator<string> {
    const { cells, text } = headerOf(content);
    const delimiter = delimiterOf(terms);
    yield `"sf__Id"${delimiter}"${second}"${delimiter}${text}${endOf(terms)}`;
    for (const [index, outcome] of content.outcomes.entries()) {
      const values = told(outcome);
      const sent = content.row(index).cells;
      if (values !== undefined) yield printRow([...values, ...cells.map((_, place) => sent[place] ?? '')], terms);
    }
  };
}

/** As they were sent. */
function* printUnprocessed({ terms, content }: Job<Load>): Generator<string> {
  yield headerOf(content).text + endOf(terms);
  if (!isReadable(content)) return;
  for (let index = content.outcomes.length; index < content.total(); index++) {
    yield content.row(index).text + endOf(terms);
  }
}

function headerOf(content: Load): ReturnType<Load['header']> {
  return isReadable(content) ? content.header() : { cells: [], text: '' };
}

/** A file that cannot be read at all failed the job; its rows are not told apart. */
function isReadable(content: Load): boolean {
  try {
    content.header();
    return true;
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}
