import { expect } from 'chai';
import { KEY_SCOPES } from '../../generated/key-scopes.ts';
import { OPERATIONS, type OperationId } from '../../generated/operations.ts';
import type { Scope } from '../../src/api/validation.ts';
import { type ApiAnswer, type ApiCall, useApp } from '../support/app.ts';
import { createKey, withKey } from './support/access-keys.ts';
import { expectProblem } from './support/expect-problem.ts';
import { SHOP } from './support/simulated.ts';

/*
 * Every operation of the specification with keys of every kind. The table is written by hand, so that a new operation, or another rule of
 * the generator, fails here until somebody has decided what a key may do with it.
 */

const METADATA = ['listObjects', 'getObjectMetadata', 'getChildObjectMetadata', 'ping'];
const READS = ['listRecords', 'getRecord', 'listChildRecords', 'search'];
const WRITES = ['createRecord', 'replaceRecord', 'updateRecord', 'deleteRecord'];
const DOWNLOADS = ['createBulkQuery', 'listBulkJobs', 'getBulkStatus', 'getBulkFile', 'listBulkErrors'];
const BULK_CHANGES = ['createBulkUpload', 'cancelBulkJob', 'deleteBulkJob'];
const PASSED_CHANGES = ['passPost', 'passPut', 'passPatch', 'passDelete'];

/** The scopes that each operation needs, in the order in which a missing one is named. */
const NEEDED: ReadonlyMap<string, readonly string[]> = new Map([
  ...needing(['getOwnAccessKey'], []),
  ...needing([...METADATA, ...byHub(METADATA), ...READS, ...byHub(READS)], ['read']),
  ...needing(['explainQuery', 'listThisInstanceEvents'], ['read']),
  ...needing([...WRITES, ...byHub(WRITES)], ['write']),
  ...needing(['passGet'], ['read', 'passthrough']),
  ...needing(PASSED_CHANGES, ['write', 'passthrough']),
  ...needing([...DOWNLOADS, ...byHub(DOWNLOADS)], ['read', 'bulk']),
  ...needing([...BULK_CHANGES, ...byHub(BULK_CHANGES)], ['write', 'bulk']),
  ...needing(['listFederatedRecords'], ['read', 'federated']),
]);

function byHub(operations: readonly string[]): readonly string[] {
  return operations.map((id) => id.replace(/^[a-z]+/, '$&Hub'));
}

function needing(operations: readonly string[], scopes: readonly string[]) {
  return operations.map((id): readonly [string, readonly string[]] => [id, scopes]);
}

const PERMISSIONS = ['passthrough', 'bulk', 'federated'] as const;
const KINDS = (['read', 'write'] as const).flatMap((access) => [
  { name: access, access, allow: [] as readonly string[] },
  ...PERMISSIONS.map((each) => ({ name: `${access} with ${each}`, access, allow: [each] })),
  { name: `${access} with everything`, access, allow: PERMISSIONS },
]);
type Kind = Pick<(typeof KINDS)[number], 'access'> & { readonly allow: readonly string[] };

const UNKNOWN_CALLERS: readonly Scope[] = ['root', 'public', 'connect'];
const ids = (Object.keys(OPERATIONS) as OperationId[]).filter((id) =>
  (OPERATIONS[id].scopes as readonly Scope[]).every((scope) => !UNKNOWN_CALLERS.includes(scope)),
);

const PARAMETERS: Readonly<Record<string, string>> = {
  hub: 'general',
  objectName: 'Orders',
  childObjectName: 'Lines',
  objectId: 'A-1',
  path: 'Orders',
  key: 'general',
  keyOrId: 'odata',
};

/** With an instance, this path is an object of a hub, as it is with the token of the instance. */
const SEEN_AS_RECORDS: Readonly<Record<string, string>> = { listElementsOfHub: 'listHubRecords' };

function missingScope(id: string, { access, allow }: Kind): string | undefined {
  const needed = NEEDED.get(SEEN_AS_RECORDS[id] ?? id);
  if (needed === undefined) return 'platform';
  return needed.find((scope) => scope !== 'read' && scope !== access && !allow.includes(scope));
}

describe('the scopes of access keys', function scopes() {
  this.timeout(120_000);
  const service = useApp({ RATE_LIMIT_USER: 'off', RATE_LIMIT_ACCOUNT: 'off' });
  const keys = new Map<string, string>();
  let shop: ApiAnswer['body'];

  before(async () => {
    shop = await service.createInstance('odata', SHOP);
    for (const { name, access, allow } of KINDS)
      keys.set(name, (await createKey(service, { instances: [shop.id], access, allow })).key);
  });

  function requestFor(id: OperationId): readonly [string, ApiCall] {
    const { method, path } = OPERATIONS[id];
    const isUpdate = method === 'post' || method === 'put' || method === 'patch';
    return [
      path.replace(/\{(\w+)\}/g, (_, name: string) => PARAMETERS[name] ?? '1'),
      { method: method.toUpperCase(), ...(isUpdate && { body: {} }) },
    ];
  }

  it('are those of the table, for every operation of the specification', () => {
    expect(Object.fromEntries(Object.entries(KEY_SCOPES))).to.deep.equal(Object.fromEntries(NEEDED));
    expect(ids.length).to.be.above(300);
  });

  for (const id of ids) {
    it(`of ${id}`, async () => {
      for (const kind of KINDS) {
        const call = withKey(service, keys.get(kind.name) ?? '');
        const response = await call(...requestFor(id));
        const what = `${kind.name}: ${response.status} ${JSON.stringify(response.body)}`;
        const missing = missingScope(id, kind);
        if (missing === undefined) {
          expect([401, 403], what).to.not.include(response.status);
          continue;
        }
        expectProblem(response, 'FORBIDDEN');
        expect(response.body.message, what).to.contain(`This needs the scope ${missing}, which `);
        expect(response.body.details, what).to.have.length(1);
      }
    });
  }

  it('are asked for before the body is read', async () => {
    const call = withKey(service, keys.get('read') ?? '');
    const response = await call('/Orders', { method: 'POST', body: '{ this is no JSON' });
    expectProblem(response, 'FORBIDDEN', /scope write/);
  });

  it('change nothing for the secrets of a user', async () => {
    expect((await service.call('/Orders', { token: shop.token })).status).to.equal(200);
    expect((await service.call('/instances')).status).to.equal(200);
  });
});
