import type { Principal } from '../accounts/accounts.ts';
import type { Privilege } from '../accounts/privileges.ts';
import type { Connector } from '../connector/contract.ts';
import { AppError, cutText, invalidRequest, pointer } from '../errors.ts';
import type { MappingCaller } from '../mappings/changes.ts';
import type { IgnoredFields, ShownDefinition, Written } from '../mappings/definitions.ts';
import type { Mappings } from '../mappings/index.ts';
import { LEVELS, type Level } from '../mappings/model.ts';
import type { Owner } from '../mappings/owner.ts';
import type { ShownTransformation } from '../mappings/transformations.ts';
import { assertPrivilege } from './access.ts';
import type { ApiServices } from './api-services.ts';
import { callerOf as callerOfFormulas } from './formulas.ts';
import { ofToken } from './instances.ts';
import type { Handlers, OperationBody, OperationResult } from './operation.ts';
import type { PageSeal } from './page-tokens.ts';
import { fieldsOf, listRows } from './row-listing.ts';

/** An action on definitions and transformations, as the privileges name it. */
type Action = 'create' | 'edit' | 'delete';

type DefinitionView = OperationResult<'getOrganizationDefinition'>;
type TransformationView = OperationResult<'getOrganizationTransformation'>;
type CommonResourceView = OperationResult<'getCommonResource'>;
type VdrView = OperationResult<'getVdr'>;

interface OfPrincipal {
  readonly principal: Principal;
}

interface Named {
  readonly path: { readonly objectName: string };
}

interface OfElement {
  readonly path: { readonly keyOrId: string };
}

interface OfInstance extends OfPrincipal {
  readonly path: { readonly id: number };
  readonly instance: undefined;
}

interface Propagating {
  readonly query: { readonly propagate?: boolean };
}

interface Clonable {
  readonly query: { readonly fromSystem?: boolean };
  readonly body: OperationBody<'createOrganizationDefinition'> | undefined;
}

/** An owner, and the element of an instance. */
interface Found {
  readonly owner: Owner;
  readonly connector?: Connector;
}

/** Finds the owner that a request is about. */
type FindOwner<Request> = (request: Request) => Found | Promise<Found>;

const COMMON_RESOURCES = fieldsOf('CommonResource');
const VDRS = fieldsOf('VdrEntry');

