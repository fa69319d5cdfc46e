import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { OWN_CONNECTORS } from '../../src/connector/registry.ts';
import {
  assertSound,
  findListings,
  type Listing,
  measureClaims,
  startTarget,
  type Target,
} from '../connector-suite.ts';

/** BambooHR's simulator ignores case, and takes a missing date for an early one. */
const LIES: Readonly<Record<string, Lie>> = {
  'text equality called exact': { field: 'firstName', claims: "filter: { '=': 'exact' }" },
  'an earlier date called exact': { field: 'hireDate', claims: "filter: { '<': 'exact' }" },
  'an inequality that finds too little': { field: 'lastName', claims: "filter: { '!=': 'superset' }" },
  'another collation than the provider has': { field: 'status', claims: "collation: 'cs'" },
};

interface Lie {
  readonly field: string;
  /** Source of what replaces the field's own claims. */
  readonly claims: string;
}

describe('a connector that declares what is not so', () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'causeway-connectors-'));
    await Promise.all(Object.values(LIES).map((lie, index) => writeLiar(folder, `liar${index}`, lie)));
  });
  after(() => rm(folder, { recursive: true }));

  Object.entries(LIES).forEach(([lie, { field }], index) => {
    it(`is caught: ${lie}`, async () => {
      const target = await startTarget({
        element: `liar${index}`,
        configuration: { username: 'demo-key', 'company.name': 'acme', simulator: true },
        connectorsPath: folder,
      });
      try {
        const employees = await findEmployees(target, field);
        expect(await measureClaims(target, employees, 20)).not.to.deep.equal([]);
        const failure = await assertSound(target, employees, { filters: 150, seed: 1 }).catch((error: Error) => error);
        expect(failure)
          .to.be.an('error')
          .with.property('message')
          .that.matches(/^employees where .*(?:rows do not match|rows are missing)/s);
      } finally {
        await target.stop();
      }
    }).timeout(60_000);
  });
});

/** As far as the field goes. */
async function findEmployees(target: Target, field: string): Promise<Listing> {
  const employees = (await findListings(target)).find(({ name }) => name === 'employees');
  const spec = employees?.object.fields[field];
  if (employees === undefined || spec === undefined) throw new Error(`There are no employees with '${field}'.`);
  return { ...employees, object: { ...employees.object, fields: { [field]: spec } } };
}

/** BambooHR under another key, with the lie, outside the repository. */
async function writeLiar(folder: string, key: string, { field, claims }: Lie): Promise<void> {
  const original = pathToFileURL(join(OWN_CONNECTORS, 'bamboohr')).href;
  const index = `
import { defineConnector } from '#connector';
import original from '${original}/index.ts';

export default defineConnector({
  ...original,
  key: '${key}',
  id: 99000${key.slice(-1)},
  objects: async (context) => {
    const { employees, ...others } = await original.objects(context);
    const { fields } = employees;
    return { ...others, employees: { ...employees, fields: { ...fields, ${field}: { ...fields.${field}, ${claims} } } } };
  },
});
`;
  await mkdir(join(folder, key));
  await writeFile(join(folder, key, 'index.ts'), index);
  await writeFile(join(folder, key, 'simulator.ts'), `export { createSimulator } from '${original}/simulator.ts';\n`);
}
