import type { IngestRows, IngestStart, NativeBulk, NativeEnd, NativeIngest, ObjectSpec } from '../connector/index.ts';
import { AppError } from '../errors.ts';
import { type Plan, type PushedField, print, type QueryText, type Row } from '../where/index.ts';
import type { CallReport } from './call.ts';
import { endJob, judgeResults } from './native-job.ts';
import { goOnNatively, judgeNative, nativeStart } from './native-walk.ts';
import type { Action, ObjectTarget, Opened, OpenedList, OpenedQuery } from './opened.ts';
import { firstPosition, type Position, predictNext } from './page.ts';
import type { Query } from './query.ts';
import { scan } from './scan.ts';

/** A query that is followed page by page to its end. */
export interface WalkRequest extends QueryText {
  /** Maximum number of rows. */
  readonly limit?: number | undefined;
  /** The version of the mapping that the walk began with. A page by another one is not read. */
  readonly mappingVersion?: string | undefined;
}

/** The facts about a walk that are known before its first page. */
export interface Walk {
  readonly object: ObjectSpec;
  /** The fields of the rows, in this order. */
  readonly fields: readonly PushedField[];
  readonly start: Position;
  /** Identifies walks that can share positions: the same query, sent to the provider in the same way. */
  readonly key: string;
  /** The version of the mapping of a mapped object. */
  readonly mappingVersion?: string | undefined;
  /** Maximum number of its pages that may be requested at a time. If it is more than one, `behind` predicts positions. */
  readonly pagesAtOnce: number;
  /** Predicts the position of the page after a given one, if that one is full. Undefined where it cannot be predicted. */
  readonly behind: (position: Position) => Position | undefined;
}

/** The jobs of the provider that write rows. */
export interface IngestCall extends Pick<IngestStart, 'action' | 'key'> {
  readonly ingest: NativeIngest;
}

/** One page of a walk. */
export interface WalkedPage extends CallReport {
  readonly records: readonly Row[];
  /** The position of the next page. It is absent at the end. */
  readonly next?: Position;
  /** Number of rows of the query, where the provider reports it. */
  readonly total?: number;
  /** The approximate memory of the records in bytes. */
  readonly bytes: number;
  /** Milliseconds to wait before `next` can be read, because a job of the provider is running. */
  readonly waitMs?: number;
  /**
   * Whether the provider lost its job, with the rows that were not read yet. Then the walk begins again and skips the rows that were read.
   */
  readonly isLost?: true;
  /** Whether the mapping changed since the walk began. Then nothing was read, and the walk begins anew. */
  readonly isOutdated?: true;
}

/** The greatest number of rows. */
const ANY_NUMBER = Number.MAX_SAFE_INTEGER;
/** Maximum rows per page when pages are requested in parallel. Larger pages only increase memory and the pauses of garbage collection. */
const MOST_ROWS_OF_SEVERAL = 500;

/** How walks find their objects and prepare their queries. */
interface WalkPorts {
  readonly open: (target: ObjectTarget, action: Action) => Promise<Opened>;
  readonly openList: (target: ObjectTarget) => Promise<OpenedList>;
  readonly prepare: (opened: OpenedQuery, text: QueryText) => Promise<Query>;
}

