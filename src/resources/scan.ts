import { noRoom } from '../connector/client/byte-budget.ts';
import { toUnreadable } from '../connector/client/index.ts';
import type { ListOperation } from '../connector/index.ts';
import { AppError } from '../errors.ts';
import { createPacer, type Pacer } from '../pace.ts';
import { compareValues, type OrderBy, type Plan, type Row, reader } from '../where/index.ts';
import type { InstanceCall } from './call.ts';
import { goOn, type PagePosition, type Position, type Started, toListInput, totalOf } from './page.ts';
import { sizeOf } from './record.ts';
import { prepareOf } from './scripted-page.ts';
import { createTopRows } from './top-rows.ts';

/**
 * Why a page ended before it was full: the budget of provider calls, the budget of bytes, or a provider that returns no more rows of the
 * query.
 */
export type PartialReason = 'scan-budget' | 'bytes' | 'result-window';

/** One page of a query. */
interface ScanResult {
  readonly records: readonly Row[];
  /** The position of the next page. It is absent when there are no more rows. */
  readonly next?: Position;
  readonly total?: number;
  readonly cutBy?: PartialReason;
  /** The approximate memory of the records in bytes. */
  readonly bytes: number;
}

/** The input for one page of a query. */
interface ScanInput extends Started {
  readonly list: ListOperation<unknown>;
  readonly pageSize: number;
  readonly maxProviderCalls: number;
}

const MB = 1024 * 1024;
/** Maximum memory for one response, of what is kept from the provider's responses. */
const MAX_KEPT_BYTES = 64 * MB;
/**
 * Additional memory that the records may use beyond the responses that they are made of. A missing field becomes a null, so a few bytes of
 * a provider become megabytes where an object has thousands of fields.
 */
const MAX_FILLED_BYTES = 16 * MB;
/** The memory of records is counted for the account as they are made, in steps of this size. */
const COUNTED_BYTES = MB;

/** Counts the memory of the records of one response. */
function createKept(call: InstanceCall) {
  let responseBytes = 0;
  let counted = 0;
  return {
    /** The records may take as many bytes as the provider's response, and slightly more. */
    noteResponse: (bytes: number): void => {
      responseBytes += bytes;
    },
    /**
     * Counts the memory of all records so far.
     * @returns what they exceed: the maximum of the response, or the memory of the account or of the process
     */
    count: (bytes: number): { readonly mostBytes: number } | 'memory' | undefined => {
      const mostBytes = Math.min(MAX_KEPT_BYTES, responseBytes + MAX_FILLED_BYTES);
      if (bytes > mostBytes) return { mostBytes };
      if (bytes - counted < COUNTED_BYTES) return undefined;
      if (!call.take(bytes - counted)) return 'memory';
      counted = bytes;
      return undefined;
    },
    /** Releases the responses, because only the records are needed now. */
    keep: (bytes: number): void => {
      call.keep(bytes);
      counted = bytes;
    },
  };
}

/**
 * Reads one page of a query. It does not call the provider where no row can pass the filter.
 * @throws AppError as `scanAndSort`
 */
export function scan(call: InstanceCall, input: ScanInput): Promise<ScanResult> {
  const { plan } = input.query;
  if (plan.holds === 'never') return Promise.resolve({ records: [], total: 0, bytes: 0 });
  return plan.sortPushed ? scanInOrder(call, input) : scanAndSort(call, input);
}

/**
 * Reads the provider's pages until the page is full and one more match shows that there is a next page, until the rows end, or until the
 * budget is used up.
 */
async function scanInOrder(call: InstanceCall, input: ScanInput): Promise<ScanResult> {
  const { list, pageSize } = input;
  const { steps, plan } = input.query;
  const isChecked = plan.residual !== undefined;
  const pacer = createPacer(call.signal);
  const kept = createKept(call);
  const records: Row[] = [];
  let position = input.start;
  let bytes = 0;
  let total: number | undefined;
  const end = (next?: Position, cutBy?: PartialReason): ScanResult => {
    kept.keep(bytes);
    return { records, next, total, cutBy, bytes };
  };
  for (;;) {
    const { query = 0 } = position;
    const before = call.held();
    const page = await call.execute(list, toListInput(input, position));
    kept.noteResponse(call.held() - before);
    pacer.begin();
    const passes = steps.tests[query];
    const prepare = steps.isMapped ? prepareOf(page) : undefined;
    if (!isChecked && plan.queries.length === 1 && position.after === undefined) total = totalOf(page) ?? total;
    let { skipMatches } = position;
    let lastRow: Row | undefined;
    for (let index = position.skipRows; index < page.records.length; index++) {
      if (pacer.isDue()) await pacer.pause();
      const preparing = prepare?.(index);
      if (preparing !== undefined) await awaitRow(call, preparing, pacer);
      const native = readRecord(call, list, page.records[index]);
      if (native === LEFT_OUT) continue;
      const row = steps.map(native);
      lastRow = row;
      if (passes?.(row) === false) continue;
      if (skipMatches > 0) {
        skipMatches--;
        continue;
      }
      const record = steps.project(row);
      bytes += sizeOf(record);
      const isFull = records.length === pageSize;
      const isCut = records.length > 0 && kept.count(bytes) !== undefined;
      if (isFull || isCut) return end({ ...position, skipRows: index, skipMatches: 0 }, isFull ? undefined : 'bytes');
      records.push(record);
    }
    kept.keep(bytes);
    const { next, isCut } = goOn(input, position, page, lastRow);
    const after = next && { ...next, skipRows: 0, skipMatches, limit: position.limit };
    if (isCut) return end(after, 'result-window');
    if (after === undefined) return end();
    position = after;
    // Without a residual filter, the provider's next page surely has rows of the query. Another query may have none.
    const isFull = records.length === pageSize;
    if (isFull && !isChecked && page.next !== undefined) return end(position);
    if (call.tally.providerCalls >= input.maxProviderCalls) return end(position, isFull ? undefined : 'scan-budget');
  }
}

