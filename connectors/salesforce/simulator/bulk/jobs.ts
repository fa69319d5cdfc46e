import { type Call, empty, Fault, fault, json, type MovableClock, type Routes } from '#connector/simulator';
import { DEMO_USER_ID, makeId, writeInstant } from '../ids.ts';
import { type CsvStyle, DELIMITERS, LINE_ENDINGS } from './csv.ts';

/** Jobs of both kinds: what they have in common, and how time moves them on. */

type State = 'Open' | 'UploadComplete' | 'InProgress' | 'JobComplete' | 'Failed' | 'Aborted';

/** What a job is about, as its creator said it. */
export interface JobTerms extends CsvStyle {
  readonly operation: string;
  readonly object: string;
  readonly externalIdFieldName?: string | undefined;
}

/** What is done while a job is in progress. */
export interface Work {
  readonly total: () => number;
  /** Does all records up to the one of this number that are not done. */
  readonly advance: (until: number) => void;
  /** Ends a job that cannot be done; asked when it is begun. */
  readonly problem?: () => string | undefined;
  readonly reported: () => object;
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
  queuedMs?: number;
  changedMs: number;
  ended?: 'JobComplete' | 'Failed' | 'Aborted';
  errorMessage?: string | undefined;
}

/** How long the jobs that are created from now on take, and what they fail with, halfway. */
interface Pace {
  readonly queuedMs: number;
  readonly workMs: number;
  readonly failure?: string | undefined;
  /** Records in a set of results, unless the caller says how many: "a default value based on the service." */
  readonly setSize: number;
}

const USUAL_PACE: Pace = { queuedMs: 20, workMs: 20, setSize: 50_000 };

export type JobOffice = ReturnType<typeof createJobOffice>;

/** What both kinds share, so that ids differ. `POST /simulate/jobs` sets the pace; what is left out is as usual. */
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
/** Maximum size of all uploaded files: room for four of the largest. */
const MOST_KEPT_BYTES = 600_000_000;
/** Documented: jobs that have ended are deleted after a week. */
const LIFETIME_MS = 7 * 24 * 3_600_000;

export interface JobKind<Content extends Work> {
  readonly root: string;
  readonly jobType: 'V2Query' | 'V2Ingest';
  /** States, beside those of jobs that have ended, in which a job can be deleted. */
  readonly deletable?: readonly State[];
  /** Checks a job that is to be queued by its caller. @throws Fault 400 */
  readonly close?: (job: Job<Content>, state: State) => void;
}

/** A job moves on when somebody looks at it: what it has to do by then is done then. */
export function createJobs<Content extends Work>(office: JobOffice, kind: JobKind<Content>) {
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
    const place = { id: office.nextId(), version: versionOf(call), createdMs: nowMs, changedMs: nowMs };
    const job: Job<Content> = { ...place, terms, content, pace: office.pace() };
    if (jobs.size >= MOST_JOBS) throw new Fault(400, 'EXCEEDEDQUOTA', `There are ${MOST_JOBS} jobs already.`);
    jobs.set(job.id, job);
    return job;
  }

  /** As it is by now. @throws Fault 404 */
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
