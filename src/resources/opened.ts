import type { CallTally } from '../connector/client/index.ts';
import type { ListOperation } from '../connector/index.ts';
import { AppError, isAppError } from '../errors.ts';
import type { Row } from '../where/index.ts';
import type { ConnectedInstance, InstanceCall } from './call.ts';
import type { FoundObject } from './catalog.ts';

/** The record or the list of an instance that a request is about. */
export interface ObjectTarget {
  readonly instance: ConnectedInstance;
  readonly objectName: string;
  /** Aborts when the caller closes the connection, and at the end of the request. The memory of responses is counted until then. */
  readonly signal: AbortSignal;
  /** Counts the calls to the provider, also when the request fails. */
  readonly tally?: CallTally;
  /** Whether the first row whose script fails ends the request. Default: the row is returned without the script. */
  readonly failsOnScriptError?: boolean;
  /**
   * Whether filters are sent without the changes that the script of a mapping makes. Polls need that: a change that a changed filter does not
   * find would be lost. Default false.
   */
  readonly keepsFilter?: boolean;
  /** Receives the provider's records, in the form of the API, by the mapped records of a list. */
  readonly vendorRows?: WeakMap<Row, Row>;
}

/** A list below a record. */
export interface ChildTarget extends ObjectTarget {
  /** The id of the parent record. */
  readonly id: string;
  readonly child: string;
}

/** What a call does, as messages and the judgement of credentials name it. */
export type Action =
  | 'list'
  | 'list changes of'
  | 'get'
  | 'create'
  | 'update'
  | 'upsert'
  | 'replace'
  | 'upload'
  | 'delete'
  | `list ${string} of`;

/** An object of an instance, found for a call. */
export interface Opened extends FoundObject {
  readonly call: InstanceCall;
}

/** The object of a query. */
export interface OpenedQuery extends Opened {
  /** Whether the script of a mapping does not change the filter. */
  readonly keepsFilter: boolean;
}

/** The list of an object, or of a child below a record. */
export interface OpenedList extends OpenedQuery {
  readonly operation: ListOperation<unknown>;
  /** Distinguishes the lists of an instance. */
  readonly path: string;
  readonly parentId?: string;
}

/** Adds the id of the record to a provider's NOT_FOUND. */
export function onRecord<Result>({ objectName }: ObjectTarget, id: string, work: Promise<Result>): Promise<Result> {
  return onNotFound(work, `There is no record '${id}' in '${objectName}'.`);
}

/** The message leaves open whether the record exists: the provider only says that there is nothing below it. */
export function belowRecord<Result>({ objectName, id, child }: ChildTarget, work: Promise<Result>): Promise<Result> {
  return onNotFound(
    work,
    `There are no '${child}' of the record '${id}' in '${objectName}': the record does not exist, or this instance may not see it.`,
  );
}

async function onNotFound<Result>(work: Promise<Result>, message: string): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!isAppError(error, 'NOT_FOUND')) throw error;
    throw new AppError('NOT_FOUND', message, {
      ...(error.providerMessage !== undefined && { providerMessage: error.providerMessage }),
      ...(error.details !== undefined && { details: error.details }),
      cause: error,
    });
  }
}
