import type { Accounts, Principal } from '../accounts/accounts.ts';
import { AppError } from '../errors.ts';
import type { Instance, Instances } from '../instances/instances.ts';
import type { Handlers } from './handler.ts';
import {
  toAccountInstanceRecord,
  toConfigurationRecord,
  toInstanceRecord,
  toNewInstanceRecord,
} from './instance-view.ts';
import { listHeaders } from './list-answer.ts';
import { createPageTokens, type PageSeal } from './page-token.ts';

type InstanceHandlers = Pick<
  Handlers,
  | 'createInstance'
  | 'listInstances'
  | 'getInstance'
  | 'updateInstance'
  | 'replaceInstance'
  | 'deleteInstance'
  | 'updateThisInstance'
  | 'replaceThisInstance'
  | 'deleteThisInstance'
  | 'enableInstance'
  | 'disableInstance'
  | 'getInstanceConfiguration'
  | 'updateInstanceConfiguration'
  | 'listAccountInstances'
  | 'listOwnAccountInstances'
>;

export interface InstanceHandlerPorts extends PageSeal {
  readonly accounts: Pick<Accounts, 'getUser' | 'findUsers'>;
  readonly instances: Instances;
}

/** Unless the caller asks for another number: the default of the spec. */
const PAGE_SIZE = 200;

export function createInstanceHandlers(ports: InstanceHandlerPorts): InstanceHandlers {
  const { accounts, instances } = ports;

  async function show(instance: Instance) {
    return { body: toInstanceRecord(instance, await accounts.getUser(instance.accountId, instance.userId)) };
  }

  async function showAll(accountId: number, shown: readonly Instance[]) {
    const ids = new Set(shown.map(({ userId }) => userId));
    const ownerOf = await accounts.findUsers(accountId, [...ids]);
    return shown.flatMap((instance) => {
      const owner = ownerOf.get(instance.userId);
      return owner === undefined ? [] : [toInstanceRecord(instance, owner)];
    });
  }

  async function listAccount({ accountId }: Principal) {
    const body = (await instances.listAll(accountId)).map(toAccountInstanceRecord);
    return { body, headers: { 'Elements-Returned-Count': body.length, 'Elements-Total-Count': body.length } };
  }

  async function remove(accountId: number, id: number) {
    await instances.remove(accountId, id);
    return { body: { id } };
  }

  return {
    createInstance: async ({ principal, body, signal }) => {
      const input = { ...body, element: body.element.key };
      const instance = await instances.create(principal, input, signal);
      return { body: toNewInstanceRecord(instance, await accounts.getUser(instance.accountId, instance.userId)) };
    },

    listInstances: async ({ principal: { accountId }, instance, query, url }) => {
      if (instance !== undefined) return show(instance);
      const { tags, searchText, where, pageSize = PAGE_SIZE, nextPage } = query;
      const tokens = createPageTokens(ports, `instances:${accountId}:${JSON.stringify([tags, searchText, where])}`);
      const afterId = tokens.read(nextPage);
      const page = await instances.list(accountId, { tags, searchText, where, limit: pageSize, afterId });
      const body = await showAll(accountId, page.instances);
      return { body, headers: listHeaders(body.length, { url, token: tokens.write(page.nextAfterId) }) };
    },

    getInstance: async ({ principal, path }) => show(await instances.get(principal.accountId, path.id)),
    updateInstance: async ({ principal, path, body, signal }) =>
      show(await instances.update(principal, path.id, body, signal)),
    replaceInstance: async ({ principal, path, body, signal }) =>
      show(
        await instances.replace(
          principal,
          path.id,
          withoutElement(await instances.get(principal.accountId, path.id), body),
          signal,
        ),
      ),
    deleteInstance: ({ principal, path }) => remove(principal.accountId, path.id),

    updateThisInstance: async ({ principal, instance, body, signal }) =>
      show(await instances.update(principal, instance.id, body, signal)),
    replaceThisInstance: async ({ principal, instance, body, signal }) =>
      show(await instances.replace(principal, instance.id, withoutElement(instance, body), signal)),
    deleteThisInstance: ({ instance }) => remove(instance.accountId, instance.id),

    enableInstance: async ({ principal, path }) =>
      show(await instances.setDisabled(principal.accountId, path.id, false)),
    disableInstance: async ({ principal, path }) => {
      await instances.setDisabled(principal.accountId, path.id, true);
      return { body: { id: path.id } };
    },

    getInstanceConfiguration: async ({ principal, path }) => ({
      body: toConfigurationRecord(await instances.get(principal.accountId, path.id)),
    }),
    updateInstanceConfiguration: async ({ principal, path, body, signal }) => ({
      body: toConfigurationRecord(
        await asWholeBody(instances.update(principal, path.id, { configuration: body }, signal)),
      ),
    }),

    listOwnAccountInstances: ({ principal }) => listAccount(principal),
    listAccountInstances: ({ principal, path }) => {
      if (path.id !== String(principal.accountId)) throw new AppError('NOT_FOUND', `There is no account ${path.id}.`);
      return listAccount(principal);
    },
  };
}

/** Where the configuration is not a part of the body but all of it, faults are a step nearer. */
async function asWholeBody<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof AppError) || error.details === undefined) throw error;
    const { code, message, details, providerMessage, retryAfterSeconds } = error;
    throw new AppError(code, message, {
      details: details.map(({ path, ...rest }) =>
        path === undefined ? rest : { ...rest, path: path.replace(/^\/body\/configuration(?=\/)/, '/body') },
      ),
      ...(providerMessage !== undefined && { providerMessage }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      cause: error,
    });
  }
}

/** An instance stays with its element: naming another one is a mistake, not a move. */
function withoutElement<Body extends { readonly element?: { readonly key: string } }>(
  instance: Instance,
  { element, ...rest }: Body,
) {
  if (element === undefined || element.key === instance.connector.key) return rest;
  const message = `Instance ${instance.id} belongs to the element '${instance.connector.key}'; make a new instance for another one.`;
  throw new AppError('REQUEST_INVALID', message, { details: [{ path: '/body/element/key', message }] });
}
