import { type Call, Fault, fault, json, type MovableClock, type Routes } from '#connector/simulator';
import { DEMO_USER_ID, makeId, writeInstant } from '../ids.ts';
import { type CsvStyle, DELIMITERS, LINE_ENDINGS } from './csv.ts';

/** Jobs of both kinds: what they have in common, and how time moves them on. */

export type State = 'Open' | 'UploadComplete' | 'InProgress' | 'JobComplete' | 'Failed' | 'Aborted';

/** What a job is about, as its creator said it. */
export interface JobTerms extends CsvStyle {
  readonly operation: string;
  readonly object: string;
  readonly externalIdFieldName?: string;
}

/** What is done while a job is in progress. */
export interface Work {
  readonly total: () => number;
  /** Does all records up to the one of this number that are not done. */
  readonly advance: (until: number) => void;
  /** Ends a job that cannot be done; asked when it is begun. */
  readonly problem?: () => string | undefined;
  readonly told: () => Readonly<Record<string, unknown>>;
  /** What it keeps in memory. */
  readonly bytes: number;
}

export interface Job<Content extends Work = Work> {
  readonly id: string;
  /** `62.0`; results are had of the same version only. */
  readonly version: string;
  readonly terms: JobTerms;
  readonly content: Content;
  readonly pace: Pace;
  readonly createdMs: number;
  /** When it was queued. */
  queuedMs: number | undefined;
  changedMs: number;
  ended: 'JobComplete' | 'Failed' | 'Aborted' | undefined;
  errorMessage: string | undefined;
}

/** How long the jobs that are created from now on take. */
interface Pace {
  readonly queuedMs: number;
  readonly workMs: number;
  /** What they fail with, halfway. */
  readonly failure: string | undefined;
}

/** "A default value based on the service." */
const USUAL_SET_SIZE = 50_000;
const USUAL_PACE: Pace = { queuedMs: 20, workMs: 20, failure: undefined };

/** Shared by both kinds, so that ids differ. */
export interface JobOffice {
  readonly clock: MovableClock;
  readonly nextId: () => string;
  readonly pace: () => Pace;
  /** Records in a set of results, unless the caller says how many. */
  readonly setSize: () => number;
  readonly commands: Routes;
}

/**
 * `POST /simulate/jobs` with `{"queuedMs": 0, "workMs": 60000, "failure": "InternalServerError : …", "setSize": 10}`, each optional,
 * sets the pace of the jobs that are created from then on, and how many records a set of results has; what is left out is as usual.
 */
export function createJobOffice(clock: MovableClock): JobOffice {
  let pace = USUAL_PACE;
  let setSize = USUAL_SET_SIZE;
  let made = 0;
  return {
    clock,
    nextId: () => makeId('750', ++made),
    pace: () => pace,
    setSize: () => setSize,
    commands: {
      'POST /simulate/jobs': ({ body }) => {
        const wanted = body.object();
        const { queuedMs = USUAL_PACE.queuedMs, workMs = USUAL_PACE.workMs, failure } = wanted;
        const { setSize: size = USUAL_SET_SIZE } = wanted;
        const isFailure = failure === undefined || typeof failure === 'string';
        if (!isAmount(queuedMs) || !isAmount(workMs) || !isFailure || !isAmount(size) || size < 1) {
          const example = '{"queuedMs": 0, "workMs": 1000, "failure": "InternalServerError : …", "setSize": 10}';
          throw fault(400, `Jobs are paced by ${example}.`);
        }
        pace = { queuedMs, workMs, failure };
        setSize = size;
        return json({ ...pace, setSize });
      },
    },
  };
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0;
}

const MOST_JOBS = 2500;
/** Of files that were uploaded: room for four of the largest. */
const MOST_KEPT_BYTES = 600_000_000;
/** Documented: jobs that have ended are deleted after a week. */
const LIFETIME_MS = 7 * 24 * 3_600_000;
const LIST_SIZE = 1000;

