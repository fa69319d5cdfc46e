import type { Principal } from '../accounts/accounts.ts';
import { AppError, cutText } from '../errors.ts';
import { listHeaders } from '../http/response.ts';
import type { Instance } from '../instances/instance.ts';
import type { NewInstance } from '../instances/instances.ts';
import { type InstanceListPosition, type InstanceOrder, ORDERABLE_INSTANCE } from '../instances/store.ts';
import type { Platform } from '../platform.ts';
import type { ApiServices } from './api-services.ts';
import { assertAsRead, withPointers } from './body-faults.ts';
import {
  getConfigurationField,
  toConfigurationProperties,
  toConfigurationProperty,
} from './configuration-properties.ts';
import {
  type AroundInstance,
  toAccountInstanceView,
  toConfigurationView,
  toInstanceView,
  toNewInstanceView,
} from './instance-view.ts';
import type { Handlers, OperationBody, OperationPath, OperationQuery } from './operation.ts';
import { createPositionTokens, PAGE_SIZE } from './page-tokens.ts';

interface PageRequest {
  readonly query: OperationQuery<'listElementInstances'> & Pick<OperationQuery<'listInstances'>, 'hydrate'>;
  readonly url: string;
  readonly elementKey?: string;
}

/** Members that may change by themselves between reading an instance and writing it back. */
const DRIFTING = ['invalidReason', 'warnings', 'traceLoggingEnabled', 'traceLoggingUntil', 'lastCallDate', 'lastError'];

/** Default duration of trace logging in seconds, as in the spec. */
const TRACE_SECONDS = 3_600;

