import type { Knex } from 'knex';
import { type ChangeNote, changeInTurn } from '../db/change.ts';
import { isReferenceViolation } from '../db/violations.ts';
import { AppError } from '../errors.ts';
import type { Platform } from '../platform.ts';
import { missing } from '../shared-errors.ts';
import { MOST_DEFINITIONS, MOST_STORED } from './check-definition.ts';
import type { KnownMappings } from './known.ts';
import type { Level } from './model.ts';
import { type Owner, ownerKey } from './owner.ts';
import { createMappingStore, type MappingStore } from './store.ts';

/** The sender of a change of definitions and transformations. */
export interface MappingCaller {
  readonly organizationId: number;
  readonly accountId: number;
  /** Returns whether the caller may change a level. */
  readonly mayChange: (level: Level) => boolean;
  /**
   * Asserts that the caller may change the level.
   * @throws AppError FORBIDDEN
   */
  readonly assertMayChange: (level: Level) => void;
}

/** A change under way, in its transaction. */
export interface MappingChange {
  readonly store: MappingStore;
  /** Notes that the mappings of an owner change. */
  readonly touch: (owner: Owner) => void;
}

/** The result of a change, with its entry in the audit log. */
interface Changed<Result> {
  readonly result: Result;
  readonly note: ChangeNote;
}

/** Runs a change of the mappings of an organization. Changes of one organization take turns. */
export type ChangeMappings = <Result>(
  organizationId: number,
  work: (change: MappingChange) => Promise<Changed<Result>>,
) => Promise<Result>;

/** Returns the function for changes. They hold from the next request on, in every process. */
export function createChangeMappings(
  { knex, notifier }: Pick<Platform, 'knex' | 'notifier'>,
  known: KnownMappings,
): ChangeMappings {
  return async (organizationId, work) => {
    const inTransaction = async (via: Knex) => {
      const store = createMappingStore(via);
      const touched = new Map<string, Owner>();
      await store.lock(organizationId);
      const done = await work({ store, touch: (owner) => touched.set(ownerKey(owner), owner) });
      for (const owner of touched.values()) {
        await assertRoom(store, owner);
        await known.changed(owner, via);
      }
      return done;
    };
    try {
      const { result } = await changeInTurn(knex, inTransaction, ({ note }) => note);
      await notifier.settle();
      return result;
    } catch (error) {
      // The instance or the account was deleted meanwhile.
      if (isReferenceViolation(error)) throw new AppError('NOT_FOUND', GONE, { cause: error });
      throw error;
    }
  };
}

const GONE = 'The instance or the account was deleted while its mappings were changed.';

/** @throws AppError CONFLICT when a level has more than its limits allow */
async function assertRoom(store: MappingStore, owner: Owner): Promise<void> {
  const { definitions, size } = await store.usage(owner);
  if (definitions > MOST_DEFINITIONS)
    throw new AppError(
      'CONFLICT',
      `The level ${owner.level} would have ${definitions} definitions, and can have ${MOST_DEFINITIONS}. Delete definitions that are not used.`,
    );
  if (size > MOST_STORED)
    throw new AppError(
      'CONFLICT',
      `The definitions and transformations of the level ${owner.level} would take more than ${MOST_STORED} characters as JSON. Delete some that are not used.`,
    );
}

/** Returns NOT_FOUND for a definition that a level does not have. */
export function noDefinition(objectName: string, { level }: Owner, known: readonly string[] = []): AppError {
  return missing(`definition at the level ${level} named`, objectName, known);
}