export function createMappingHandlers({ mappings, formulas, registry, instances }: ApiServices, seal: PageSeal) {
  const { definitions, transformations, commonResources, vdrs, catalogue } = mappings;

  const organization = ({ principal: { organizationId } }: OfPrincipal): Found => ({
    owner: { level: 'organization', organizationId },
  });
  const account = ({ principal: { organizationId, accountId } }: OfPrincipal): Found => ({
    owner: { level: 'account', organizationId, accountId },
  });
  const instance = async ({ principal, path: { id } }: OfInstance): Promise<Found> => {
    const { organizationId, accountId } = principal;
    const { connector } = await instances.get(accountId, id);
    return { owner: { level: 'instance', organizationId, accountId, instanceId: id }, connector };
  };
  const getInstanceOf = (principal: Principal) => (id: number) => instances.get(principal.accountId, id);

  /** Returns the handlers of the definitions of one level. */
  function definitionsOf<Request extends OfPrincipal>(find: FindOwner<Request>) {
    return {
      list: async (request: Request & { readonly query: { readonly systemOnly?: boolean } }) => {
        const { owner } = await find(request);
        if (request.query.systemOnly === true) return { body: toCatalogueView() };
        const found = await definitions.list(owner);
        if (found.length === 0)
          throw new AppError('NOT_FOUND', `There are no definitions at the level ${owner.level}.`);
        return { body: toMapView(found) };
      },
      createAll: async (request: Request & { readonly body: Readonly<Record<string, unknown>> }) => {
        const { owner } = await find(request);
        const written = await definitions.create(
          callerOf(request.principal, 'create'),
          owner,
          request.body,
          (objectName) => ({ name: ['body', objectName], body: ['body', objectName] }),
        );
        return { body: toMapView(written.shown), headers: ignoredHeader(written.ignored) };
      },
      removeAll: async (request: Request) => {
        const { owner } = await find(request);
        return { body: { objectNames: [...(await definitions.removeAll(owner))] } };
      },
      get: async (request: Request & Named) => {
        const { owner } = await find(request);
        return { body: toDefinitionView(await definitions.get(owner, request.path.objectName)) };
      },
      create: async (request: Request & Named & Clonable) => {
        const { owner, connector } = await find(request);
        const { objectName } = request.path;
        if (request.query.fromSystem === true) {
          await vdrs.takeOver(owner, connector?.key, { objectName });
          return { body: toDefinitionView(await definitions.get(owner, objectName)) };
        }
        const caller = callerOf(request.principal, 'create');
        const written = await definitions.create(caller, owner, { [objectName]: request.body }, () => ({
          name: ['path', 'objectName'],
          body: ['body'],
        }));
        const [shown] = written.shown;
        if (shown === undefined) throw new Error('A definition that was created is not shown.');
        return { body: toDefinitionView(shown), headers: ignoredHeader(written.ignored) };
      },
      replace: async (request: Request & Named & { readonly body: unknown }) => {
        const { owner } = await find(request);
        const caller = callerOf(request.principal, 'edit');
        return writtenDefinition(await definitions.replace(caller, owner, request.path.objectName, request.body));
      },
      rename: async (request: Request & Named & { readonly body: { readonly objectName: string } }) => {
        const { owner } = await find(request);
        const { objectName } = request.body;
        const renamed = await definitions.rename(owner, request.path.objectName, objectName, ['body', 'objectName']);
        return { body: toDefinitionView(renamed) };
      },
      remove: async (request: Request & Named) => {
        const { owner } = await find(request);
        await definitions.remove(owner, request.path.objectName);
        return { body: { objectName: request.path.objectName } };
      },
    };
  }

  /** Returns the handlers of the transformations of one level. */
  function transformationsOf<Request extends OfPrincipal>(
    find: (request: Request) => Promise<{ readonly owner: Owner; readonly connector: Connector }>,
  ) {
    const target = async (request: Request & Named) => ({
      ...(await find(request)),
      objectName: request.path.objectName,
    });
    return {
      list: async (request: Request) => {
        const { owner, connector } = await find(request);
        const found = await transformations.list(owner, connector);
        return { body: Object.fromEntries(found.map((one) => [one.objectName, toTransformationView(one)])) };
      },
      removeAll: async (request: Request & Propagating) => {
        const { owner, connector } = await find(request);
        const propagate = request.query.propagate === true;
        return { body: { objectNames: [...(await transformations.removeAll(owner, connector, { propagate }))] } };
      },
      get: async (request: Request & Named) => ({
        body: toTransformationView(await transformations.get(await target(request))),
      }),
      create: async (request: Request & Named & { readonly body: unknown }) =>
        writtenTransformation(
          await transformations.create(callerOf(request.principal, 'create'), await target(request), request.body),
        ),
      replace: async (request: Request & Named & { readonly body: unknown }) =>
        writtenTransformation(
          await transformations.replace(callerOf(request.principal, 'edit'), await target(request), request.body),
        ),
      remove: async (request: Request & Named & Propagating) => {
        await transformations.remove(await target(request), { propagate: request.query.propagate === true });
        return { body: { objectName: request.path.objectName } };
      },
    };
  }

  const ofElement =
    <Request extends OfPrincipal>(find: (request: Request) => Found) =>
    async (request: Request & OfElement) => ({
      ...find(request),
      connector: registry.getConnector(request.path.keyOrId),
    });

  const ofOrganization = definitionsOf(organization);
  const ofAccount = definitionsOf(account);
  const ofInstance = definitionsOf(instance);
  const mappedByOrganization = transformationsOf(ofElement(organization));
  const mappedByAccount = transformationsOf(ofElement(account));
  const mappedByInstance = transformationsOf(async (request: OfInstance) => {
    const { owner, connector } = await instance(request);
    if (connector === undefined) throw new Error('An instance has an element.');
    return { owner, connector };
  });

  function toCatalogueView() {
    const entries = [...catalogue.definitions].map(([name, { fields }]) => {
      const level = 'system' as const;
      return [name, { fields: fields.map((field) => ({ ...field, level })), level }] as const;
    });
    return Object.fromEntries(entries);
  }

  /**
   * Finds the level that a transformation belongs to.
   * @throws AppError REQUEST_INVALID, NOT_FOUND, FORBIDDEN
   */
  async function findTarget(principal: Principal, body: OperationBody<'putTransformation'>) {
    const { objectName, elementInstanceId, elementKey } = body;
    const caller = callerOf(principal, 'edit');
    const { organizationId, accountId } = principal;
    const level = readLevel(body.level) ?? (elementInstanceId == null ? highestLevel(caller) : 'instance');
    caller.assertMayChange(level);
    if (elementInstanceId != null) {
      const { connector } = await instances.get(accountId, elementInstanceId);
      const owners: Readonly<Record<Level, Owner>> = {
        organization: { level: 'organization', organizationId },
        account: { level: 'account', organizationId, accountId },
        instance: { level: 'instance', organizationId, accountId, instanceId: elementInstanceId },
      };
      return { caller, target: { owner: owners[level], connector, objectName } };
    }
    if (elementKey == null)
      throw missingMember('elementKey', 'is missing. Name the element, or an instance with elementInstanceId.');
    if (level === 'instance')
      throw missingMember('elementInstanceId', "is missing. The level 'instance' needs the id of the instance.");
    const owner: Owner =
      level === 'organization' ? { level, organizationId } : { level: 'account', organizationId, accountId };
    return { caller, target: { owner, connector: registry.getConnector(elementKey), objectName } };
  }

  return {
    listOrganizationDefinitions: ofOrganization.list,
    createOrganizationDefinitions: ofOrganization.createAll,
    deleteOrganizationDefinitions: ofOrganization.removeAll,
    getOrganizationDefinition: ofOrganization.get,
    createOrganizationDefinition: ofOrganization.create,
    replaceOrganizationDefinition: ofOrganization.replace,
    deleteOrganizationDefinition: ofOrganization.remove,
    renameOrganizationDefinition: ofOrganization.rename,

    listOwnAccountDefinitions: ofAccount.list,
    createOwnAccountDefinitions: ofAccount.createAll,
    deleteOwnAccountDefinitions: ofAccount.removeAll,
    getOwnAccountDefinition: ofAccount.get,
    createOwnAccountDefinition: ofAccount.create,
    replaceOwnAccountDefinition: ofAccount.replace,
    deleteOwnAccountDefinition: ofAccount.remove,
    renameOwnAccountDefinition: ofAccount.rename,

    listAccountDefinitions: ofAccount.list,
    createAccountDefinitions: ofAccount.createAll,
    deleteAccountDefinitions: ofAccount.removeAll,
    getAccountDefinition: ofAccount.get,
    createAccountDefinition: ofAccount.create,
    replaceAccountDefinition: ofAccount.replace,
    deleteAccountDefinition: ofAccount.remove,
    renameAccountDefinition: ofAccount.rename,

    listInstanceDefinitions: ofInstance.list,
    createInstanceDefinitions: ofInstance.createAll,
    deleteInstanceDefinitions: ofInstance.removeAll,
    getInstanceDefinition: ofInstance.get,
    createInstanceDefinition: ofInstance.create,
    replaceInstanceDefinition: ofInstance.replace,
    deleteInstanceDefinition: ofInstance.remove,
    renameInstanceDefinition: ofInstance.rename,
    listThisInstanceDefinitions: ofToken(ofInstance.list),
    createThisInstanceDefinitions: ofToken(ofInstance.createAll),
    deleteThisInstanceDefinitions: ofToken(ofInstance.removeAll),
    getThisInstanceDefinition: ofToken(ofInstance.get),
    createThisInstanceDefinition: ofToken(ofInstance.create),
    replaceThisInstanceDefinition: ofToken(ofInstance.replace),
    deleteThisInstanceDefinition: ofToken(ofInstance.remove),
    renameThisInstanceDefinition: ofToken(ofInstance.rename),

    listOrganizationTransformations: mappedByOrganization.list,
    deleteOrganizationTransformations: mappedByOrganization.removeAll,
    getOrganizationTransformation: mappedByOrganization.get,
    createOrganizationTransformation: mappedByOrganization.create,
    replaceOrganizationTransformation: mappedByOrganization.replace,
    deleteOrganizationTransformation: mappedByOrganization.remove,

    listOwnAccountTransformations: mappedByAccount.list,
    deleteOwnAccountTransformations: mappedByAccount.removeAll,
    getOwnAccountTransformation: mappedByAccount.get,
    createOwnAccountTransformation: mappedByAccount.create,
    replaceOwnAccountTransformation: mappedByAccount.replace,
    deleteOwnAccountTransformation: mappedByAccount.remove,

    listAccountTransformations: mappedByAccount.list,
    deleteAccountTransformations: mappedByAccount.removeAll,
    getAccountTransformation: mappedByAccount.get,
    createAccountTransformation: mappedByAccount.create,
    replaceAccountTransformation: mappedByAccount.replace,
    deleteAccountTransformation: mappedByAccount.remove,

    listInstanceTransformations: mappedByInstance.list,
    deleteInstanceTransformations: mappedByInstance.removeAll,
    getInstanceTransformation: mappedByInstance.get,
    createInstanceTransformation: mappedByInstance.create,
    replaceInstanceTransformation: mappedByInstance.replace,
    deleteInstanceTransformation: mappedByInstance.remove,
    listThisInstanceTransformations: ofToken(mappedByInstance.list),
    deleteThisInstanceTransformations: ofToken(mappedByInstance.removeAll),
    getThisInstanceTransformation: ofToken(mappedByInstance.get),
    createThisInstanceTransformation: ofToken(mappedByInstance.create),
    replaceThisInstanceTransformation: ofToken(mappedByInstance.replace),
    deleteThisInstanceTransformation: ofToken(mappedByInstance.remove),

    putTransformation: async ({ principal, body }) => {
      const { caller, target } = await findTarget(principal, body);
      return writtenTransformation(await transformations.put(caller, target, body));
    },

    listElementTransformations: ({ path }) => {
      const { objects } = registry.getConnector(path.keyOrId);
      const known = typeof objects === 'function' ? [] : Object.entries(objects);
      const body = known.flatMap(([vendorName, { aliases = [] }]) =>
        aliases.filter((name) => !Object.hasOwn(objects, name)).map((name) => ({ name, vendorName })),
      );
      return { body, headers: { 'Elements-Returned-Count': body.length } };
    },

    listCommonResources: async ({ principal, ...request }) => {
      const names = (await commonResources.listNames(principal)).map((name) => ({ name }));
      const page = listRows(seal, names, request, {
        queryable: COMMON_RESOURCES,
        positionOf: ({ name }) => name,
        context: ['common-resources', principal.accountId],
      });
      const body: CommonResourceView[] = [];
      for (const { name } of page.body) body.push(toCommonResourceView(await commonResources.get(principal, name)));
      return { body, headers: page.headers };
    },
    putCommonResource: async ({ principal, body }) => {
      const written = await commonResources.put(callerOf(principal, 'edit'), body, getInstanceOf(principal));
      return { body: toCommonResourceView(written.shown), headers: ignoredHeader(written.ignored) };
    },
    getCommonResource: async ({ principal, path }) => ({
      body: toCommonResourceView(await commonResources.get(principal, path.name)),
    }),
    renameCommonResource: async ({ principal, path, body }) => ({
      body: toCommonResourceView(await commonResources.rename(callerOf(principal, 'edit'), path.name, body.name)),
    }),
    deleteCommonResource: async ({ principal, path, query }) => {
      const force = query.force === true;
      await commonResources.remove(callerOf(principal, 'delete'), path.name, { force });
      return { body: { objectName: path.name } };
    },
    listCommonResourceUsages: async ({ principal, path }) => {
      await commonResources.get(principal, path.name);
      const usages = await formulas.templates.listUsages(callerOfFormulas(principal), path.name);
      const formulaUsages = usages.map(({ id, name, count }) => ({
        formulaId: id,
        formulaName: name,
        usageCount: count,
      }));
      return { body: { formulaUsages } };
    },

    listVdrs: async ({ principal, query, url }) => {
      const { systemOnly = false } = query;
      const rows = (await vdrs.list(principal, { systemOnly })).map((row) => ({ ...row }));
      // Clients that export all definitions read one page.
      const isWhole = query.pageSize === undefined && query.nextPage === undefined;
      const request = { query: isWhole ? { ...query, pageSize: rows.length } : query, url };
      return listRows(seal, rows, request, {
        queryable: VDRS,
        positionOf: ({ name, level, id }) => `${name} ${level} ${id}`,
        context: ['vdrs', principal.accountId, systemOnly],
      });
    },
    importVdr: async ({ principal, body }) => {
      const written = await vdrs.import(callerOf(principal, 'edit'), body, getInstanceOf(principal));
      return { body: toVdrView(written.shown), headers: ignoredHeader(written.ignored) };
    },
    getVdr: async ({ principal, path }) => ({
      body: toVdrView(await vdrs.get(principal, path.idOrName)),
    }),
    deleteVdr: async ({ principal, path }) => {
      const { name } = await vdrs.remove(callerOf(principal, 'delete'), path.idOrName);
      return { body: { objectName: name } };
    },
    exportVdr: async ({ principal, path }) => {
      const { definition, transformation } = await vdrs.export(principal, path.name);
      const entries = Object.entries(transformation).map(([key, one]) => [key, toTransformationInFile(one)] as const);
      return {
        body: {
          vdrName: path.name,
          vdrVersion: 'v2',
          definition: { objectName: definition.objectName, fields: definition.fields.map((field) => ({ ...field })) },
          transformation: Object.fromEntries(entries),
        },
      };
    },
    cloneVdr: async ({ principal, path, query }) => {
      const { organizationId, accountId } = principal;
      const caller = callerOf(principal, 'create');
      const level = query.level ?? highestLevel(caller);
      caller.assertMayChange(level);
      const owner: Owner =
        level === 'organization' ? { level, organizationId } : { level: 'account', organizationId, accountId };
      const elementKeys = query.cloneAllTransformations === true ? undefined : (query.elementKeys ?? []);
      await vdrs.takeOver(owner, undefined, { objectName: path.id, elementKeys });
      const [visible] = (await vdrs.list(principal, { systemOnly: false })).filter(
        (row) => row.name === path.id && row.level === level,
      );
      return { body: toVdrView(await vdrs.get(principal, visible?.id ?? path.id)) };
    },
  } satisfies Partial<Handlers>;
}