export function createInstanceHandlers(
  { accounts, activity, instances, registry, activeElements, webhooks }: ApiServices,
  { keys, clock }: Platform,
) {
  const { urlOf, registrations } = webhooks;
  const toAccountView = (instance: Instance) => toAccountInstanceView(instance, clock.now());

  async function aroundOf({ accountId, userId, id }: Instance): Promise<AroundInstance> {
    const [owner, inactive, lastCalls] = await Promise.all([
      accounts.getUser(accountId, userId),
      activeElements.inactiveOf(accountId),
      activity.lastCalls.find(accountId, [id]),
    ]);
    return { owner, urlOf, inactive, lastCalls, nowMs: clock.now() };
  }

  async function show(instance: Instance) {
    return { body: toInstanceView(instance, await aroundOf(instance)) };
  }

  async function update(principal: Principal, instance: Instance, { body, signal }: Change<'updateInstance'>) {
    const { name, tags, configuration, providerData, ...rest } = body;
    await assertSame(instance, rest);
    const changes = { name, tags, configuration, providerData: grantOf(providerData) };
    return show(await instances.update(principal, instance.id, changes, signal));
  }

  async function replace(principal: Principal, instance: Instance, { body, signal }: Change<'replaceInstance'>) {
    const { name, tags, configuration, providerData, element, ...rest } = body;
    if (element !== undefined && element.key !== instance.connector.key) throw anotherElement(instance);
    await assertSame(instance, rest);
    const input = { name, tags, configuration, providerData: grantOf(providerData) };
    return show(await instances.replace(principal, instance.id, input, signal));
  }

  async function assertSame(instance: Instance, rest: object) {
    if (Object.keys(rest).length === 0) return;
    const { body: shown } = await show(instance);
    assertAsRead(rest, { shown, drifting: DRIFTING });
  }

  async function showAll(accountId: number, shown: readonly Instance[]) {
    const ids = new Set(shown.map(({ userId }) => userId));
    const [ownerOf, inactive, lastCalls] = await Promise.all([
      accounts.findUsers(accountId, [...ids]),
      activeElements.inactiveOf(accountId),
      activity.lastCalls.find(
        accountId,
        shown.map(({ id }) => id),
      ),
    ]);
    const nowMs = clock.now();
    return shown.flatMap((instance) => {
      const owner = ownerOf.get(instance.userId);
      return owner === undefined ? [] : [toInstanceView(instance, { owner, urlOf, inactive, lastCalls, nowMs })];
    });
  }

  /** Lists all instances, as the contract requires, unless the request asks for pages. */
  async function listAccount(principal: Principal, { query, url }: PageRequest) {
    if (query.pageSize !== undefined || query.nextPage !== undefined) {
      const page = await readPage(principal, { query, url });
      return { body: page.instances.map(toAccountView), headers: page.headers };
    }
    const all = await instances.listAll(principal.accountId, query.where);
    const body = all.map(toAccountView);
    return { body, headers: { 'Elements-Returned-Count': body.length, 'Elements-Total-Count': body.length } };
  }

  async function listPage(principal: Principal, request: PageRequest) {
    const page = await readPage(principal, request);
    const all = await showAll(principal.accountId, page.instances);
    return {
      body: request.query.hydrate !== false ? all : all.map((each) => ({ ...each, configuration: {} })),
      headers: page.headers,
    };
  }

  async function readPage({ accountId }: Principal, { query, url, elementKey }: PageRequest) {
    const { tags, searchText, where, orderBy, pageSize = PAGE_SIZE, nextPage } = query;
    const filter = { elementKey, tags, searchText, where };
    const order = orderBy === undefined ? undefined : readOrder(orderBy);
    const tokens = createPositionTokens(keys, `instances:${accountId}:${JSON.stringify({ ...filter, order })}`);
    const after = readInstancePosition(tokens.read(nextPage));
    const page = await instances.list(accountId, { ...filter, order, limit: pageSize, after });
    const token = tokens.write(page.next && writeInstancePosition(page.next));
    return { instances: page.instances, headers: listHeaders(page.instances.length, { url, token }) };
  }

  async function create(principal: Principal, input: NewInstance, signal: AbortSignal) {
    const instance = await instances.create(principal, input, signal);
    return { body: toNewInstanceView(instance, await aroundOf(instance)) };
  }

  async function remove(accountId: number, id: number, signal: AbortSignal) {
    await registrations.end({ accountId, id }, signal);
    await instances.remove(accountId, id);
    return { body: { id } };
  }

  /**
   * Returns an instance of the element in the path.
   * @throws AppError NOT_FOUND, also for an instance of another element
   */
  async function getOfElement({ accountId }: Principal, { keyOrId, id }: OperationPath<'getElementInstance'>) {
    const { key } = registry.getConnector(keyOrId);
    const instance = await instances.get(accountId, id);
    if (instance.connector.key === key) return instance;
    throw new AppError('NOT_FOUND', `There is no instance ${id} of the element '${key}'.`);
  }

  const byId = {
    enableInstance: async ({ principal, path }) =>
      show(await instances.setDisabled(principal.accountId, path.id, false)),
    disableInstance: async ({ principal, path }) => {
      await instances.setDisabled(principal.accountId, path.id, true);
      return { body: { id: path.id } };
    },

    startTraceLogging: async ({ principal, path: { id }, query: { seconds = TRACE_SECONDS } }) => {
      const until = new Date(clock.now() + seconds * 1000);
      await instances.traceUntil(principal.accountId, id, until);
      return { body: { id, traceLoggingEnabled: true, traceLoggingUntil: until.toISOString() } };
    },
    endTraceLogging: async ({ principal, path: { id } }) => {
      await instances.traceUntil(principal.accountId, id, null);
      return { body: { id } };
    },

    getInstanceConfiguration: async ({ principal, path }) => ({
      body: toConfigurationView(await instances.get(principal.accountId, path.id)),
    }),
    updateInstanceConfiguration: async ({ principal, path, body, signal }) => ({
      body: toConfigurationView(
        await withPointers(asWholeBody, instances.update(principal, path.id, { configuration: body }, signal)),
      ),
    }),

    listConfigurationProperties: async ({ principal, path }) => {
      const body = toConfigurationProperties(await instances.get(principal.accountId, path.id));
      return { body, headers: { 'Elements-Returned-Count': body.length } };
    },
    getConfigurationProperty: async ({ principal, path }) => {
      const instance = await instances.get(principal.accountId, path.id);
      return { body: toConfigurationProperty(instance, getConfigurationField(instance.connector, path.configId)) };
    },
    updateConfigurationProperty: async ({ principal, path, body: { propertyValue, ...rest }, signal }) => {
      const instance = await instances.get(principal.accountId, path.id);
      const field = getConfigurationField(instance.connector, path.configId);
      assertAsRead(rest, { shown: toConfigurationProperty(instance, field) });
      const configuration = { [field.key]: propertyValue };
      const asProperty = (pointer: string) => pointer.replace(/^\/body\/configuration\/.*$/, '/body/propertyValue');
      const changed = instances.update(principal, path.id, { configuration }, signal);
      return { body: toConfigurationProperty(await withPointers(asProperty, changed), field) };
    },
  } satisfies Partial<Handlers>;

  return {
    createInstance: ({ principal, body, signal }) => create(principal, { ...body, element: body.element.key }, signal),

    createElementInstance: ({ principal, path, body: { element, ...body }, signal }) => {
      const { key } = registry.getConnector(path.keyOrId);
      if (element === undefined || element.key === key) return create(principal, { ...body, element: key }, signal);
      const message = `The path is of the element '${key}', the body of '${cutText(element.key)}'.`;
      throw new AppError('REQUEST_INVALID', message, { details: [{ path: '/body/element/key', message }] });
    },

    listInstances: ({ principal, instance, query, url }) =>
      instance === undefined ? listPage(principal, { query, url }) : show(instance),

    listElementInstances: ({ principal, path, query, url }) =>
      listPage(principal, { query, url, elementKey: registry.getConnector(path.keyOrId).key }),

    getInstance: async ({ principal, path }) => show(await instances.get(principal.accountId, path.id)),
    updateInstance: async ({ principal, path, body, signal }) =>
      update(principal, await instances.get(principal.accountId, path.id), { body, signal }),
    replaceInstance: async ({ principal, path, body, signal }) =>
      replace(principal, await instances.get(principal.accountId, path.id), { body, signal }),
    deleteInstance: ({ principal, path, signal }) => remove(principal.accountId, path.id, signal),

    updateThisInstance: ({ principal, instance, body, signal }) => update(principal, instance, { body, signal }),
    replaceThisInstance: ({ principal, instance, body, signal }) => replace(principal, instance, { body, signal }),
    deleteThisInstance: ({ instance, signal }) => remove(instance.accountId, instance.id, signal),

    ...byId,
    enableThisInstance: ofToken(byId.enableInstance),
    disableThisInstance: ofToken(byId.disableInstance),
    startThisTraceLogging: ofToken(byId.startTraceLogging),
    endThisTraceLogging: ofToken(byId.endTraceLogging),
    getThisInstanceConfiguration: ofToken(byId.listConfigurationProperties),
    updateThisInstanceConfiguration: ofToken(byId.updateInstanceConfiguration),
    getThisConfigurationProperty: ofToken(byId.getConfigurationProperty),
    updateThisConfigurationProperty: ofToken(byId.updateConfigurationProperty),

    getElementInstance: async ({ principal, path }) => show(await getOfElement(principal, path)),
    updateElementInstance: async ({ principal, path, body, signal }) =>
      update(principal, await getOfElement(principal, path), { body, signal }),
    replaceElementInstance: async ({ principal, path, body, signal }) =>
      replace(principal, await getOfElement(principal, path), { body, signal }),
    deleteElementInstance: async ({ principal, path, signal }) => {
      const { id } = await getOfElement(principal, path);
      return remove(principal.accountId, id, signal);
    },

    listOwnAccountInstances: ({ principal, query, url }) => listAccount(principal, { query, url }),
    listAccountInstances: ({ principal, query, url }) => listAccount(principal, { query, url }),
  } satisfies Partial<Handlers>;
}