/** The value in place of a row that the script of its mapping leaves out. */
const LEFT_OUT = undefined;

/** Waits for a row that a script makes. */
async function awaitRow(call: InstanceCall, preparing: Promise<void>, pacer: Pacer): Promise<void> {
  try {
    await preparing;
  } catch (error) {
    call.signal.throwIfAborted();
    throw toUnreadable(call.instance, error);
  }
  pacer.begin();
}

function readRecord(call: InstanceCall, list: ListOperation<unknown>, record: unknown): unknown {
  call.assertMembers(record);
  try {
    return list.readRecord === undefined ? record : list.readRecord(record);
  } catch (error) {
    throw toUnreadable(call.instance, error);
  }
}

/**
 * Fetches all rows and sorts them here, for an order that the provider does not support.
 * @throws AppError WHERE_UNSUPPORTED when the budget does not reach the last row
 */
async function scanAndSort(call: InstanceCall, input: ScanInput): Promise<ScanResult> {
  const { list, pageSize, start } = input;
  const { steps, plan } = input.query;
  const pacer = createPacer(call.signal);
  const kept = createKept(call);
  const from = start.skipMatches;
  const rows = createTopRows(createOrder(plan.orderBy), from + pageSize);
  for (let position: PagePosition | undefined = {}; position !== undefined; ) {
    const isFirst = position.query === undefined;
    if (!isFirst && call.tally.providerCalls >= input.maxProviderCalls) throw tooManyToSort(plan, input);
    const before = call.held();
    const page = await call.execute(list, toListInput(input, position));
    kept.noteResponse(call.held() - before);
    pacer.begin();
    const passes = steps.tests[position.query ?? 0];
    const prepare = steps.isMapped ? prepareOf(page) : undefined;
    let lastRow: Row | undefined;
    for (const [index, record] of page.records.entries()) {
      if (pacer.isDue()) await pacer.pause();
      const preparing = prepare?.(index);
      if (preparing !== undefined) await awaitRow(call, preparing, pacer);
      const native = readRecord(call, list, record);
      if (native === LEFT_OUT) continue;
      const row = steps.map(native);
      lastRow = row;
      if (passes?.(row) === false) continue;
      rows.add(row, sizeOf(row));
      const exceeded = kept.count(rows.bytes());
      if (exceeded === 'memory') throw noRoom();
      if (exceeded !== undefined) throw tooLargeToSort(plan, exceeded.mostBytes);
    }
    kept.keep(rows.bytes());
    const { next, isCut } = goOn(input, position, page, lastRow);
    if (isCut) throw hiddenFromSort(plan, input);
    position = next;
  }
  const more = from + pageSize < rows.count();
  const next = more ? { skipRows: 0, skipMatches: from + pageSize, limit: start.limit } : undefined;
  const records: Row[] = [];
  const all = rows.bytes();
  for (let index = Math.min(rows.count(), from + pageSize); index > from; index--) {
    if (pacer.isDue()) await pacer.pause();
    const row = rows.takeLast();
    if (row !== undefined) records.push(steps.project(row));
  }
  const bytes = all - rows.bytes();
  kept.keep(bytes);
  return { records: records.reverse(), next, total: rows.count(), bytes };
}

function tooManyToSort(plan: Plan, input: ScanInput): AppError {
  return notSortable(
    plan,
    `Causeway would need more than ${input.maxProviderCalls} provider calls to sort the rows itself. Narrow the filter, or raise Elements-Max-Provider-Calls.`,
  );
}

function hiddenFromSort(plan: Plan, { resultWindow }: ScanInput): AppError {
  return notSortable(
    plan,
    `Causeway cannot sort the rows itself, because the provider returns only ${resultWindow} of them. Narrow the filter.`,
  );
}

function tooLargeToSort(plan: Plan, mostBytes: number): AppError {
  return notSortable(
    plan,
    `Causeway cannot sort the rows itself, because those up to the end of this page exceed ${Math.floor(mostBytes / MB)} MB. Narrow the filter, or request fewer fields or a smaller page.`,
  );
}

function notSortable({ orderBy }: Plan, why: string): AppError {
  const names = orderBy.map(({ field }) => `'${field.name}'`).join(', ');
  return new AppError('WHERE_UNSUPPORTED', `The provider cannot sort by ${names}, and ${why}`, {
    details: [{ path: '/query/orderBy', message: 'Not sortable at the provider.' }],
  });
}

function createOrder(orderBy: readonly OrderBy[]): (a: Row, b: Row) => number {
  const terms = orderBy.map(({ field, direction }) => {
    const read = reader(field.name);
    const compare = compareValues(field);
    const sign = direction === 'desc' ? -1 : 1;
    return (a: Row, b: Row) => sign * compare(read(a), read(b));
  });
  return (a, b) => {
    for (const term of terms) {
      const order = term(a, b);
      if (order !== 0) return order;
    }
    return 0;
  };
}
