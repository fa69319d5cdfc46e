import { maskKey } from '../accounts/access-keys/key-text.ts';
import { type AccessKey, type Selectable, selectionOf } from '../accounts/access-keys/scope.ts';
import type { AccessKeyRow } from '../accounts/access-keys/store.ts';
import { AppError, type ErrorDetail, invalidRequest, pointer } from '../errors.ts';
import type { Instance } from '../instances/instance.ts';
import type { Instances } from '../instances/instances.ts';
import { missing } from '../shared-errors.ts';
import type { ApiServices } from './api-services.ts';
import type { Handlers, OperationBody, OperationResult } from './operation.ts';
import { type PageSeal, respondWithPage } from './page-tokens.ts';

type AccessKeyView = OperationResult<'getAccessKey'>;

/** Maximum number of instances that `GET /keys/me` shows. */
const MOST_SHOWN = 500;

export function createAccessKeyHandlers({ accessKeys, instances, registry }: ApiServices, seal: PageSeal) {
  /** @throws AppError REQUEST_INVALID that names every instance and element that does not exist */
  async function assertScope(accountId: number, body: OperationBody<'createAccessKey'>): Promise<void> {
    const { instances: ids = [], elementKeys = [], objects, allow = [] } = body;
    const faults: ErrorDetail[] = [];
    const there = new Set((await instances.getAll(ids.map((id) => ({ accountId, id })))).map(({ id }) => id));
    for (const [at, id] of ids.entries()) {
      if (there.has(id)) continue;
      faults.push({ path: pointer('body', 'instances', String(at)), message: missing('instance', id).message });
    }
    const known = new Set(registry.connectors.map(({ key }) => key));
    for (const [at, key] of elementKeys.entries()) {
      if (known.has(key)) continue;
      faults.push({
        path: pointer('body', 'elementKeys', String(at)),
        message: missing('element', key, known).message,
      });
    }
    for (const [at, kind] of allow.entries()) {
      if (objects === undefined || kind === 'federated') continue;
      const message = `A key with objects cannot have ${kind}, which reaches every object. Leave out one of them.`;
      faults.push({ path: pointer('body', 'allow', String(at)), message });
    }
    if (faults.length > 0) throw invalidRequest(faults);
  }

  return {
    createAccessKey: async ({ principal, body }) => {
      await assertScope(principal.accountId, body);
      const { allow = [], ...rest } = body;
      const { key, secret } = await accessKeys.create(principal, { ...rest, allow });
      return { body: { ...toKeyView(key), key: secret } };
    },

    listAccessKeys: ({ principal, ...request }) =>
      respondWithPage(seal, request, {
        context: ['keys', principal.accountId, principal.userId, request.query.where],
        read: (page) => accessKeys.list(principal, page),
        toView: toKeyView,
      }),

    getOwnAccessKey: async ({ principal: { accountId }, key }) => {
      if (key === undefined) throw new AppError('FORBIDDEN', 'This request has no access key. Send `Bearer ck_…`.');
      const { id, name, access, allow, objects, expiresAt } = key;
      const reached = await listInstancesOf(instances, { accountId, key, limit: MOST_SHOWN });
      return {
        body: {
          id,
          name,
          accountId,
          access,
          allow: [...allow],
          ...(objects !== undefined && { objects: [...objects] }),
          ...(expiresAt !== undefined && { expiresDate: expiresAt.toISOString() }),
          instances: reached.map(toKeyInstance),
        },
      };
    },

    getAccessKey: async ({ principal, path }) => ({ body: toKeyView(await accessKeys.get(principal, path.id)) }),

    updateAccessKey: async ({ principal, path, body }) => ({
      body: toKeyView(await accessKeys.update(principal, path.id, body)),
    }),

    deleteAccessKey: async ({ principal, path }) => {
      await accessKeys.remove(principal, path.id);
      return { body: { id: path.id } };
    },

    rotateAccessKey: async ({ principal, path, body }) => {
      const { key, secret } = await accessKeys.rotate(principal, path.id, body.overlapSeconds);
      return { body: { ...toKeyView(key), key: secret } };
    },
  } satisfies Partial<Handlers>;
}

/** Lists the instances that a key reaches, oldest first. */
async function listInstancesOf(
  instances: Pick<Instances, 'list'>,
  { accountId, key, limit }: { readonly accountId: number; readonly key: AccessKey; readonly limit: number },
): Promise<readonly Instance[]> {
  return (await instances.list(accountId, { ...selectionOf(key), limit, after: { id: 0 } })).instances;
}

function toKeyInstance({ id, name, connector, tags }: Selectable & { readonly name: string }) {
  return { id, name, elementKey: connector.key, tags: [...tags] };
}

function toKeyView({
  id,
  userId,
  name,
  access,
  allow,
  scope,
  createdAt,
  expiresAt,
  secrets,
}: AccessKeyRow): AccessKeyView {
  const { instances, elementKeys, tags, objects } = scope;
  const uses = secrets.flatMap(({ lastUsedAt }) => (lastUsedAt === null ? [] : [lastUsedAt.getTime()]));
  const [current] = secrets;
  return {
    id,
    name,
    key: maskKey(current?.lastFour ?? ''),
    access,
    allow: [...allow],
    ...(instances !== undefined && { instances: [...instances] }),
    ...(elementKeys !== undefined && { elementKeys: [...elementKeys] }),
    ...(tags !== undefined && { tags: [...tags] }),
    ...(objects !== undefined && { objects: [...objects] }),
    createdBy: userId,
    createdDate: createdAt.toISOString(),
    ...(expiresAt !== null && { expiresDate: expiresAt.toISOString() }),
    ...(uses.length > 0 && { lastUsedDate: new Date(Math.max(...uses)).toISOString() }),
    validKeys: secrets.map((secret) => ({
      key: maskKey(secret.lastFour),
      createdDate: secret.createdAt.toISOString(),
      ...(secret.expiresAt !== null && { expiresDate: secret.expiresAt.toISOString() }),
      ...(secret.lastUsedAt !== null && { lastUsedDate: secret.lastUsedAt.toISOString() }),
    })),
  };
}
