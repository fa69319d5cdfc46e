import { type Clock, MOST_SKEW_MS } from '../clock.ts';
import type { ObjectSpec } from '../connector/index.ts';
import { assertCallable } from '../egress/callback-url.ts';
import type { Egress } from '../egress/index.ts';
import { AppError, invalidRequest, isAppError, pointer } from '../errors.ts';
import type { Instance } from '../instances/instance.ts';
import type { Resources } from '../resources/index.ts';
import type { ObjectTarget } from '../resources/opened.ts';
import type { Walk, WalkRequest } from '../resources/walks.ts';
import { quoteText, readSelect, type Selected } from '../where/index.ts';
import type { BulkStore, NewJob } from './bulk-store.ts';
import type { BulkFormat, BulkQuery } from './job.ts';

/** Request for a download. */
export interface DownloadRequest extends Pick<WalkRequest, 'where' | 'fields' | 'orderBy' | 'limit'> {
  /** A `SELECT` statement in place of the object and its query. */
  readonly statement?: string | undefined;
  readonly objectName?: string | undefined;
  /** Restricts the download to records that changed at or after this time. */
  readonly from?: Date | undefined;
  /** Restricts the download to records that changed before this time. */
  readonly to?: Date | undefined;
  /** Restricts the download to changes that this earlier job may lack. */
  readonly continueFromJobId?: number | undefined;
  readonly format: BulkFormat;
  readonly fileName?: string | undefined;
  readonly callback?: Callback | undefined;
}

export interface Callback {
  readonly url: string;
  /** JSON pointer of the callback URL in the request. */
  readonly pointer: string;
}