/** Privileges that change a level. All of them are needed. */
function privilegesFor(level: Level, action: Action): readonly Privilege[] {
  const needed: Readonly<Record<Level, readonly Privilege[]>> = {
    organization: [`${action}CommonObjects`, 'manageOrganization'],
    account: [`${action}CommonObjects`],
    instance: ['createElementInstances'],
  };
  return needed[level];
}

function callerOf(principal: Principal, action: Action): MappingCaller {
  const { organizationId, accountId, privileges } = principal;
  return {
    organizationId,
    accountId,
    mayChange: (level) => privilegesFor(level, action).every((privilege) => privileges.has(privilege)),
    assertMayChange: (level) => {
      for (const privilege of privilegesFor(level, action)) assertPrivilege(principal, privilege);
    },
  };
}

function highestLevel({ mayChange }: MappingCaller): 'organization' | 'account' {
  return mayChange('organization') ? 'organization' : 'account';
}

/** @throws AppError REQUEST_INVALID */
function readLevel(given: string | null | undefined): Level | undefined {
  if (given === undefined || given === null) return undefined;
  const level = LEVELS.find((each) => each === given);
  if (level === undefined) throw missingMember('level', `must be one of ${LEVELS.join(', ')}.`);
  return level;
}

function missingMember(name: string, text: string): AppError {
  return invalidRequest([{ path: pointer('body', name), message: `body.${name} ${text}` }]);
}

