import type { Watch } from '../schemas/index.ts';
import type { ChangeRow } from '../schemas/watch-store.ts';
import type { ApiServices } from './api-services.ts';
import type { Handlers, OperationResult } from './operation.ts';
import { type PageSeal, respondWithPage } from './page-tokens.ts';
import { fieldsOf, listRows } from './row-listing.ts';

type WatchView = OperationResult<'getSchemaWatch'>;
type ChangeView = OperationResult<'listSchemaChanges'>[number];

const WATCHES = fieldsOf('SchemaWatch');

export function createSchemaWatchHandlers({ schemas }: ApiServices, seal: PageSeal) {
  return {
    listSchemaWatches: async ({ principal: { accountId }, path: { id }, ...request }) =>
      listRows(seal, (await schemas.list(accountId, id)).map(toWatchView), request, {
        queryable: WATCHES,
        positionOf: ({ objectName }) => objectName,
        context: ['watches', accountId, id],
      }),

    getSchemaWatch: async ({ principal: { accountId }, path: { id, objectName } }) => ({
      body: toWatchView(await schemas.get(accountId, id, objectName)),
    }),

    watchSchema: async ({ principal: { accountId }, path: { id, objectName }, signal }) => ({
      body: toWatchView(await schemas.watch({ accountId, id }, objectName, signal)),
    }),

    unwatchSchema: async ({ principal: { accountId }, path: { id, objectName } }) => ({
      body: { objectName: await schemas.unwatch({ accountId, id }, objectName) },
    }),

    listSchemaChanges: ({ principal: { accountId }, path: { id }, ...request }) =>
      respondWithPage(seal, request, {
        context: ['schema-changes', accountId, id, request.query.where],
        read: (page) => schemas.listChanges(accountId, id, page),
        toView: toChangeView,
      }),
  } satisfies Partial<Handlers>;
}

function toWatchView({ row, check, uses }: Watch): WatchView {
  const { hash, pendingHash, isGone, fieldCount, checkedAt, changedAt } = row;
  const lastError = row.lastError ?? check?.lastError ?? null;
  return {
    objectName: row.objectName,
    state: pendingHash !== null ? 'unconfirmed' : hash === null ? 'pending' : isGone ? 'missing' : 'watched',
    requested: row.requested,
    polls: uses.polls.map(({ name }) => name),
    mappings: uses.mappings.map(({ objectName }) => objectName),
    formulas: uses.formulas.map(({ formulaId, formulaName, formulaInstanceId, formulaInstanceName }) => ({
      formulaId,
      formulaName,
      formulaInstanceId,
      formulaInstanceName,
    })),
    ...(fieldCount !== null && { fieldCount }),
    ...(checkedAt !== null && { checkedDate: checkedAt.toISOString() }),
    ...(changedAt !== null && { changedDate: changedAt.toISOString() }),
    ...(check !== undefined && { nextCheckDate: check.due.toISOString() }),
    ...(lastError !== null && { lastError }),
    failures: check?.failures ?? 0,
    createdDate: row.createdAt.toISOString(),
  };
}

function toChangeView({ id, objectName, change, breaks, createdAt }: ChangeRow): ChangeView {
  return {
    id,
    objectName,
    ...copyOf(change),
    breaks: copyOf(breaks),
    createdDate: createdAt.toISOString(),
  };
}

/** Returns a value that was stored as JSON, with arrays that the types of the API can have. */
function copyOf<Value>(value: Value): Mutable<Value> {
  return value as Mutable<Value>;
}

type Mutable<Value> = Value extends readonly (infer Item)[]
  ? Mutable<Item>[]
  : Value extends object
    ? { -readonly [Name in keyof Value]: Mutable<Value[Name]> }
    : Value;
