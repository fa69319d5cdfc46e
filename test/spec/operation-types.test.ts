import { expect } from 'chai';
import type {
  OperationBody,
  OperationHeaders,
  OperationPath,
  OperationQuery,
  OperationResult,
} from '../../src/api/operation.ts';

/** Checked by tsc: each `satisfies` fails to compile when a type is wider or narrower than the spec. */
describe('the types of operations', () => {
  it('give path and query parameters by the names that handlers see', () => {
    const path = {
      hub: 'humancapital',
      objectName: 'employees',
      objectId: '7',
    } satisfies OperationPath<'getHubRecord'>;
    const query = { tags: ['a'], pageSize: 5 } satisfies OperationQuery<'listInstances'>;
    // @ts-expect-error: the name has no brackets after validation
    const bracketed = { 'tags[]': ['a'] } satisfies OperationQuery<'listInstances'>;
    // @ts-expect-error: page is a number after validation
    const text = { page: '1' } satisfies OperationQuery<'listRecords'>;
    expect([path, query, bracketed, text]).to.have.length(4);
  });

  it('give headers in lower case', () => {
    const headers = { 'elements-max-provider-calls': 25 } satisfies OperationHeaders<'listRecords'>;
    // @ts-expect-error: Node.js has header names in lower case
    const upper = { 'Idempotency-Key': 'x' } satisfies OperationHeaders<'createRecord'>;
    expect([headers, upper]).to.have.length(2);
  });

  it('give bodies and results, and undefined where there is no body', () => {
    const body = { element: { key: 'odata' }, name: 'x', configuration: {} } satisfies OperationBody<'createInstance'>;
    const none = undefined satisfies OperationBody<'enableInstance'>;
    const result = [{ key: 'crm', elements: [] }] satisfies OperationResult<'listHubs'>;
    // @ts-expect-error: the name is required
    const nameless = { element: { key: 'odata' }, configuration: {} } satisfies OperationBody<'createInstance'>;
    expect([body, none, result, nameless]).to.have.length(4);
  });
});