/** Number of fields that the header names. */
const MOST_NAMED = 10;

/** A header has only characters of ASCII. */
function ignoredHeader(ignored: readonly IgnoredFields[]): { readonly 'Elements-Error'?: string } {
  if (ignored.length === 0) return {};
  const sentences = ignored.map(({ level, paths }) => {
    const named = paths.slice(0, MOST_NAMED).map((path) => `'${cutText(path).replaceAll(/[^ -~]/g, '?')}'`);
    const more = paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : '';
    const subject = paths.length === 1 ? `The field ${named[0]} was` : `The fields ${named.join(', ')}${more} were`;
    return `${subject} ignored, because you may not change the level ${level}.`;
  });
  return { 'Elements-Error': sentences.join(' ') };
}

function writtenDefinition({ shown, ignored }: Written<ShownDefinition>) {
  return { body: toDefinitionView(shown), headers: ignoredHeader(ignored) };
}

function writtenTransformation({ shown, ignored }: Written<ShownTransformation>) {
  return { body: toTransformationView(shown), headers: ignoredHeader(ignored) };
}

function toMapView(shown: readonly ShownDefinition[]) {
  return Object.fromEntries(
    shown.map(({ objectName, fields, level }) => [
      objectName,
      { fields: fields.map((field) => ({ ...field })), level },
    ]),
  );
}

