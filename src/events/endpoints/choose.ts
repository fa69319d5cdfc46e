import type { Clock } from '../../clock.ts';
import type { Pacer } from '../../pace.ts';
import type { EventReceiver, EventSource, NewEvent } from '../model.ts';
import { wantsType } from '../model.ts';
import { compileEventFilter, type EventFilter, type EventRow, type RecordTypes } from './event-where.ts';

/** Which events an endpoint wants, as it was made. */
interface EndpointWish {
  readonly eventTypes: readonly string[];
  readonly where?: string | undefined;
  readonly instances?: readonly number[] | undefined;
  readonly elementKeys?: readonly string[] | undefined;
  readonly hubs?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** The filter of an endpoint, in a form for each kind of record. */
interface WishFilter {
  /** Judges an event without its record. Fields of records have the types of the literals that they are compared with. */
  readonly plain: EventFilter;
  /** Returns the filter for records with fields of these types. Undefined: no object describes them. */
  readonly of: (types: RecordTypes | undefined) => EventFilter;
}

/** An active endpoint of an account. */
export interface WantingEndpoint {
  readonly receiver: EventReceiver;
  /** Whether everything but the filter lets the event through. */
  readonly admits: (type: string, source: EventSource) => boolean;
  /** Undefined: there is no filter. */
  readonly filter: WishFilter | undefined;
}

/** Returns the receivers among the endpoints of an account that want an event. */
export type ChooseEndpoints = (event: NewEvent, source: EventSource) => Promise<readonly EventReceiver[]>;

/** Returns the choice among the endpoints of an account for the events of one call. Undefined: the account has none. */
export type FindEndpoints = (accountId: number) => Promise<ChooseEndpoints | undefined>;

/** Reads what filters need beside the event. Its work is limited for the events of one call. */
export interface RecordReading {
  /** Returns the record of an event; undefined if it cannot be read. */
  readonly record: (event: NewEvent, source: EventSource) => Promise<unknown>;
  /**
   * Returns the types of the fields of an event's record. Undefined: no object describes the record. `unknown`: the description cannot be read
   * now.
   */
  readonly types: (event: NewEvent, source: EventSource) => Promise<RecordTypes | 'unknown' | undefined>;
}

/** Compiles what an endpoint wants, once for each of its versions. @throws AppError WHERE_SYNTAX, WHERE_INVALID */
export function compileWish(wish: EndpointWish): Omit<WantingEndpoint, 'receiver'> {
  const { eventTypes, where, instances, elementKeys, hubs, tags } = wish;
  const sets = {
    instances: instances && new Set(instances),
    elementKeys: elementKeys && new Set(elementKeys),
    hubs: hubs && new Set(hubs),
    tags: tags && new Set(tags),
  };
  const admits = (type: string, source: EventSource) =>
    wantsType(eventTypes, type) &&
    sets.instances?.has(source.instanceId) !== false &&
    sets.elementKeys?.has(source.elementKey) !== false &&
    sets.hubs?.has(source.hub) !== false &&
    (sets.tags === undefined || source.tags.some((tag) => sets.tags?.has(tag)));
  return { admits, filter: where === undefined ? undefined : compileFilter(where) };
}

function compileFilter(where: string): WishFilter {
  const plain = compileEventFilter(where);
  // The description of an object is one value for as long as it is known, and so are its types.
  const forms = new WeakMap<RecordTypes, EventFilter>();

  function compileFor(types: RecordTypes): EventFilter {
    try {
      return compileEventFilter(where, types);
    } catch {
      // A literal is none of the field's type in this object.
      return plain;
    }
  }

  return {
    plain,
    of: (types) => {
      if (types === undefined) return plain;
      const form = forms.get(types) ?? compileFor(types);
      forms.set(types, form);
      return form;
    },
  };
}

interface ChoicePorts {
  readonly records: RecordReading;
  readonly pacer: Pacer;
  readonly clock: Pick<Clock, 'steady'>;
}

/** Maximum time in milliseconds that all filters spend on the records of one call. Hostile filters over long texts take it. */
const MOST_FILTER_MS = 1_000;

/**
 * Creates the choice among endpoints for the events of one call. The record of an event and its types are read once for all endpoints, and
 * only if a filter asks for them. Other work runs in between.
 */
export function createChoice(
  endpoints: readonly WantingEndpoint[],
  { records, pacer, clock }: ChoicePorts,
): ChooseEndpoints {
  let spentMs = 0;

  /** Judges a record. Undecided where the filters of the call have used up their time. */
  function judge(filter: EventFilter, row: EventRow) {
    if (spentMs > MOST_FILTER_MS) return 'undecided';
    const startedMs = clock.steady();
    const verdict = filter.judge(row);
    spentMs += clock.steady() - startedMs;
    return verdict;
  }

  return async (event, source) => {
    const wanting: EventReceiver[] = [];
    const undecided: { readonly receiver: EventReceiver; readonly filter: WishFilter }[] = [];
    let row: EventRow | undefined;
    for (const { receiver, admits, filter } of endpoints) {
      if (pacer.isDue()) await pacer.pause();
      if (!admits(event.type, source)) continue;
      if (filter === undefined) {
        wanting.push(receiver);
        continue;
      }
      row ??= toRow(event, source);
      const verdict = filter.plain.judge(row);
      if (verdict === 'yes') wanting.push(receiver);
      else if (verdict === 'undecided') undecided.push({ receiver, filter });
    }
    if (row === undefined || undecided.length === 0) return wanting;
    const object = event.object ?? (await records.record(event, source)) ?? undefined;
    const types = object === undefined ? 'unknown' : await records.types(event, source);
    pacer.begin();
    const complete = { ...row, object };
    for (const { receiver, filter } of undecided) {
      if (pacer.isDue()) await pacer.pause();
      const verdict = types === 'unknown' ? 'undecided' : judge(filter.of(types), complete);
      if (verdict === 'yes') wanting.push(receiver);
      else if (verdict === 'undecided') wanting.push({ ...receiver, unfiltered: true });
    }
    return wanting;
  };
}

/** Returns an event as filters see it, without its record. */
export function toRow({ type, objectName, objectId }: NewEvent, source: EventSource): EventRow {
  const { elementKey, hub, instanceId: id, instanceName: name, tags } = source;
  return { type, objectName, objectId, elementKey, hub, instance: { id, name, tags }, object: undefined };
}
