import { type AppError, isAppError } from '../errors.ts';
import { compareValues, parseOrderBy, pushedField, type Row, reader } from '../where/index.ts';
import type { ConnectedInstance } from './call.ts';
import type { ListRequest, Resources } from './index.ts';

/** An instance of a federated list. */
interface FederatedInstance extends ConnectedInstance {
  readonly name: string;
}

/** A query over the objects of one name of many instances. */
interface FederatedRequest extends Pick<ListRequest, 'where' | 'orderBy' | 'fields' | 'pageSize'> {
  readonly objectName: string;
  /** Maximum number of provider calls for each instance. */
  readonly maxProviderCalls: number;
  readonly position: FederatedPosition | undefined;
  readonly signal: AbortSignal;
}

/** Where the next page of a federated list begins. Instances that are at their end, or failed, are not in it. */
export interface FederatedPosition {
  /** For each instance its page token, if it has one, and the number of rows of that page that were returned already. */
  readonly instances: readonly InstancePosition[];
  /** Instances that failed on an earlier page. They stay failed, so that no row comes out of its order. */
  readonly failed: readonly FederatedError[];
}

interface InstancePosition {
  readonly id: number;
  readonly token?: string;
  readonly skip: number;
}

/** An instance whose rows are missing. */
interface FederatedError {
  readonly instanceId: number;
  readonly elementKey: string;
  readonly code: string;
  readonly message: string;
}

/** One page of a federated list. */
interface FederatedList {
  readonly records: readonly Row[];
  readonly bytes: number;
  readonly next?: FederatedPosition;
  readonly errors: readonly FederatedError[];
  /** Whether any of the called instances has the object. */
  readonly hasObject: boolean;
  readonly providerCalls: number;
}

/** Maximum number of instances that are called at a time. */
const AT_ONCE = 16;

/** A page of one instance, from the first row that was not returned yet. */
interface InstancePage {
  readonly instance: FederatedInstance;
  readonly position: InstancePosition;
  readonly rows: readonly Row[];
  readonly nextPage: string | undefined;
}

type Order = (a: Row, b: Row) => number;

