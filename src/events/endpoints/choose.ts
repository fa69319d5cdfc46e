import type { EventReceiver, EventSource, NewEvent } from '../model.ts';
import { wantsType } from '../model.ts';
import { compileEventFilter, type EventFilter, type EventRow, type RecordTypes } from './event-where.ts';

/** Which events an endpoint wants, as it was made. */
export interface EndpointWish {
  readonly eventTypes: readonly string[];
  readonly where?: string | undefined;
  readonly instances?: readonly number[] | undefined;
  readonly elementKeys?: readonly string[] | undefined;
  readonly hubs?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** An active endpoint of an account. */
export interface WantingEndpoint {
  readonly receiver: EventReceiver;
  /** Whether everything but the filter lets the event through. */
  readonly admits: (type: string, source: EventSource) => boolean;
  /** Undefined: there is no filter. */
  readonly filterFor: ((source: EventSource, event: NewEvent) => EventFilter) | undefined;
}

/** Returns the receivers among the endpoints of an account that want an event. */
export type ChooseEndpoints = (event: NewEvent, source: EventSource) => Promise<readonly EventReceiver[]>;

/** Returns the choice among the endpoints of an account for the events of one call. Undefined: the account has none. */
export type FindEndpoints = (accountId: number) => Promise<ChooseEndpoints | undefined>;

/** Reads the record of an event. Undefined: it cannot be read. */
export type ReadEventRecord = (event: NewEvent, source: EventSource, signal: AbortSignal) => Promise<unknown>;

/** Returns the types of the fields of an element's object, as far as they are known without a request to the provider. */
export type FindRecordTypes = (elementKey: string, objectName: string) => RecordTypes | undefined;

/** Maximum number of compiled forms of one filter. Each object of an element has its own. */
const MOST_FORMS = 500;

/** Compiles what an endpoint wants, once for each of its versions. */
export function compileWish(wish: EndpointWish, findTypes: FindRecordTypes): Omit<WantingEndpoint, 'receiver'> {
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
  return { admits, filterFor: where === undefined ? undefined : compileForObjects(where, findTypes) };
}

function compileForObjects(where: string, findTypes: FindRecordTypes): WantingEndpoint['filterFor'] {
  const plain = compileEventFilter(where);
  const forms = new Map<string, EventFilter>();

  function compileFor(elementKey: string, objectName: string): EventFilter {
    const types = findTypes(elementKey, objectName);
    if (types === undefined) return plain;
    try {
      return compileEventFilter(where, types);
    } catch {
      // A literal is none of the field's type in this object.
      return plain;
    }
  }

  return ({ elementKey }, { objectName, vendorObjectName }) => {
    // A mapped object has the fields of its definition.
    if (objectName === undefined || vendorObjectName !== undefined) return plain;
    const key = `${elementKey} ${objectName}`;
    const known = forms.get(key);
    if (known !== undefined) return known;
    const form = compileFor(elementKey, objectName);
    if (forms.size < MOST_FORMS) forms.set(key, form);
    return form;
  };
}

/**
 * Creates the choice among endpoints for the events of one call. The record of an event is read once for all endpoints, and only if a
 * filter asks for it.
 */
export function createChoice(
  endpoints: readonly WantingEndpoint[],
  readRecord: (event: NewEvent, source: EventSource) => Promise<unknown>,
): ChooseEndpoints {
  return async (event, source) => {
    const wanting: EventReceiver[] = [];
    const undecided: { readonly receiver: EventReceiver; readonly filter: EventFilter }[] = [];
    let row: EventRow | undefined;
    for (const { receiver, admits, filterFor } of endpoints) {
      if (!admits(event.type, source)) continue;
      if (filterFor === undefined) {
        wanting.push(receiver);
        continue;
      }
      row ??= toRow(event, source);
      const filter = filterFor(source, event);
      const verdict = filter.judge(row);
      if (verdict === 'yes') wanting.push(receiver);
      else if (verdict === 'undecided') undecided.push({ receiver, filter });
    }
    if (row === undefined || undecided.length === 0) return wanting;
    const object = row.object ?? (await readRecord(event, source));
    const complete = { ...row, object };
    for (const { receiver, filter } of undecided) {
      const verdict = filter.judge(complete);
      if (verdict === 'yes') wanting.push(receiver);
      else if (verdict === 'undecided') wanting.push({ ...receiver, unfiltered: true });
    }
    return wanting;
  };
}

export function toRow({ type, objectName, objectId, object }: NewEvent, source: EventSource): EventRow {
  const { elementKey, hub, instanceId: id, instanceName: name, tags } = source;
  return { type, objectName, objectId, elementKey, hub, instance: { id, name, tags }, object: object ?? undefined };
}
