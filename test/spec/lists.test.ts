import { expect } from 'chai';
import { OPERATIONS, type OperationId } from '../../generated/operations.ts';
import { fieldsOf } from '../../src/api/row-listing.ts';
import { readDocument } from './document.ts';

/** What a list takes. */
const LIST_PARAMETERS = ['where', 'pageSize', 'nextPage'];

/** Arrays that take less, and why. */
const OTHERS: Readonly<Partial<Record<OperationId, string>>> = {
  listObjects: 'the names that an instance has, discovered as a whole; the contract has no pages of them',
  listHubObjects: 'as listObjects',
  listOAuthProxyApplicationUrls: 'texts without members, of which a proxy has 100 at most',
  getElementConfiguration: 'a form, which is shown as a whole',
  listConfigurationProperties: 'as getElementConfiguration',
  getThisInstanceConfiguration: 'as getElementConfiguration',
  listFormulaVersions: 'the versions of one formula, newest first, which nobody looks for by anything else',
  listFormulaSteps: 'the steps of one formula, 500 at most',
  listFormulaStepExecutions: 'the steps of one execution, in their order, which are paged',
  listFormulaExecutionErrors: 'as listFormulaStepExecutions',
  listFormulaStepValues: 'the values of one step, which are paged',
  listFailedFormulaExecutions: 'of the period that `from` and `to` say, in pages',
  listFailedExecutionsOfFormula: 'as listFailedFormulaExecutions',
  listElementTransformations: 'aliases of the declared objects of one element, a few dozen at most',
  listHubKeys: 'texts without members, of which there are a dozen',
  listOrganizationSecrets: 'those that are valid, 20 at most',
  listOwnUserSecrets: 'as listOrganizationSecrets',
  listRoles: 'there are three',
  listUserRoles: 'there are three',
  listAccountRoles: 'there are two',
  countUsage: 'a series of 1,500 intervals at most, of the period that `from`, `to` and `interval` say',
  countElementUsage: 'as countUsage',
  countUsageStatuses: 'as countUsage',
  measureUsageTimes: 'as countUsage',
  getMetric: 'as countUsage',
  getOrganizationMetric: 'as countUsage, for each account',
  getBulkFile: 'a file, of which parts are asked for by `Range`',
  getHubBulkFile: 'as getBulkFile',
};

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
}

type Json = Readonly<Record<string, unknown>>;

const document = readDocument();

function resolve(node: unknown): Json {
  const { $ref, ...members }: Schema & Json = Object(node);
  if ($ref === undefined) return members;
  return resolve(
    $ref
      .slice(2)
      .split('/')
      .reduce<unknown>((found, name) => Object(found)[name], document),
  );
}

/** Of a `get`: what a 200 has as JSON is an array. */
function isArray(operation: Json): boolean {
  const content = Object(resolve(Object(operation.responses)[200]).content);
  return resolve(Object(content['application/json']).schema).type === 'array';
}

function parametersOf(path: string, operation: Json): readonly string[] {
  const item: Json = Object(document.paths[path]);
  return [item.parameters ?? [], operation.parameters ?? []].flat().map((parameter) => String(resolve(parameter).name));
}

describe('every list', () => {
  const lists = (Object.keys(OPERATIONS) as OperationId[]).flatMap((id) => {
    const { path, method } = OPERATIONS[id];
    const operation: Json = Object(document.paths[path]?.[method]);
    return method === 'get' && isArray(operation) ? [{ id, taken: parametersOf(path, operation) }] : [];
  });

  it('takes `where`, `pageSize` and `nextPage`, or says here why not', () => {
    expect(lists.length).to.be.above(15);
    const without = lists.filter(({ taken }) => !LIST_PARAMETERS.every((name) => taken.includes(name)));
    expect(without.map(({ id }) => id).toSorted()).to.deep.equal(Object.keys(OTHERS).toSorted());
  });

  it('says how many entries it has', () => {
    const silent = lists.filter(({ id }) => !OPERATIONS[id].list && OTHERS[id] === undefined);
    expect(silent).to.deep.equal([]);
  });
});

describe('the fields of a list in memory', () => {
  it('are the scalar members of its record, those of objects inside it with a dot', () => {
    const { fields } = fieldsOf('Element');
    expect(fields).to.include.keys('id', 'key', 'active', 'authentication.type');
    expect(fields).to.not.have.any.keys('authentication', 'resources', 'parameters');
    expect(fields.id).to.deep.equal({ type: 'integer', nullable: false });
    expect(fields.hookName).to.deep.equal({ type: 'string', nullable: true });
    expect(fieldsOf('Poll').fields.lastRunDate).to.deep.equal({ type: 'datetime', nullable: true });
    expect(Object.keys(fieldsOf('Hub').fields)).to.deep.equal(['key']);
  });
});