/** Creates the calls that read all rows of a query, and those on jobs of the provider that read or write many rows. */
export function createWalks({ open, openList, prepare }: WalkPorts) {
  async function openWalk(target: ObjectTarget, { where, also, orderBy, fields }: WalkRequest) {
    const opened = await openList(target);
    const query = await prepare(opened, { where, also, orderBy, fields });
    assertSortPushed(query.plan);
    return { ...opened, query };
  }

  return {
    /**
     * Plans a walk.
     * @throws AppError WHERE_UNSUPPORTED for an order that the provider does not support, because not all rows can be sorted here
     */
    planWalk: async (target: ObjectTarget, request: WalkRequest): Promise<Walk> => {
      const { object, mapped, operation, query } = await openWalk(target, request);
      const { pagesAtOnce = 1 } = operation;
      const mappingVersion = mapped?.mapping.version;
      const { resultWindow } = object.limits ?? {};
      const paged = pagedStart({ object, operation, query }, request);
      const { native } = judgeNative(object, query, request.limit) ?? {};
      return {
        object,
        fields: query.fields,
        start: native === undefined ? paged : nativeStart(native),
        key: walkKey(query, paged, mappingVersion),
        mappingVersion,
        pagesAtOnce,
        behind: (position) =>
          position.native === undefined ? predictNext(operation, position, resultWindow) : undefined,
      };
    },

    /**
     * Reads a page of a walk and returns its matching rows. The page ends with the provider's page, so the position of a row is the page's,
     * with as many matches to skip as there are rows before it.
     * @throws AppError as `planWalk` and as calls to the provider; WHERE_UNSUPPORTED where the provider returns only a part of the rows
     */
    readPage: async (target: ObjectTarget, request: WalkRequest, position: Position): Promise<WalkedPage> => {
      const opened = await openWalk(target, request);
      const { call, object, mapped, operation: list, query } = opened;
      const { mappingVersion } = request;
      if (mappingVersion !== undefined && mapped?.mapping.version !== mappingVersion)
        return { records: [], bytes: 0, next: position, isOutdated: true, ...call.tally };
      const { native: step } = position;
      if (step !== undefined) {
        const native = requireNative(target, object, 'query');
        const paged = pagedStart(opened, request);
        const part = await goOnNatively(call, { native, query, position: { ...position, native: step }, paged });
        return { ...part, ...call.tally };
      }
      const { resultWindow } = object.limits ?? {};
      const input = { list, query, start: position, resultWindow, pageSize: ANY_NUMBER, maxProviderCalls: 1 };
      const { records, bytes, next, total, cutBy } = await scan(call, input);
      if (cutBy === 'result-window') throw hiddenFromWalk(target, resultWindow);
      return {
        records,
        bytes,
        ...(next !== undefined && { next }),
        ...(total !== undefined && { total }),
        ...call.tally,
      };
    },

    /**
     * Stops and removes a job of the provider that was started for us.
     * @throws AppError as calls to the provider
     */
    endNative: async (
      target: ObjectTarget,
      { ability, ...end }: NativeEnd & { readonly ability: keyof NativeBulk },
    ) => {
      const { call, object } = await open(target, 'list');
      await endJob(call, requireNative(target, object, ability), end);
    },

    /**
     * Starts a job of the provider that writes rows. It sends the rows when the id of the job is stored.
     * @throws AppError as calls to the provider
     */
    startIngest: async (
      target: ObjectTarget,
      { ingest, action, key }: IngestCall,
      input: Omit<IngestStart, 'action' | 'key'>,
    ) => {
      const { call } = await open(target, action);
      await call.execute(ingest.start, { ...input, action, key });
      return call.tally;
    },

    /**
     * Requests the state of a job.
     * @throws AppError as calls to the provider; NOT_FOUND where the job no longer exists
     */
    lookAtIngest: async (target: ObjectTarget, { ingest, action }: IngestCall, id: string) => {
      const { call } = await open(target, action);
      return { look: await call.execute(ingest.look, { id }), ...call.tally };
    },

    /**
     * Returns the outcomes of the rows of a job that has ended.
     * @throws as `lookAtIngest`
     */
    readIngest: async (
      target: ObjectTarget,
      { ingest, action }: IngestCall,
      job: IngestRows & { readonly id: string },
    ) => {
      const { call } = await open(target, action);
      return { rows: await judgeResults(call, await call.execute(ingest.read, job)), ...call.tally };
    },
  };
}

/** Returns the first position of a walk that reads the pages of the list. */
function pagedStart(
  { object, operation, query }: Pick<OpenedList, 'object' | 'operation'> & { readonly query: Query },
  { limit }: WalkRequest,
): Position {
  const most = (operation.pagesAtOnce ?? 1) > 1 ? MOST_ROWS_OF_SEVERAL : ANY_NUMBER;
  const { resultWindow } = object.limits ?? {};
  return firstPosition(query, operation, { page: 1, pageSize: Math.min(limit ?? ANY_NUMBER, most), resultWindow });
}

/** A connector that had jobs of its provider when a walk began may no longer have any. */
function requireNative<Ability extends keyof NativeBulk>(
  { instance, objectName }: ObjectTarget,
  { bulk }: ObjectSpec,
  ability: Ability,
): NonNullable<NativeBulk[Ability]> {
  const native = bulk?.[ability];
  if (native !== undefined) return native;
  throw new AppError('PROVIDER_PROTOCOL', `${instance.connector.name} has no jobs for '${objectName}' any more.`);
}

function walkKey({ canonical, plan, steps }: Query, { limit }: Position, mappingVersion: string | undefined): string {
  const asked = plan.queries.map(({ pushed }) => (pushed === undefined ? '' : print(pushed)));
  const version = mappingVersion === undefined ? [] : [mappingVersion];
  return JSON.stringify([canonical, asked, steps.fields.map(({ name }) => name), limit, ...version]);
}

function assertSortPushed({ sortPushed, orderBy }: Plan): void {
  if (sortPushed) return;
  const names = orderBy.map(({ field }) => `'${field.name}'`).join(', ');
  throw new AppError(
    'WHERE_UNSUPPORTED',
    `The provider cannot sort by ${names}, and Causeway cannot sort all rows of a bulk query. Leave out the order.`,
    { details: [{ path: '/query/orderBy', message: 'Not sortable at the provider.' }] },
  );
}

function hiddenFromWalk({ objectName }: ObjectTarget, resultWindow: number | undefined): AppError {
  return new AppError(
    'WHERE_UNSUPPORTED',
    `The provider returns at most ${resultWindow} rows for one query of '${objectName}', and this query has more. Narrow the filter.`,
  );
}
