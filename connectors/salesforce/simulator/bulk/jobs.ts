import { type Call, empty, Fault, fault, json, type MovableClock, type Routes } from '#connector/simulator';
import { DEMO_USER_ID, makeId, writeInstant } from '../ids.ts';
import { type CsvStyle, DELIMITERS, LINE_ENDINGS } from './csv.ts';

/** This file contains what query jobs and ingest jobs share, and how they progress with time. */

type State = 'Open' | 'UploadComplete' | 'InProgress' | 'JobComplete' | 'Failed' | 'Aborted';

/** The terms of a job, which its creator sets. */
export interface JobTerms extends CsvStyle {
  readonly operation: string;
  readonly object: string;
  readonly externalIdFieldName?: string | undefined;
}

/** The work of a job in progress. */
export interface JobContent {
  readonly total: () => number;
  /** Processes the unprocessed records before this number. */
  readonly advance: (until: number) => void;
  /** Returns the reason if the job cannot be processed. It is called when the job begins. */
  readonly problem?: () => string | undefined;
  readonly reported: () => object;
  /** Bytes that the job occupies in memory. */
  readonly bytes: number;
}

export interface Job<Content extends JobContent = JobContent> {
  readonly id: string;
  /** API version of the job, such as `62.0`. Its results can be requested only with the same version. */
  readonly version: string;
  readonly terms: JobTerms;
  readonly content: Content;
  readonly pace: Pace;
  readonly createdMs: number;
  /** Time at which the job was queued. */
  queuedMs?: number;
  changedMs: number;
  ended?: 'JobComplete' | 'Failed' | 'Aborted';
  errorMessage?: string | undefined;
}

/** Durations in milliseconds of the jobs that are created from now on, and the error with which they fail halfway. */
interface Pace {
  readonly queuedMs: number;
  readonly workMs: number;
  readonly failure?: string | undefined;
  /** Number of records per set of results if the caller sets none. Source: "a default value based on the service." */
  readonly setSize: number;
}

const USUAL_PACE: Pace = { queuedMs: 20, workMs: 20, setSize: 50_000 };

export type JobOffice = ReturnType<typeof createJobOffice>;

/**
 * Creates what both kinds of jobs share, so that their ids differ. `POST /simulate/jobs` sets the pace, with defaults for missing values.
 */
export function createJobOffice(clock: MovableClock) {
  let pace = USUAL_PACE;
  let made = 0;
  return {
    clock,
    nextId: () => makeId('750', ++made),
    pace: () => pace,
    commands: {
      'POST /simulate/jobs': ({ body }) => {
        const wanted = { ...USUAL_PACE, ...body.object() };
        if (!isPace(wanted)) {
          throw fault(400, 'Jobs are paced by {"queuedMs": 0, "workMs": 1000, "failure": "…", "setSize": 10}.');
        }
        pace = wanted;
        return json(pace);
      },
    } satisfies Routes,
  };
}

function isPace(wanted: Readonly<Partial<Record<keyof Pace, unknown>>>): wanted is Pace {
  const { queuedMs, workMs, setSize, failure } = wanted;
  const isAmount = (value: unknown) => typeof value === 'number' && value >= 0;
  const isFailure = failure === undefined || typeof failure === 'string';
  return isFailure && [queuedMs, workMs, setSize].every(isAmount) && setSize !== 0;
}

const MOST_JOBS = 2500;
/** Maximum size of all uploaded files together, in bytes. It allows four of the largest files. */
const MOST_KEPT_BYTES = 600_000_000;
/** Time in milliseconds after which jobs that have ended are deleted: a week, as documented. */
const LIFETIME_MS = 7 * 24 * 3_600_000;

interface JobKind<Content extends JobContent> {
  readonly root: string;
  readonly jobType: 'V2Query' | 'V2Ingest';
  /** States in which a job can be deleted, in addition to those of jobs that have ended. */
  readonly deletable?: readonly State[];
  /**
   * Checks a job that its creator queues.
   * @throws Fault 400
   */
  readonly close?: (job: Job<Content>, state: State) => void;
}

