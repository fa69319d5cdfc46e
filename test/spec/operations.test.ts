import { expect } from 'chai';
import { OPERATIONS } from '../../generated/operations.ts';
import { ERROR_STATUS } from '../../src/errors.ts';
import { componentName, type Operation, operationsOf, readDocument } from './document.ts';

/** What is for nobody in particular needs none. */
const SCHEMES: Readonly<Record<string, object>> = {
  platform: { UserOrganization: [] },
  public: {},
  connect: { ConnectKey: [] },
};
const OF_INSTANCE = { UserElement: [] };

const REFUSAL_HEADERS = ['Retry-After', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

const document = readDocument();
const operations = operationsOf(document);
/** What these answer and take is for the provider to say. */
const isPassed = ({ tags }: Operation) => tags.includes('passthrough');
const tags = document.tags.map(({ name }) => name);

describe('every operation of the spec', () => {
  it('has a tag that the document describes, a summary and a description', () => {
    for (const { place, operation } of operations) {
      expect(operation.tags, place).to.have.length(1);
      expect(tags, place).to.include.members([...operation.tags]);
      expect(operation.summary, place).to.match(/\S/);
      expect(operation.description, place).to.match(/\S/);
    }
  });

  it('asks for the authorization of its scopes, or says that it asks for none', () => {
    for (const { place, operation } of operations) {
      const scopes = operation['x-causeway-scopes'].filter((scope) => scope !== 'root');
      const isForKeys = operation['x-causeway-key-scopes'] !== undefined;
      // What the key of a request is, only a request with a key is told.
      const isForKeysOnly = operation.operationId === 'getOwnAccessKey';
      const expected = [
        ...(isForKeysOnly ? [] : scopes.map((scope) => SCHEMES[scope] ?? OF_INSTANCE)),
        ...(isForKeys ? [{ AccessKey: [] }] : []),
      ];
      expect(operation.security, place).to.deep.equal(expected);
    }
  });

  it('can fail with 500, and with 400, 401, 403, 406, 429 and 503 where it is secured', () => {
    for (const { place, operation } of operations) {
      const secured = operation.security.length > 0;
      const expected = secured ? ['400', '401', '403', '429', '500', '503'] : ['500'];
      if (secured && !isPassed(operation)) expected.push('406');
      expect(Object.keys(operation.responses), place).to.include.members([...successesOf(operation), ...expected]);
    }
  });

  it('takes the name of another account in a header where it is a call on the platform, and only there', () => {
    for (const { place, operation } of operations) {
      const references = (operation.parameters ?? []).map(({ $ref = '' }) => componentName($ref));
      const isPlatform = operation['x-causeway-scopes'].includes('platform');
      expect(references.includes('ActingAccount'), place).to.equal(isPlatform);
    }
    expect(document.components.parameters.ActingAccount).to.include({ name: 'Elements-Account-Id', in: 'header' });
  });

  it('can fail with 413 and 415 where it takes a body', () => {
    for (const { place, operation } of operations.filter(({ operation }) => 'requestBody' in operation)) {
      const expected = isPassed(operation) ? ['413'] : ['413', '415'];
      expect(Object.keys(operation.responses), place).to.include.members(expected);
    }
  });

  it('tells how the caller stands where it refuses one too many', () => {
    for (const { place, operation } of operations.filter(({ operation }) => '429' in operation.responses)) {
      const name = componentName(operation.responses['429']?.$ref ?? '');
      expect(Object.keys(document.components.responses[name]?.headers ?? {}), place).to.include.members(
        REFUSAL_HEADERS,
      );
    }
  });

  it('may have a large body where it writes a record, a mapping or a formula or sends an event, and nowhere else', () => {
    const all = Object.entries(OPERATIONS).filter(([, { largeBody }]) => largeBody);
    const written: readonly string[] = ['mappings', 'formulas'];
    const [ofMappings, large] = [true, false].map((isWritten) =>
      all.filter(([, { tag }]) => written.includes(tag) === isWritten),
    );
    for (const [id] of ofMappings ?? []) expect(id).to.match(/^(?:create|replace|put|import|execute)/);
    expect(ofMappings).to.have.length(33);
    expect(large?.map(([id]) => id)).to.have.members([
      ...['createRecord', 'updateRecord', 'replaceRecord', 'createHubRecord', 'updateHubRecord', 'replaceHubRecord'],
      ...['sendTestEvent', 'testSubscription', 'startFormulaExecutions', 'startExecutionsOfFormulaInstance'],
    ]);
  });

  it('fails only with statuses that an error code has', () => {
    const statuses = new Set(Object.values(ERROR_STATUS).map(String));
    for (const { place, operation } of operations) {
      const failures = Object.keys(operation.responses).filter((status) => !successesOf(operation).includes(status));
      expect(
        failures.filter((status) => !statuses.has(status)),
        place,
      ).to.deep.equal([]);
    }
  });

  it('is in the operation table, once, unless it is another one at a place with a name of its own', () => {
    const own = operations.filter(({ operation }) => operation['x-causeway-form-of'] === undefined);
    expect(Object.keys(OPERATIONS)).to.have.members(own.map(({ operation }) => operation.operationId));
  });
});

describe('the operation table', () => {
  for (const scope of ['public', 'connect', 'platform', 'instance', 'record', 'root']) {
    it(`matches every path of scope ${scope} first with its own entry`, () => {
      const entries = Object.entries(OPERATIONS).filter(([, { scopes }]) => scopes.some((each) => each === scope));
      for (const [id, { method, path }] of entries) {
        const url = path.replaceAll(/\{(\w+)\}/g, 'any-$1');
        const first = entries.find(([, entry]) => entry.method === method && matches(entry.path, url));
        expect(first?.[0], `${method} ${url}`).to.equal(id);
      }
    });
  }

  it('marks the operations that answer a list', () => {
    expect(OPERATIONS.listRecords.list).to.equal(true);
    expect(OPERATIONS.listHubs.list).to.equal(true);
    expect(OPERATIONS.getRecord.list).to.equal(false);
  });
});

describe('the error codes of the spec', () => {
  it('are those that the service can throw', () => {
    expect(document.components.schemas.ErrorCode.enum).to.deep.equal(Object.keys(ERROR_STATUS));
  });

  it('have in every example the status of the response that they stand in', () => {
    for (const { place, operation } of operations) {
      for (const [status, response] of Object.entries(operation.responses).filter(([status]) => status >= '400')) {
        for (const code of exampleCodes(response.$ref ?? ''))
          expect(statusOf(code), `${place} ${code}`).to.equal(status);
      }
    }
  });

  it('all have an example', () => {
    const codes = Object.keys(document.components.responses).flatMap((name) => exampleCodes(name));
    expect(new Set(codes)).to.have.all.keys(Object.keys(ERROR_STATUS));
  });
});

/** Success is 200 for every verb (decisions D3), save for the one path that is there to send browsers elsewhere. */
const REDIRECTS = ['leaveForProvider', 'redirectThroughOAuthProxy', 'redirectToDocs'];

/** And that of a file, of which a part may be asked for, or nothing when it is known. */
const FILES = ['getBulkFile', 'getHubBulkFile'];

function successesOf({ operationId }: Operation): readonly string[] {
  if (FILES.includes(operationId)) return ['200', '206', '304'];
  // A page, or back to where the browser began.
  if (operationId === 'showOAuthCallback') return ['200', '303'];
  // The answer to a request, or that a notification was received.
  if (operationId === 'callAgentTools') return ['200', '202'];
  // A page, or its present path.
  if (operationId === 'getGuide') return ['200', '302'];
  return REDIRECTS.includes(operationId) ? ['302'] : ['200'];
}

function matches(template: string, url: string): boolean {
  return new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(url);
}

function exampleCodes(response: string): readonly string[] {
  const content = document.components.responses[componentName(response)]?.content?.['application/json'];
  return Object.values(content?.examples ?? {}).flatMap(({ $ref }) => {
    const value = document.components.examples[componentName($ref)]?.value;
    return typeof value === 'object' && value !== null && 'code' in value ? [String(value.code)] : [];
  });
}

function statusOf(code: string): string | undefined {
  return Object.entries(ERROR_STATUS)
    .find(([each]) => each === code)?.[1]
    .toString();
}