/** Creates the lists over many instances of an account. */
export function createFederatedLists({ listRecords, getObject }: Resources) {
  /**
   * Reads one page of an instance.
   * @returns undefined where the instance has no such object
   */
  async function readPage(
    instance: FederatedInstance,
    position: InstancePosition,
    request: FederatedRequest,
    count: Counter,
  ): Promise<InstancePage | undefined> {
    const { objectName, signal, where, orderBy, fields, pageSize, maxProviderCalls } = request;
    const tally = { providerCalls: 0 };
    try {
      const target = { instance, objectName, signal, tally };
      if (!(await hasObject(target))) return undefined;
      const list = await listRecords(target, {
        where,
        orderBy,
        fields,
        // Rows that were returned already come again: a token leads to the beginning of a page.
        pageSize: pageSize + position.skip,
        nextPage: position.token,
        maxProviderCalls,
        pushdownOnly: false,
      });
      count.found++;
      count.bytes += list.bytes;
      return { instance, position, rows: list.records.slice(position.skip), nextPage: list.nextPage };
    } finally {
      count.providerCalls += tally.providerCalls;
    }
  }

  async function hasObject(target: Parameters<Resources['getObject']>[0]): Promise<boolean> {
    try {
      await getObject(target);
      return true;
    } catch (error) {
      if (isAppError(error, 'NOT_FOUND')) return false;
      throw error;
    }
  }

  /** Returns the order of rows of all instances, by the fields of the first instance that has the object. */
  async function orderOf(
    instances: readonly FederatedInstance[],
    request: FederatedRequest,
  ): Promise<Order | undefined> {
    const { orderBy, objectName, signal } = request;
    if (orderBy === undefined) return undefined;
    const terms = parseOrderBy(orderBy);
    for (const instance of instances) {
      const object = await getObject({ instance, objectName, signal }).catch((error: unknown) => {
        if (isAppError(error)) return undefined;
        throw error;
      });
      if (object === undefined) continue;
      const compared = terms.flatMap(({ field: { name }, direction }) => {
        const spec = Object.hasOwn(object.fields, name) ? object.fields[name] : undefined;
        if (spec === undefined) return [];
        const compare = compareValues(pushedField(name, spec));
        const read = reader(name);
        const sign = direction === 'desc' ? -1 : 1;
        return [(a: Row, b: Row) => sign * compare(read(a), read(b))];
      });
      return (a, b) => compared.reduce((order, compare) => order || compare(a, b), 0);
    }
    return undefined;
  }

  /** Returns pages of the instances, at most 16 at a time. What goes wrong with one of them is noted. */
  async function readPages(
    positions: readonly InstancePosition[],
    byId: ReadonlyMap<number, FederatedInstance>,
    request: FederatedRequest,
    count: Counter,
  ): Promise<readonly InstancePage[]> {
    const pages: (InstancePage | undefined)[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      for (let index = next++; index < positions.length; index = next++) {
        const position = positions[index];
        const instance = position && byId.get(position.id);
        if (position === undefined || instance === undefined) continue;
        try {
          pages[index] = await readPage(instance, position, request, count);
        } catch (error) {
          request.signal.throwIfAborted();
          if (!isAppError(error)) throw error;
          count.failed.push(toFailure(instance, error));
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, positions.length) }, work));
    return pages.filter((page) => page !== undefined);
  }

  /** Instance by instance: so many at a time that a page of empty ones costs no more than one wait. */
  async function listInTurn(
    positions: readonly InstancePosition[],
    byId: ReadonlyMap<number, FederatedInstance>,
    request: FederatedRequest,
    count: Counter,
  ): Promise<Pick<FederatedList, 'records'> & { readonly rest: readonly InstancePosition[] }> {
    const records: Row[] = [];
    for (let at = 0; at < positions.length; at += AT_ONCE) {
      const pages = await readPages(positions.slice(at, at + AT_ONCE), byId, request, count);
      for (const [index, page] of pages.entries()) {
        const room = request.pageSize - records.length;
        const taken = page.rows.slice(0, room);
        records.push(...taken.map((row) => marked(row, page.instance)));
        const after = positionAfter(page, taken.length);
        if (records.length < request.pageSize && after === undefined) continue;
        const later = pages.slice(index + 1).map(({ position }) => position);
        return { records, rest: [...(after === undefined ? [] : [after]), ...later, ...positions.slice(at + AT_ONCE)] };
      }
    }
    return { records, rest: [] };
  }

  /** Merges the rows of all instances in a common order. It reads from each instance as many rows as the page may need. */
  async function listMerged(
    positions: readonly InstancePosition[],
    byId: ReadonlyMap<number, FederatedInstance>,
    request: FederatedRequest & { readonly order: Order },
    count: Counter,
  ): Promise<Pick<FederatedList, 'records'> & { readonly rest: readonly InstancePosition[] }> {
    const pages = await readPages(positions, byId, request, count);
    const taken = new Map(pages.map((page) => [page, 0]));
    const records: Row[] = [];
    while (records.length < request.pageSize) {
      let least: { readonly page: InstancePage; readonly row: Row } | undefined;
      let isBlocked = false;
      for (const page of pages) {
        const row = page.rows[taken.get(page) ?? 0];
        // The next row of an instance whose page ended early is not known, so nothing behind it can be placed.
        if (row === undefined) isBlocked ||= page.nextPage !== undefined;
        else if (least === undefined || request.order(row, least.row) < 0) least = { page, row };
      }
      if (least === undefined || isBlocked) break;
      records.push(marked(least.row, least.page.instance));
      taken.set(least.page, (taken.get(least.page) ?? 0) + 1);
    }
    return { records, rest: pages.flatMap((page) => positionAfter(page, taken.get(page) ?? 0) ?? []) };
  }

  /**
   * Returns one page of the rows of all instances that have the object. An instance that fails does not fail the others.
   * @throws AppError the error of a query that every instance rejects for the query's own fault
   */
  return async (instances: readonly FederatedInstance[], request: FederatedRequest): Promise<FederatedList> => {
    const byId = new Map(instances.map((instance) => [instance.id, instance]));
    const { position } = request;
    const positions = position?.instances ?? instances.map(({ id }) => ({ id, skip: 0 }));
    const count: Counter = { bytes: 0, providerCalls: 0, found: 0, failed: [] };
    const order = await orderOf(instances, request);
    const { records, rest } =
      order === undefined
        ? await listInTurn(positions, byId, request, count)
        : await listMerged(positions, byId, { ...request, order }, count);
    const asked = count.failed.filter(({ fault }) => fault !== undefined);
    if (count.found === 0 && asked.length > 0 && asked.length === count.failed.length) {
      throw asked[0]?.fault;
    }
    const errors = [...(position?.failed ?? []), ...count.failed.map(({ fault: _, ...error }) => error)];
    return {
      records,
      bytes: count.bytes,
      ...(rest.length > 0 && { next: { instances: rest, failed: errors } }),
      errors,
      hasObject: count.found > 0 || position !== undefined,
      providerCalls: count.providerCalls,
    };
  };
}

interface Counter {
  bytes: number;
  providerCalls: number;
  /** Number of pages that were read. */
  found: number;
  readonly failed: Failed[];
}

interface Failed extends FederatedError {
  /** Set where the query itself is at fault, e.g. a misspelt field. */
  readonly fault?: AppError;
}

function toFailure({ id, connector }: FederatedInstance, error: AppError): Failed {
  const { code, message } = error;
  const isFault = code.startsWith('WHERE_') || code === 'REQUEST_INVALID';
  return { instanceId: id, elementKey: connector.key, code, message, ...(isFault && { fault: error }) };
}

/** Returns where the instance continues, or undefined at its end. */
function positionAfter({ position, rows, nextPage }: InstancePage, taken: number): InstancePosition | undefined {
  const { id, token } = position;
  if (taken < rows.length) return { id, ...(token !== undefined && { token }), skip: position.skip + taken };
  return nextPage === undefined ? undefined : { id, token: nextPage, skip: 0 };
}

function marked(row: Row, { id, connector, name }: FederatedInstance): Row {
  return { ...row, _instance: { id, elementKey: connector.key, name } };
}
