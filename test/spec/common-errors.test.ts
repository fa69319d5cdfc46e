import { join } from 'node:path';
import { expect } from 'chai';
import type { ApiDocument, Operation } from '../../scripts/generate/api-document.ts';
import { operationsOf } from '../../scripts/generate/api-document.ts';
import { addCommonErrors, commonErrorsOf } from '../../scripts/generate/common-errors.ts';
import { bundleSpec } from '../../scripts/generate/document.ts';
import { componentName } from './document.ts';

const SPEC = join(import.meta.dirname, '../../spec/openapi.yaml');

const THING: Operation = {
  operationId: 'getThing',
  tags: ['accounts'],
  summary: 'Get a thing',
  description: 'The thing.',
  responses: { 200: { $ref: '#/components/responses/Thing' } },
  'x-causeway-scopes': ['platform'],
};

const OF_ANYBODY = { 431: 'HeadersTooLarge', 500: 'Internal' };
const SECURED = { 400: 'BadRequest', 401: 'Unauthenticated', 403: 'Forbidden', 406: 'NotAcceptable' };
const OURS = { ...SECURED, ...OF_ANYBODY, 429: 'RateLimited', 503: 'Overloaded' };
const OF_PLATFORM = { ...OURS, 404: 'NotFound' };
const OF_PROVIDERS = { 424: 'InstanceCredentialsFailed', 502: 'BadGateway', 504: 'ProviderTimeout' };
const WITH_BODY = { 408: 'RequestTimeout', 413: 'PayloadTooLarge', 415: 'UnsupportedMediaType' };
const OF_RECORDS = {
  ...{ ...OURS, ...OF_PROVIDERS, 429: 'ProviderRateLimited' },
  ...{ 404: 'NotFound', 405: 'OperationUnsupported', 422: 'ProviderRejected' },
};

/** What each row asks of an operation, and every failure that it gets. */
const ROWS: readonly {
  readonly name: string;
  readonly path?: string;
  readonly method?: 'get' | 'post' | 'put';
  readonly operation?: Partial<Operation>;
  readonly fails: Readonly<Record<number, string>>;
}[] = [
  { name: 'what everybody may ask', operation: { 'x-causeway-scopes': ['root'] }, fails: OF_ANYBODY },
  { name: 'a call on the platform, for an account that may not be there', fails: OF_PLATFORM },
  { name: 'a call on an instance', operation: { 'x-causeway-scopes': ['instance'] }, fails: OURS },
  { name: 'the page of a connect session', operation: { 'x-causeway-scopes': ['connect'] }, fails: OF_PLATFORM },
  {
    name: 'what a path names',
    path: '/things/{id}',
    operation: { 'x-causeway-scopes': ['instance'] },
    fails: { ...OURS, 404: 'NotFound' },
  },
  { name: 'a query', operation: { parameters: [{ name: 'where' }] }, fails: { ...OF_PLATFORM, 400: 'BadQuery' } },
  { name: 'a body', method: 'put', operation: { requestBody: {} }, fails: { ...OF_PLATFORM, ...WITH_BODY } },
  {
    name: 'a key that makes a call once',
    method: 'post',
    operation: { parameters: [{ $ref: '#/components/parameters/Key' }] },
    fails: { ...OF_PLATFORM, 409: 'Conflict' },
  },
  {
    name: 'credentials that a provider is asked about',
    path: '/elements/{key}/instances',
    method: 'post',
    operation: { requestBody: {} },
    fails: {
      ...{ ...OURS, ...WITH_BODY, 400: 'BadInstance', 404: 'NotFound', 409: 'Conflict', 422: 'ProviderRejected' },
      ...{ 429: 'ProviderRateLimited', 502: 'BadGateway', 504: 'ProviderTimeout' },
    },
  },
  {
    name: 'discovery',
    operation: { tags: ['objects'], 'x-causeway-scopes': ['instance'] },
    fails: { ...OURS, ...OF_PROVIDERS, 429: 'ProviderRateLimited' },
  },
  {
    name: 'reading records',
    operation: { tags: ['records'], 'x-causeway-scopes': ['record'] },
    fails: OF_RECORDS,
  },
  {
    name: 'writing records',
    method: 'put',
    operation: { tags: ['records'], 'x-causeway-scopes': ['record'], requestBody: {} },
    fails: { ...OF_RECORDS, ...WITH_BODY, 409: 'Conflict' },
  },
  {
    name: 'what is passed on as it is, whose types and paths are for the provider to judge',
    path: '/passthrough/{path}',
    method: 'put',
    operation: { tags: ['passthrough'], 'x-causeway-scopes': ['instance'], requestBody: {} },
    fails: {
      ...{ 400: 'BadRequest', 401: 'Unauthenticated', 403: 'Forbidden', 413: 'PayloadTooLarge', 429: 'RateLimited' },
      ...{ 408: 'RequestTimeout', 431: 'HeadersTooLarge' },
      ...{ ...OF_PROVIDERS, 500: 'Internal', 503: 'Overloaded' },
    },
  },
];

describe('the failures that operations get by rule', () => {
  for (const { name, path = '/things', method = 'get', operation = {}, fails } of ROWS) {
    it(`are those of ${name}`, () => {
      const document = addCommonErrors(documentOf({ [path]: { [method]: { ...THING, ...operation } } }));
      const { 200: success, ...failures } = document.paths[path]?.[method]?.responses ?? {};
      expect(success).to.deep.equal(THING.responses['200']);
      expect(namesOf(failures)).to.deep.equal(Object.entries(fails).sort());
    });
  }

  it('give way to what a path file says', () => {
    const responses = { ...THING.responses, 400: { $ref: '#/components/responses/Own' } };
    const document = addCommonErrors(documentOf({ '/things': { get: { ...THING, responses } } }));
    expect(document.paths['/things']?.get?.responses).to.deep.include({ ...responses, 500: reference('Internal') });
  });

  it('are written in no path file, which says what is particular', async () => {
    const { document } = await bundleSpec(SPEC);
    for (const each of operationsOf(document)) {
      const common = new Set(namesOf(commonErrorsOf(each)).map(String));
      const written = namesOf(each.operation.responses).map(String);
      expect(
        written.filter((name) => common.has(name)),
        each.operation.operationId,
      ).to.deep.equal([]);
    }
  });

  it('are all in the document', async () => {
    const { document } = await bundleSpec(SPEC);
    const names = operationsOf(document).flatMap((each) => namesOf(commonErrorsOf(each)).map(([, name]) => name));
    expect(document.components.responses).to.include.all.keys(names);
  });
});

function documentOf(paths: ApiDocument['paths']): ApiDocument {
  return { paths, components: { parameters: { Key: { name: 'Idempotency-Key' } } } };
}

function reference(name: string): { readonly $ref: string } {
  return { $ref: `#/components/responses/${name}` };
}

function namesOf(responses: Operation['responses']): readonly (readonly [status: string, name: string])[] {
  const names = Object.entries(responses).map(([status, { $ref = '' }]) => [status, componentName($ref)] as const);
  return names.sort();
}
