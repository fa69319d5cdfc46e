import { empty, Fault, json, type Routes, type TableRow } from '#connector/simulator';
import type { Organization } from '../organization.ts';
import { OBJECTS, type SObject } from '../schema.ts';
import { printRow, respondWithCsv, signsOf } from './csv.ts';
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
} from './jobs.ts';
import { createLoad, type Load, type Outcome } from './load.ts';

const ROOT = '/services/data/{version}/jobs/ingest';
/** Maximum size of an uploaded file in bytes, as documented. */
export const MOST_BYTES = 150_000_000;

/** Creates the routes of ingest jobs of Bulk API 2.0. */
export function createIngestJobs(office: JobOffice, organization: Organization): Routes {
  const jobs = createJobs<Load>(office, {
    root: ROOT,
    jobType: 'V2Ingest',
    deletable: ['UploadComplete'],
    close: assertFilled,
  });
  const results =
    (print: (job: Job<Load>) => Iterable<string>): Routes[string] =>
    (call) => {
      const job = jobs.get(call);
      if (job.ended !== undefined) return respondWithCsv(call, print(job));
      throw badState(`Results of a Job in the state ${jobs.stateOf(job)} are not available`);
    };

  return {
    ...jobs.routes,
    [`POST ${ROOT}`]: (call) => {
      const terms = readTerms(call.body.object());
      const job = jobs.create(call, terms, createLoad(organization, terms));
      const contentUrl = `services/data/v${job.version}/jobs/ingest/${job.id}/batches`;
      return json({ ...showJob(job, 'Open'), contentUrl });
    },
    [`PUT ${ROOT}/{id}/batches`]: (call) => {
      const job = jobs.get(call);
      if (jobs.stateOf(job) !== 'Open') throw badState(`Job: ${job.id} is not Open for data`);
      if (call.body.type !== 'text/csv') throw badJob(`Content-Type: ${call.body.type} is not text/csv`);
      job.content.put(call.body.text());
      return empty(201);
    },
    [`GET ${ROOT}/{id}/successfulResults`]: results(
      printOutcomes('sf__Created', (outcome) => 'created' in outcome && [outcome.id, String(outcome.created)]),
    ),
    [`GET ${ROOT}/{id}/failedResults`]: results(
      printOutcomes('sf__Error', (outcome) => 'error' in outcome && [outcome.id, outcome.error]),
    ),
    [`GET ${ROOT}/{id}/unprocessedrecords`]: results(printUnprocessed),
  };
}

/**
 * Asserts that a job has content and can be closed. The misspelling in the message is Salesforce's.
 * @throws Fault 400
 */
function assertFilled({ id, content }: Job<Load>, state: string): void {
  if (state !== 'Open') throw badState(`Closing a Job in the state ${state} not allowed`);
  const uploads = content.uploads();
  if (uploads === 0) throw badJob(`No content was uploaded for job: <${id}>`);
  if (uploads === 1) return;
  throw badJob(
    `Found multipe contents for job: <${id}>, please 'Close' / 'Abort' / 'Delete' the current Job then create a new Job and make sure you only do 'PUT' once on a given Job.`,
  );
}

const ABILITIES: Readonly<Record<string, readonly ('createable' | 'updateable' | 'deletable')[]>> = {
  insert: ['createable'],
  update: ['updateable'],
  upsert: ['createable', 'updateable'],
  delete: ['deletable'],
  hardDelete: [],
};

/**
 * Reads the terms of a job.
 * @throws Fault 400
 */
function readTerms(body: TableRow): JobTerms {
  const operation = readWord('operation', body.operation, Object.keys(ABILITIES));
  if (operation === 'hardDelete') {
    const message =
      'hardDelete operation requires special user profile permission, please contact your system administrator';
    throw new Fault(400, 'FEATURENOTENABLED', message);
  }
  const name = typeof body.object === 'string' ? body.object : '';
  const object = Object.hasOwn(OBJECTS, name) ? OBJECTS[name] : undefined;
  if (object === undefined || ABILITIES[operation]?.some((ability) => !object[ability])) {
    throw new Fault(400, 'INVALIDENTITY', `Entity '${name}' is not supported by the Bulk API`);
  }
  const externalIdFieldName = readKey(body.externalIdFieldName ?? undefined, operation, object);
  return { operation, object: name, ...readStyle(body), externalIdFieldName };
}

function readKey(key: unknown, operation: string, { name, fields }: SObject): string | undefined {
  if (operation !== 'upsert') {
    if (key === undefined) return undefined;
    throw badJob(`External ID can only be specified for upsert, not for ${operation}`);
  }
  if (typeof key !== 'string' || key === '') {
    throw badJob(`External ID was blank for ${name}. An External ID must be specified for upsert.`);
  }
  if (key === 'Id' || fields[key]?.externalId === true) return key;
  throw badJob(
    `Field name provided, ${key} does not match an External ID, Salesforce Id, or indexed field for ${name}`,
  );
}

/** Prints results: Salesforce's columns, followed by the uploaded values under the uploaded header. */
function printOutcomes(second: string, reported: (outcome: Outcome) => readonly [id: string, word: string] | false) {
  return function* ({ terms, content }: Job<Load>): Generator<string> {
    const [{ cells, text } = NO_ROW, ...rows] = content.rows();
    const { delimiter, ending } = signsOf(terms);
    yield `"sf__Id"${delimiter}"${second}"${delimiter}${text}${ending}`;
    for (const [index, outcome] of content.outcomes.entries()) {
      const values = reported(outcome);
      const sent = rows[index]?.cells ?? [];
      if (values !== false) yield printRow([...values, ...cells.map((_, column) => sent[column] ?? '')], terms);
    }
  };
}

const NO_ROW = { cells: [], text: '' };

/** Prints the unprocessed rows as they were uploaded. */
function* printUnprocessed({ terms, content }: Job<Load>): Generator<string> {
  const [header = NO_ROW, ...rows] = content.rows();
  for (const { text } of [header, ...rows.slice(content.outcomes.length)]) yield text + signsOf(terms).ending;
}