export interface Jobs<Content extends Work> {
  readonly create: (call: Call, terms: JobTerms, content: Content) => Job<Content>;
  /** As it is by now. @throws Fault 404 */
  readonly get: (call: Call) => Job<Content>;
  readonly queue: (job: Job<Content>) => void;
  /** @throws Fault 400 for one that has ended */
  readonly abort: (job: Job<Content>) => void;
  /** @throws Fault 400 in a state that is none of these */
  readonly remove: (job: Job<Content>, states: readonly State[]) => void;
  readonly list: (call: Call, show: (job: Job<Content>) => object) => object;
  readonly stateOf: (job: Job<Content>) => State;
}

/** A job moves on when somebody looks at it: what it has to do by then is done then. */
export function createJobs<Content extends Work>(office: JobOffice, jobType: string): Jobs<Content> {
  const jobs = new Map<string, Job<Content>>();
  const nowMs = () => office.clock.steady();

  function stateOf(job: Job<Content>): State {
    if (job.ended !== undefined) return job.ended;
    if (job.queuedMs === undefined) return 'Open';
    return nowMs() - job.queuedMs < job.pace.queuedMs ? 'UploadComplete' : 'InProgress';
  }

  function advance(job: Job<Content>): Job<Content> {
    if (stateOf(job) !== 'InProgress' || job.queuedMs === undefined) return job;
    const problem = job.content.problem?.();
    if (problem !== undefined) return end(job, 'Failed', problem);
    const { pace, content } = job;
    const workedMs = nowMs() - job.queuedMs - pace.queuedMs;
    const share = workedMs >= pace.workMs ? 1 : workedMs / pace.workMs;
    const fails = pace.failure !== undefined && share >= 0.5;
    content.advance(Math.floor(content.total() * (fails ? 0.5 : share)));
    if (fails) return end(job, 'Failed', pace.failure);
    return share < 1 ? job : end(job, 'JobComplete');
  }

  function end(job: Job<Content>, state: NonNullable<Job['ended']>, errorMessage?: string): Job<Content> {
    job.ended = state;
    job.errorMessage = errorMessage;
    job.changedMs = office.clock.now();
    return job;
  }

  function forget(): void {
    let bytes = [...jobs.values()].reduce((sum, { content }) => sum + content.bytes, 0);
    for (const job of jobs.values()) {
      const isOld = office.clock.now() - job.createdMs > LIFETIME_MS;
      if (job.ended === undefined || (!isOld && jobs.size < MOST_JOBS && bytes <= MOST_KEPT_BYTES)) continue;
      jobs.delete(job.id);
      bytes -= job.content.bytes;
    }
  }

  return {
    stateOf,
    create: (call, terms, content) => {
      forget();
      const created = office.clock.now();
      const job: Job<Content> = {
        id: office.nextId(),
        version: versionOf(call),
        terms,
        content,
        pace: office.pace(),
        createdMs: created,
        queuedMs: undefined,
        changedMs: created,
        ended: undefined,
        errorMessage: undefined,
      };
      if (jobs.size >= MOST_JOBS) throw new Fault(400, 'EXCEEDEDQUOTA', `There are ${MOST_JOBS} jobs already.`);
      jobs.set(job.id, job);
      return job;
    },
    get: ({ params: { id = '' } }) => {
      forget();
      const job = jobs.get(id) ?? [...jobs.values()].find(({ id: long }) => long.slice(0, 15) === id);
      if (job === undefined) throw new Fault(404, 'NOT_FOUND', 'The requested resource does not exist');
      return advance(job);
    },
    queue: (job) => {
      job.queuedMs = nowMs();
      job.changedMs = office.clock.now();
    },
    abort: (job) => {
      if (job.ended !== undefined) throw badState(`Aborting already ${PAST[job.ended]} Job not allowed`);
      end(job, 'Aborted');
    },
    remove: (job, states) => {
      const state = stateOf(job);
      if (!states.includes(state)) throw badState(`Deleting a Job in the state ${state} not allowed`);
      jobs.delete(job.id);
    },
    list: (call, show) => {
      forget();
      const wanted = call.query.get('jobType') ?? jobType;
      const chunked = call.query.get('isPkChunkingEnabled') === 'true';
      const found = wanted === jobType && !chunked ? [...jobs.values()] : [];
      const start = readPlace(call.query.get('queryLocator'));
      const next = start + LIST_SIZE;
      const done = next >= found.length;
      return {
        done,
        records: found.slice(start, next).map((job) => show(advance(job))),
        nextRecordsUrl: done ? null : `${call.path.replace(/\/$/, '')}?queryLocator=${writePlace(next)}`,
      };
    },
  };
}

