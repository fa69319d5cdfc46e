import { listHeaders } from '../http/response.ts';
import type { Watch } from '../schemas/index.ts';
import type { ChangeRow } from '../schemas/watch-store.ts';
import type { ApiServices } from './api-services.ts';
import type { Handlers, OperationResult } from './operation.ts';
import { createPageTokens, type PageSeal } from './page-tokens.ts';
import { fieldsOf, listRows } from './row-listing.ts';

type WatchView = OperationResult<'getSchemaWatch'>;
type ChangeView = OperationResult<'listSchemaChanges'>[number];

const WATCHES = fieldsOf('SchemaWatch');
/** The page size of a request that names none: the default of the spec. */
const PAGE_SIZE = 200;

export function createSchemaWatchHandlers({ schemas }: ApiServices, seal: PageSeal) {
  return {
    listSchemaWatches: async ({ principal: { accountId }, path: { id }, query, url }) => {
      const listing = {
        queryable: WATCHES,
        positionOf: ({ objectName }: WatchView) => objectName,
        context: ['watches', accountId, id],
      };
      const watches = (await schemas.list(accountId, id)).map(toWatchView);
      const { rows, headers } = listRows(seal, watches, listing, { query, url });
      return { body: rows, headers };
    },

    getSchemaWatch: async ({ principal: { accountId }, path: { id, objectName } }) => ({
      body: toWatchView(await schemas.get(accountId, id, objectName)),
    }),

    watchSchema: async ({ principal: { accountId }, path: { id, objectName }, signal }) => ({
      body: toWatchView(await schemas.watch({ accountId, id }, objectName, signal)),
    }),

    unwatchSchema: async ({ principal: { accountId }, path: { id, objectName } }) => ({
      body: { objectName: await schemas.unwatch({ accountId, id }, objectName) },
    }),

    listSchemaChanges: async ({ principal: { accountId }, path: { id }, query, url }) => {
      const { where, pageSize: limit = PAGE_SIZE, nextPage } = query;
      const tokens = createPageTokens(seal, JSON.stringify(['schema-changes', accountId, id, where]));
      const page = await schemas.listChanges(accountId, id, { where, limit, afterId: tokens.read(nextPage) });
      const body = page.changes.map(toChangeView);
      return { body, headers: listHeaders(body.length, { url, token: tokens.write(page.nextAfterId) }) };
    },
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
