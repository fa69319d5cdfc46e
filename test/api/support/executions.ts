import { OPERATIONS } from '../../../generated/operations.ts';
import type { TestApp } from '../../support/app.ts';
import { until } from '../../support/until.ts';
import { withDatabase } from './tenants.ts';

type Service = Pick<TestApp, 'call' | 'change' | 'databaseUrl'>;

/** The ids that the examples name: of the execution, and of its trigger, behind which the step is. */
const EXECUTION_ID = 61;
const TRIGGER_ID = 901;
let version = 1_000;
const NEVER = '2100-01-01T00:00:00Z';

/**
 * Removes all formulas, and makes formula 1 with the instance 1 and its execution 61, which has failed in the step 902. Nothing for operations
 * of other things.
 */
export async function prepareExecutions(service: Service, id: string): Promise<void> {
  const operation = Object.entries(OPERATIONS).find(([name]) => name === id)?.[1];
  if (operation?.tag !== 'formula-executions') return;
  await withDatabase(service, async (knex) => {
    for (const table of ['formula_run', 'formula_execution', 'formula_step', 'formula_instance', 'formula'])
      await knex(table).delete();
    for (const [name, first] of Object.entries({
      formula_id_seq: 1,
      formula_instance_id_seq: 1,
      formula_execution_id: EXECUTION_ID,
      formula_step_id: TRIGGER_ID,
    }))
      await knex.raw('select setval(?::text::regclass, ?::bigint, false)', [name, first]);
  });
  const post = (path: string, body: unknown) => service.change('POST', path, body);
  const again = { name: 'again', type: 'retryFormulaExecution' };
  await post('/formulas', {
    name: 'Contacts to the other CRM',
    triggers: [{ type: 'manual', onSuccess: ['createInvoice'] }],
    steps: [
      { name: 'createInvoice', type: 'script', properties: { body: "throw('why'); done();" }, onFailure: ['again'] },
      ...(id === 'forgetFormulaRetry' ? [again] : []),
    ],
  });
  // A version of a formula never changes, so processes keep those that they have read.
  version += 1;
  await withDatabase(service, async (knex) => {
    await knex('formula_version').where({ formula_id: 1 }).update({ version });
    await knex('formula').where({ id: 1 }).update({ version });
  });
  await post('/formulas/1/instances', { name: 'Acme' });
  await post('/formulas/instances/1/executions', { foo: 'bar' });
  await until(async () => {
    const { body } = await service.call(`/formulas/instances/executions/${EXECUTION_ID}`);
    return body.status === 'failed' || body.status === 'retry';
  });
  if (id === 'cancelFormulaExecution') await beginAgain(service);
}

/** Lets the execution wait, as no worker would leave it. */
async function beginAgain(service: Service): Promise<void> {
  await withDatabase(service, async (knex) => {
    await knex('formula_execution').update({ status: 'pending' });
    await knex.raw(
      `insert into formula_run (account_id, id, execution_at, formula_instance_id, serial, due)
       select account_id, id, created_at, formula_instance_id, serial, ? from formula_execution`,
      [NEVER],
    );
  });
}
