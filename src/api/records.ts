import { coversObject } from '../accounts/access-keys/scope.ts';
import { fileResponse } from '../http/file-headers.ts';
import { listHeaders } from '../http/response.ts';
import { SHOWS_NULLS } from '../instances/configuration.ts';
import type { Instance } from '../instances/instance.ts';
import { isJsonObject } from '../numbers/exact-json.ts';
import type { Platform } from '../platform.ts';
import type { CallReport } from '../resources/call.ts';
import type { ListRequest, RecordList } from '../resources/index.ts';
import { assertInHub, describeObject, describeObjects, findName, objectNames } from '../resources/objects.ts';
import type { Row } from '../where/index.ts';
import type { ApiServices } from './api-services.ts';
import type { Handlers, OperationHeaders, OperationQuery } from './operation.ts';

export function createRecordHandlers({ resources }: ApiServices, { clock }: Platform) {
  const target = ({ instance, path, query = {}, signal }: Addressed) => ({
    instance,
    objectName: path.objectName,
    signal,
    failsOnScriptError: 'onTransformationError' in query && query.onTransformationError === 'fail',
  });

  const direct = {
    listObjects: async ({ instance, signal, query, headers, key }) => {
      const { objects, mapped } = await resources.listObjects({ instance, signal });
      const isDetailed = query.details === true || headers['elements-version'] === 'Helium';
      const isReached = (name: string) => key === undefined || coversObject(key, name);
      const body = isDetailed
        ? describeObjects(objects, mapped).filter(({ name }) => isReached(name))
        : [...objectNames(objects, mapped)].filter(isReached);
      return { body, headers: { 'Elements-Returned-Count': body.length, ...instanceHeader(instance) } };
    },

    getObjectMetadata: async ({ instance, path, query, signal }) => {
      const object = await resources.getObject({ instance, objectName: path.objectName, signal });
      const { objects, mapped } = await resources.listObjects({ instance, signal });
      const own = mapped.has(path.objectName) ? undefined : findName(objects, path.objectName);
      const described = describeObject(own ?? path.objectName, object);
      const fields =
        query.customFieldsOnly === true ? described.fields.filter(({ custom }) => custom) : described.fields;
      return { body: { ...described, fields }, headers: instanceHeader(instance) };
    },

    getChildObjectMetadata: async (request) => {
      const { name, child } = await resources.getChild(target(request), request.path.childObjectName);
      return { body: describeObject(name, child), headers: instanceHeader(request.instance) };
    },

    ping: async ({ instance, signal }) => {
      const report = await resources.ping({ instance, signal });
      const body = { dateTime: new Date(clock.now()).toISOString(), endpoint: instance.connector.key };
      return { body, headers: callHeaders(instance, report) };
    },

    listRecords: async (request) => {
      const list = await resources.listRecords(target(request), toListRequest(request));
      return listResponse(list, request);
    },

    search: async (request) => {
      const { text, path, startDate, endDate, tags } = request.query;
      const parameters = { text, path, startDate, endDate, tags: tags?.join(',') };
      const list = await resources.listRecords(
        { instance: request.instance, objectName: 'search', signal: request.signal },
        { ...toListRequest(request), parameters },
      );
      return listResponse(list, request);
    },

    listChildRecords: async (request) => {
      const { objectId: id, childObjectName: child } = request.path;
      const list = await resources.listChildren({ ...target(request), id, child }, toListRequest(request));
      return listResponse(list, request);
    },

    getRecord: async (request) => {
      const found = await resources.getRecordOrFile(target(request), request.path.objectId, request.accept);
      if ('record' in found) return recordResponse(request, found);
      const { file, headers } = fileResponse(found);
      return { file, headers: { ...headers, ...callHeaders(request.instance, found) } };
    },
    createRecord: async (request) => {
      const { form, body } = request;
      const at = target(request);
      const stored = form === undefined ? resources.createRecord(at, body) : resources.uploadRecord(at, form);
      return recordResponse(request, await stored);
    },
    updateRecord: async (request) =>
      recordResponse(request, await resources.updateRecord(target(request), request.path.objectId, request.body)),
    replaceRecord: async (request) => {
      const { form, body } = request;
      const { objectId: id } = request.path;
      const at = target(request);
      const stored = form === undefined ? resources.replaceRecord(at, id, body) : resources.uploadVersion(at, id, form);
      return recordResponse(request, await stored);
    },
    deleteRecord: async (request) => {
      const report = await resources.deleteRecord(target(request), request.path.objectId);
      return { body: { id: request.path.objectId }, headers: callHeaders(request.instance, report) };
    },
  } satisfies Partial<Handlers>;

  return {
    ...direct,
    listHubObjects: inHub(direct.listObjects),
    getHubObjectMetadata: inHub(direct.getObjectMetadata),
    getHubChildObjectMetadata: inHub(direct.getChildObjectMetadata),
    listHubRecords: inHub(direct.listRecords),
    searchHub: inHub(direct.search),
    createHubRecord: inHub(direct.createRecord),
    getHubRecord: inHub(direct.getRecord),
    updateHubRecord: inHub(direct.updateRecord),
    replaceHubRecord: inHub(direct.replaceRecord),
    deleteHubRecord: inHub(direct.deleteRecord),
    listHubChildRecords: inHub(direct.listChildRecords),
    pingHub: inHub(direct.ping),
  } satisfies Partial<Handlers>;
}

