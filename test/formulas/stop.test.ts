import { expect } from 'chai';
import { createRunStore } from '../../src/formulas/executions/run-store.ts';
import { theRow, useDatabase } from '../support/database.ts';
import { useFormulaBench } from './bench.ts';
import { elementRequest } from './steps.ts';

const CALL = elementRequest('call', { elementInstanceId: '428', method: 'GET', api: '/files' });

describe('a process that stops', () => {
  const database = useDatabase();
  const bench = useFormulaBench(database);

  it('releases executions at once that wait for the database while it stops', async () => {
    const store = createRunStore(database.knex);
    const committing = Promise.withResolvers<void>();
    const commit: typeof store.commit = async (commits) => {
      committing.resolve();
      await new Promise((resolve) => setTimeout(resolve, 50));
      return store.commit(commits);
    };
    const key = await bench.addFormula({ steps: [CALL] });
    const worker = bench.startWorker({ store: { ...store, commit } });
    await bench.executions.start(key, {});
    await committing.promise;
    await worker.stop(0);
    expect(await theRow(database.knex('formula_run'))).to.include({ lease: null, lease_until: null });
  });
});