/** @throws AppError REQUEST_INVALID */
function readOrder(orderBy: string): InstanceOrder {
  const [, name, direction = 'asc'] = /^\s*(\S+)(?:\s+(asc|desc))?\s*$/i.exec(orderBy) ?? [];
  const by = ORDERABLE_INSTANCE.find((each) => each === name);
  if (by !== undefined) return { by, direction: direction.toLowerCase() === 'desc' ? 'desc' : 'asc' };
  const message = `orderBy must be one of ${ORDERABLE_INSTANCE.join(', ')}, followed by asc (the default) or desc.`;
  throw new AppError('REQUEST_INVALID', message, { details: [{ path: '/query/orderBy', message }] });
}

/** The id first: the value may have any character. */
function writeInstancePosition({ id, value }: InstanceListPosition): string {
  return value === undefined ? String(id) : `${id} ${value}`;
}

function readInstancePosition(pointer: string | undefined): InstanceListPosition | undefined {
  if (pointer === undefined) return undefined;
  const end = pointer.indexOf(' ');
  return end === -1 ? { id: Number(pointer) } : { id: Number(pointer.slice(0, end)), value: pointer.slice(end + 1) };
}

interface Change<Id extends 'updateInstance' | 'replaceInstance'> {
  readonly body: OperationBody<Id>;
  readonly signal: AbortSignal;
}

/** Returns undefined for empty provider data: an instance that is sent back as it was read contains no new grant. */
function grantOf<Grant extends object>(providerData: Grant | undefined): Grant | undefined {
  return providerData === undefined || Object.keys(providerData).length === 0 ? undefined : providerData;
}

/** An instance stays with its element: naming another one is a mistake, not a move. */
function anotherElement({ id, connector }: Instance): AppError {
  const message = `Instance ${id} belongs to the element '${connector.key}'. Create a new instance for another element.`;
  return new AppError('REQUEST_INVALID', message, { details: [{ path: '/body/element/key', message }] });
}

/** Converts a pointer for a request whose whole body is the configuration. */
function asWholeBody(pointer: string): string {
  return pointer.replace(/^\/body\/configuration(?=\/)/, '/body');
}

interface ById {
  readonly path: { readonly id: number };
  readonly instance: undefined;
}

/** Returns the same operation for the instance that the token names. */
export function ofToken<Request extends ById, Result>(
  handle: (request: Request) => Result,
): (
  request: Omit<Request, keyof ById> & { readonly path: Omit<Request['path'], 'id'>; readonly instance: Instance },
) => Result {
  return ({ instance, path, ...rest }) => {
    const request = { ...rest, path: { ...path, id: instance.id }, instance: undefined };
    // The member that `Omit` removed is present again, which the compiler cannot see for a generic type.
    return handle(request as unknown as Request);
  };
}