export interface CreatePorts {
  readonly store: Pick<BulkStore, 'find' | 'countOpen'>;
  readonly resources: Pick<Resources, 'planWalk'>;
  readonly egress: Pick<Egress, 'check'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Maximum number of open jobs per account. */
export const MOST_OPEN_JOBS = 500;
const RETRY_SECONDS = 60;
/** Overlap for objects that do not declare how late their changes appear. Polls have the same default. */
const DEFAULT_OVERLAP_SECONDS = 60;

/**
 * Returns the columns of a job for a request. It stores nothing yet.
 * @throws AppError REQUEST_INVALID, WHERE_*, NOT_FOUND, OPERATION_UNSUPPORTED, CONFLICT, RATE_LIMITED
 */
export async function planDownload(ports: CreatePorts, asking: PlannedRequest): Promise<NewJob> {
  const { instance, userId, request, signal } = asking;
  const { store, egress, clock } = ports;
  const { format, callback, fileName = null } = request;
  const { accountId, id: instanceId } = instance;
  const asked = readRequest(request);
  if (callback !== undefined) await assertCallable(egress, callback.url, callback.pointer);
  const target = { instance, objectName: asked.objectName, signal };
  const { object } = await planAt(ports, target, asked);
  const also = await boundsOf(ports, { object, target, request });
  const query = toQuery({ ...asked, also });
  if (also !== undefined) await ports.resources.planWalk(target, query);
  if ((await store.countOpen(accountId)) >= MOST_OPEN_JOBS) throw tooMany();
  return {
    accountId,
    instanceId,
    userId,
    direction: 'DOWNLOAD',
    objectName: asked.objectName,
    query,
    changedBefore: request.to ?? null,
    format,
    fileName,
    callbackUrl: callback?.url ?? null,
    createdAt: new Date(clock.now()),
  };
}

export interface PlannedRequest {
  readonly instance: Instance;
  /** Id of the user for whom the job acts. */
  readonly userId: number;
  readonly request: DownloadRequest;
  readonly signal: AbortSignal;
}

type AskedQuery = Pick<Selected, 'objectName' | 'fields' | 'where' | 'orderBy' | 'limit'> & Partial<Selected>;

/** The clause of a statement that replaces each member of the request. A statement always has the first two. */
const CLAUSES = { objectName: 'FROM', fields: 'SELECT', where: 'WHERE', orderBy: 'ORDER BY', limit: 'LIMIT' } as const;

/** @throws AppError REQUEST_INVALID unless the object and each part of its query are given once; WHERE_SYNTAX */
function readRequest({ statement, objectName, fields, where, orderBy, limit }: DownloadRequest): AskedQuery {
  if (statement === undefined) {
    if (objectName !== undefined) return { objectName, fields, where, orderBy, limit };
    throw invalidRequest([
      { path: '/body/objectName', message: "'objectName' is required, unless 'q' has a statement." },
    ]);
  }
  const selected = readSelect(statement);
  const said = { ...selected, fields: true };
  const given = { objectName, fields, where, orderBy, limit };
  const names = Object.keys(CLAUSES) as readonly (keyof typeof CLAUSES)[];
  const twice = names.filter((name) => given[name] !== undefined && said[name] !== undefined);
  if (twice.length === 0) {
    return {
      ...selected,
      where: selected.where ?? where,
      orderBy: selected.orderBy ?? orderBy,
      limit: selected.limit ?? limit,
    };
  }
  throw invalidRequest(
    twice.map((name) => {
      const message = `'${name}' and the ${CLAUSES[name]} of the statement in 'q' cannot be used together.`;
      return { path: pointer('body', name), message };
    }),
  );
}

/** An object that there is not has its position in the statement. */
async function planAt({ resources }: CreatePorts, target: ObjectTarget, asked: AskedQuery): Promise<Walk> {
  try {
    return await resources.planWalk(target, toQuery(asked));
  } catch (error) {
    const { objectLoc } = asked;
    if (objectLoc === undefined || !isAppError(error, 'NOT_FOUND')) throw error;
    const { code, message, details: [detail] = [] } = error;
    const range = { position: objectLoc.offset, length: objectLoc.length };
    throw new AppError(code, message, { details: [{ ...detail, message, ...range }], cause: error });
  }
}

interface BoundsInput {
  readonly object: ObjectSpec;
  readonly target: ObjectTarget & { readonly instance: Instance };
  readonly request: DownloadRequest;
}

const DAY_MS = 86_400_000;
const dayOf = (timeMs: number) => quoteText(new Date(timeMs).toISOString().slice(0, 10));

/** Days are those of the provider, which may be a day from ours; and what changed on the day of a bound may have changed on either side of it. */
const BOUNDS = {
  datetime: {
    atLeast: (time: Date) => `>= ${quoteText(time.toISOString())}`,
    below: (time: Date) => `< ${quoteText(time.toISOString())}`,
  },
  date: {
    atLeast: (time: Date) => `>= ${dayOf(time.getTime() - DAY_MS)}`,
    below: (time: Date) => `<= ${dayOf(time.getTime() + DAY_MS)}`,
  },
};

/** The bounds of the time of change as a filter. */
async function boundsOf(ports: CreatePorts, input: BoundsInput): Promise<string | undefined> {
  const { object, target, request } = input;
  const { to, continueFromJobId } = request;
  const given = (['from', 'to', 'continueFromJobId'] as const).filter((name) => request[name] !== undefined);
  const [first] = given;
  if (first === undefined) return undefined;
  const { updated } = object.changes ?? {};
  if (updated === undefined || object.fields[updated] === undefined) throw withoutChangeDate(first, target.objectName);
  const from = continueFromJobId === undefined ? request.from : await endOfJob(ports, input, continueFromJobId);
  if (from !== undefined && to !== undefined && from > to)
    throw invalidRequest([
      {
        path: '/body/to',
        message: `'to' is before ${continueFromJobId === undefined ? "'from'" : 'the start of that job'}.`,
      },
    ]);
  const { atLeast, below } = BOUNDS[object.fields[updated]?.type === 'date' ? 'date' : 'datetime'];
  const bounds = [
    ...(from === undefined ? [] : [`\`${updated}\` ${atLeast(from)}`]),
    ...(to === undefined ? [] : [`\`${updated}\` ${below(to)}`]),
  ];
  return bounds.join(' AND ');
}

/**
 * Returns the time, by the provider's clock, from which a job may lack changes.
 * @throws AppError NOT_FOUND, REQUEST_INVALID, CONFLICT
 */
async function endOfJob(
  { store }: CreatePorts,
  { object, target: { instance, objectName }, request }: BoundsInput,
  id: number,
): Promise<Date> {
  const path = '/body/continueFromJobId';
  if (request.from !== undefined)
    throw invalidRequest([{ path: '/body/from', message: "'from' and 'continueFromJobId' cannot be used together." }]);
  const job = await store.find({ accountId: instance.accountId, instanceId: instance.id, id });
  if (job === undefined) throw jobNotFound(id);
  if (job.direction !== 'DOWNLOAD' || job.objectName !== objectName) {
    const message = `Job ${id} is ${job.direction === 'DOWNLOAD' ? 'a download' : 'an upload'} of '${job.objectName}', not a download of '${objectName}'.`;
    throw invalidRequest([{ path, message }]);
  }
  if (job.status !== 'COMPLETED' || job.startedAt === null)
    throw new AppError('CONFLICT', `Job ${id} is ${job.status}. Only a COMPLETED job can be continued.`);
  const startMs = job.startedAt.getTime() - MOST_SKEW_MS;
  const endMs = Math.min(startMs, job.changedBefore?.getTime() ?? Number.POSITIVE_INFINITY);
  return new Date(endMs - (object.changes?.overlapSeconds ?? DEFAULT_OVERLAP_SECONDS) * 1000);
}

export function jobNotFound(id: number): AppError {
  return new AppError(
    'NOT_FOUND',
    `This instance has no bulk job ${id}. The service deletes jobs and their files after BULK_RETENTION_DAYS.`,
  );
}

function withoutChangeDate(name: string, objectName: string): AppError {
  const message = `'${objectName}' has no date of change, so '${name}' cannot be used with it.`;
  return invalidRequest([{ path: pointer('body', name), message }]);
}

export function tooMany(): AppError {
  const message = `The account has ${MOST_OPEN_JOBS} bulk jobs that have not ended, the maximum. Start the next one when some have ended.`;
  return new AppError('RATE_LIMITED', message, { retryAfterSeconds: RETRY_SECONDS });
}

function toQuery({ where, also, fields, orderBy, limit }: WalkRequest): BulkQuery {
  return { where, also, fields, orderBy, limit };
}