interface Addressed {
  readonly instance: Instance;
  readonly path: { readonly objectName: string };
  readonly query?: object;
  readonly signal: AbortSignal;
}

/** Returns the same operation below `/hubs/{hub}`. It is not found unless the instance's element is in that hub. */
export function inHub<Request extends { readonly instance: Instance }, Result>(
  handle: (request: Request) => Result,
): (request: Request & { readonly path: { readonly hub: string } }) => Result {
  return (request) => {
    assertInHub(request.instance, request.path.hub);
    return handle(request);
  };
}

/** Default page size of the spec. The validator fills it in, which its types cannot express. */
const DEFAULT_PAGE_SIZE = 200;
const DEFAULT_MAX_PROVIDER_CALLS = 25;

interface ListParts {
  readonly query: OperationQuery<'listRecords'>;
  readonly headers: OperationHeaders<'listRecords'>;
}

function toListRequest({ query, headers }: ListParts): ListRequest {
  const { where, orderBy, fields, page, pageSize, nextPage } = query;
  return {
    where,
    orderBy,
    fields,
    // Some clients of the original count from 0.
    page: page === 0 ? 1 : page,
    pageSize: pageSize ?? DEFAULT_PAGE_SIZE,
    nextPage,
    maxProviderCalls: headers['elements-max-provider-calls'] ?? DEFAULT_MAX_PROVIDER_CALLS,
    pushdownOnly: headers['elements-query-mode'] === 'pushdown-only',
  };
}

function listResponse(list: RecordList, { instance, url }: { readonly instance: Instance; readonly url: string }) {
  const { records, bytes, nextPage, totalCount, pushdown, cutBy } = list;
  return {
    body: instance.config[SHOWS_NULLS] === false ? records.map(withoutNulls) : [...records],
    bytes,
    headers: {
      ...listHeaders(records.length, { url, token: nextPage }),
      'Elements-Total-Count': totalCount,
      'Elements-Query-Pushdown': pushdown,
      'Elements-Partial-Result': cutBy,
      ...callHeaders(instance, list),
    },
  };
}

function withoutNulls(record: Row): Row {
  return Object.fromEntries(
    Object.entries(record).flatMap(([name, value]) =>
      value === null ? [] : [[name, isJsonObject(value) ? withoutNulls(value) : value]],
    ),
  );
}

function recordResponse(
  { instance }: { readonly instance: Instance },
  { record, ...report }: CallReport & { readonly record: Readonly<Record<string, unknown>> },
) {
  const body = instance.config[SHOWS_NULLS] === false ? withoutNulls(record) : record;
  return { body, headers: callHeaders(instance, report) };
}

function instanceHeader(instance: Instance) {
  return { 'Elements-Element-Instance-Id': instance.id };
}

/** Returns the response headers that report an instance's calls to the provider. */
export function callHeaders(instance: Instance, { providerCalls, rateLimit, mapping }: CallReport) {
  return {
    ...(mapping !== undefined && mappingHeaders(mapping)),
    'Elements-Element-Instance-Id': instance.id,
    'Elements-Provider-Calls': providerCalls,
    'RateLimit-Limit': rateLimit?.limit,
    'RateLimit-Remaining': rateLimit?.remaining,
    'RateLimit-Reset': rateLimit?.resetSeconds,
  };
}

/** Maximum number of characters of `Elements-Error`. */
const LONGEST_HEADER = 1000;

/** Returns the headers that report values and rows that a mapping could not convert. */
export function mappingHeaders({ values, scripts, scriptReason, filterReason }: NonNullable<CallReport['mapping']>) {
  if (values.size === 0 && scripts === 0 && filterReason === undefined) return {};
  const faults = [...values].map(([name, { count, noun }]) =>
    count === 1 ? `1 value of '${name}' could not be converted` : `${count} values of '${name}' are no ${noun}`,
  );
  if (scripts > 0)
    faults.push(`The script failed for ${scripts} ${scripts === 1 ? 'record' : 'records'}: ${scriptReason}`);
  if (filterReason !== undefined) faults.push(`The script failed for the filter: ${filterReason}`);
  return {
    'Elements-Error': faults
      .join('; ')
      .slice(0, LONGEST_HEADER)
      .replaceAll(/[^\x20-\x7e]/g, '?'),
    ...(scripts > 0 && { 'Elements-Transformation-Errors': scripts }),
  };
}