const PAST = { JobComplete: 'Completed', Failed: 'Failed', Aborted: 'Aborted' } as const;

export function badState(message: string): Fault {
  return new Fault(400, 'INVALIDJOBSTATE', message);
}

export function badJob(message: string): Fault {
  return new Fault(400, 'INVALIDJOB', message);
}

/** Documented: `MTAwMDA` is a locator, which is base64 of 10000. */
export function writePlace(index: number): string {
  return Buffer.from(String(index)).toString('base64url');
}

/** @throws Fault 400 */
export function readPlace(locator: string | null): number {
  if (locator === null) return 0;
  const text = Buffer.from(locator, 'base64url').toString();
  if (!/^\d{1,15}$/.test(text)) throw new Fault(400, 'INVALID_QUERY_LOCATOR', 'invalid query locator');
  return Number(text);
}

/** @throws Fault 404 for a path of no version */
export function versionOf({ params: { version = '' } }: Call): string {
  const [, number] = /^v(\d+\.0)$/.exec(version) ?? [];
  if (number === undefined) throw new Fault(404, 'NOT_FOUND', 'The requested resource does not exist');
  return number;
}

/** @throws Fault 400 for words that are none of Salesforce's, and for a type that is not CSV */
export function readStyle(body: Readonly<Record<string, unknown>>): CsvStyle {
  const { columnDelimiter = 'COMMA', lineEnding = 'LF', contentType = 'CSV' } = body;
  if (contentType !== 'CSV') throw badJob(`Content Type: ${contentType} is not supported`);
  return {
    columnDelimiter: readWord('columnDelimiter', columnDelimiter, Object.keys(DELIMITERS)),
    lineEnding: readWord('lineEnding', lineEnding, Object.keys(LINE_ENDINGS)),
  };
}

/** @throws Fault 400 */
export function readWord(name: string, value: unknown, words: readonly string[]): string {
  if (typeof value === 'string' && words.includes(value)) return value;
  throw badJob(`${name}: ${JSON.stringify(value)} is none of ${words.join(', ')}`);
}

/** What each answer about a job says. */
export function showJob({ id, terms, version, createdMs, changedMs }: Job, state: State): object {
  return {
    id,
    operation: terms.operation,
    object: terms.object,
    createdById: DEMO_USER_ID,
    createdDate: writeInstant(createdMs),
    systemModstamp: writeInstant(changedMs),
    state,
    ...(terms.externalIdFieldName !== undefined && { externalIdFieldName: terms.externalIdFieldName }),
    concurrencyMode: 'Parallel',
    contentType: 'CSV',
    apiVersion: Number(version),
  };
}

/** What the answer to GET says beside it. */
export function showProgress(job: Job, jobType: string): object {
  const { lineEnding, columnDelimiter } = job.terms;
  const totalProcessingTime = job.ended === undefined ? 0 : job.pace.workMs;
  return {
    jobType,
    lineEnding,
    columnDelimiter,
    ...job.content.told(),
    retries: 0,
    totalProcessingTime,
    ...(job.errorMessage !== undefined && { errorMessage: job.errorMessage }),
  };
}