function toDefinitionView({ objectName, level, fields }: ShownDefinition): DefinitionView {
  return { objectName, level, fields: fields.map((field) => ({ ...field })) };
}

function toTransformationView(shown: ShownTransformation): TransformationView {
  const { objectName, vendorName, level, changedAt, fields, configuration, script } = shown;
  return {
    objectName,
    vendorName,
    level,
    startDate: changedAt.toISOString(),
    isLegacy: false,
    fields: fields.map(({ configuration: entries, type = 'string', ...field }) => ({
      ...field,
      type,
      ...(entries !== undefined && { configuration: entries.map((entry) => toEntryView(entry)) }),
    })),
    configuration: configuration.map((entry) => toEntryView(entry)),
    ...(script !== undefined && { script: { ...script } }),
  };
}

/** A file has the level of each part, because the levels of what it is imported to may differ. */
function toTransformationInFile(shown: ShownTransformation) {
  const { level, startDate: _, configuration = [], script, ...view } = toTransformationView(shown);
  return {
    ...view,
    elementKey: shown.elementKey,
    configuration: configuration.map((entry) => ({ ...entry, level })),
    ...(script !== undefined && { script: { ...script, level } }),
  };
}

function toEntryView(entry: { readonly type: string; readonly properties?: object }) {
  const { type, properties } = entry;
  return properties === undefined ? { type } : { type, properties: { ...properties } };
}

function toCommonResourceView(resource: Awaited<ReturnType<Mappings['commonResources']['get']>>): CommonResourceView {
  const { name, fields, elementInstanceIds, mappedElementIds } = resource;
  return {
    name,
    fields: fields.map((field) => ({ ...field })),
    elementInstanceIds: [...elementInstanceIds],
    mappedElementIds: [...mappedElementIds],
  };
}

function toVdrView({ fields, elementKeys, ...row }: Awaited<ReturnType<Mappings['vdrs']['get']>>): VdrView {
  return { ...row, fields: fields.map((field) => ({ ...field })), elementKeys: [...elementKeys] };
}
