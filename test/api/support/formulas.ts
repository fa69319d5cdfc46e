import { OPERATIONS } from '../../../generated/operations.ts';
import type { TestApp } from '../../support/app.ts';
import { exampleNamed } from './documented-calls.ts';
import { withDatabase } from './tenants.ts';

type Service = Pick<TestApp, 'change' | 'databaseUrl'>;

const TABLES = ['formula_instance', 'formula'];
/** Sequences of ids. */
const SEQUENCES = ['formula_id_seq', 'formula_instance_id_seq', 'formula_part_id'];
/** What a formula of the examples must not have for an operation to succeed. */
const WITHOUT: Readonly<Partial<Record<string, 'trigger' | 'instance'>>> = {
  createFormulaTrigger: 'trigger',
  deleteFormula: 'instance',
  deleteFormulaVariable: 'instance',
};

/**
 * Removes all formulas, and makes those that the examples name: formula 1 with the variable 1, the trigger 2, the steps 3 and 4, and
 * the instance 1, which names the element instance 1; formula 2, which is a resource; and for jobs formula 3 with a schedule and the instance
 * 2. Nothing for operations of other things.
 */
export async function prepareFormulas(service: Service, id: string): Promise<void> {
  const operation = Object.entries(OPERATIONS).find(([name]) => name === id)?.[1];
  if (operation?.tag !== 'formulas' || operation.path === '/formulas') return;
  await withDatabase(service, async (knex) => {
    for (const table of TABLES) await knex(table).delete();
    for (const name of SEQUENCES) await knex.raw('select setval(?::text::regclass, 1, false)', [name]);
  });
  const post = (at: string, body: unknown) => service.change('POST', at, body);
  const without = WITHOUT[id];
  await post('/formulas', exampleNamed('newFormula'));
  await post('/formulas', exampleNamed('newResource'));
  if (without !== 'instance') await post('/formulas/1/instances', { name: 'Acme', configuration: { crm: 1 } });
  if (operation.path.startsWith('/jobs')) {
    const steps = [{ name: 'end', type: 'script', properties: { body: 'done();' } }];
    const triggers = [{ type: 'scheduled', properties: { cron: '0 0 0 1 1 ?' }, onSuccess: ['end'] }];
    await post('/formulas', { name: 'Every year', triggers, steps });
    await post('/formulas/3/instances', { name: 'Acme' });
  }
  if (without === 'trigger') await service.change('DELETE', '/formulas/1/triggers/2');
}