/** Creates the jobs of one kind. A job progresses when it is read: all work up to the current time is done then. */
export function createJobs<Content extends JobContent>(office: JobOffice, kind: JobKind<Content>) {
  const { root, jobType, deletable = [], close } = kind;
  const { clock } = office;
  const jobs = new Map<string, Job<Content>>();

  function stateOf({ ended, queuedMs, pace }: Job<Content>): State {
    if (ended !== undefined) return ended;
    if (queuedMs === undefined) return 'Open';
    return clock.steady() - queuedMs < pace.queuedMs ? 'UploadComplete' : 'InProgress';
  }

  function advance(job: Job<Content>): void {
    const { pace, content, queuedMs } = job;
    if (queuedMs === undefined || stateOf(job) !== 'InProgress') return;
    const problem = content.problem?.();
    if (problem !== undefined) {
      end(job, 'Failed', problem);
      return;
    }
    const workedMs = clock.steady() - queuedMs - pace.queuedMs;
    const share = workedMs >= pace.workMs ? 1 : workedMs / pace.workMs;
    const fails = pace.failure !== undefined && share >= 0.5;
    content.advance(Math.floor(content.total() * (fails ? 0.5 : share)));
    if (fails) end(job, 'Failed', pace.failure);
    else if (share === 1) end(job, 'JobComplete');
  }

  function end(job: Job<Content>, ended: NonNullable<Job['ended']>, errorMessage?: string): void {
    Object.assign(job, { ended, errorMessage, changedMs: clock.now() });
  }

  function forget(): void {
    let bytes = [...jobs.values()].reduce((sum, { content }) => sum + content.bytes, 0);
    for (const job of jobs.values()) {
      const isOld = clock.now() - job.createdMs > LIFETIME_MS;
      if (job.ended === undefined || (!isOld && jobs.size < MOST_JOBS && bytes <= MOST_KEPT_BYTES)) continue;
      jobs.delete(job.id);
      bytes -= job.content.bytes;
    }
  }

  function create(call: Call, terms: JobTerms, content: Content): Job<Content> {
    forget();
    const nowMs = clock.now();
    const identity = { id: office.nextId(), version: versionOf(call), createdMs: nowMs, changedMs: nowMs };
    const job: Job<Content> = { ...identity, terms, content, pace: office.pace() };
    if (jobs.size >= MOST_JOBS) throw new Fault(400, 'EXCEEDEDQUOTA', `There are ${MOST_JOBS} jobs already.`);
    jobs.set(job.id, job);
    return job;
  }

  /**
   * Returns a job in its current state.
   * @throws Fault 404
   */
  function get({ params: { id = '' } }: Call): Job<Content> {
    forget();
    const job = jobs.get(id);
    if (job === undefined) throw new Fault(404, 'NOT_FOUND', 'The requested resource does not exist');
    advance(job);
    return job;
  }

  function queue(job: Job<Content>): void {
    Object.assign(job, { queuedMs: clock.steady(), changedMs: clock.now() });
  }

  const routes: Routes = {
    [`GET ${root}/{id}`]: (call) => {
      const job = get(call);
      return json({
        ...showJob(job, stateOf(job)),
        jobType,
        ...job.content.reported(),
        errorMessage: job.errorMessage,
      });
    },
    [`PATCH ${root}/{id}`]: (call) => {
      const job = get(call);
      const words = close === undefined ? ['Aborted'] : ['UploadComplete', 'Aborted'];
      const wanted = readWord('state', call.body.object().state, words);
      if (wanted === 'UploadComplete') {
        close?.(job, stateOf(job));
        queue(job);
      } else if (job.ended === undefined) end(job, 'Aborted');
      else throw badState(`Aborting already ${job.ended.replace('JobComplete', 'Completed')} Job not allowed`);
      return json(showJob(job, wanted));
    },
    [`DELETE ${root}/{id}`]: (call) => {
      const job = get(call);
      const state = stateOf(job);
      if (job.ended === undefined && !deletable.includes(state)) {
        throw badState(`Deleting a Job in the state ${state} not allowed`);
      }
      jobs.delete(job.id);
      return empty();
    },
  };
  return { create, get, queue, stateOf, routes };
}

export function badState(message: string): Fault {
  return new Fault(400, 'INVALIDJOBSTATE', message);
}

export function badJob(message: string): Fault {
  return new Fault(400, 'INVALIDJOB', message);
}

/**
 * Returns the API version of a path.
 * @throws Fault 404 for a path without a version
 */
export function versionOf({ params: { version = '' } }: Call): string {
  const [, number] = /^v(\d+\.0)$/.exec(version) ?? [];
  if (number === undefined) throw new Fault(404, 'NOT_FOUND', 'The requested resource does not exist');
  return number;
}

/**
 * Reads the format of the CSV.
 * @throws Fault 400 for names that Salesforce does not have, and for a type that is not CSV
 */
export function readStyle(body: Readonly<Record<string, unknown>>): CsvStyle {
  const { columnDelimiter = 'COMMA', lineEnding = 'LF', contentType = 'CSV' } = body;
  if (contentType !== 'CSV') throw badJob(`Content Type: ${contentType} is not supported`);
  return {
    columnDelimiter: readWord('columnDelimiter', columnDelimiter, Object.keys(DELIMITERS)),
    lineEnding: readWord('lineEnding', lineEnding, Object.keys(LINE_ENDINGS)),
  };
}

/**
 * Reads a member with fixed values.
 * @throws Fault 400
 */
export function readWord(name: string, value: unknown, words: readonly string[]): string {
  if (typeof value === 'string' && words.includes(value)) return value;
  throw badJob(`${name}: ${JSON.stringify(value)} is none of ${words.join(', ')}`);
}

/** Prints the members of a job that each response contains. */
export function showJob({ id, terms, version, createdMs, changedMs }: Job, state: string): object {
  return {
    id,
    ...terms,
    createdById: DEMO_USER_ID,
    createdDate: writeInstant(createdMs),
    systemModstamp: writeInstant(changedMs),
    state,
    concurrencyMode: 'Parallel',
    contentType: 'CSV',
    apiVersion: Number(version),
  };
}
