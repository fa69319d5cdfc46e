import { expect } from 'chai';
import odata from '../../connectors/odata/index.ts';
import type { SchemaRole } from '../../src/schemas/index.ts';
import { withDatabase } from '../api/support/tenants.ts';
import type { ApiAnswer, AppOverrides, TestApp } from '../support/app.ts';
import { until } from '../support/until.ts';

/** Checks happen when a test makes them due. */
export const CHECKED: AppOverrides & { readonly checkerOptions: SchemaRole['options'] } = {
  connectors: [odata],
  checkerOptions: { lookMs: 50, gatherMs: 10, confirmMs: 50, retryMs: 3_600_000, leaseMs: 2_000 },
};

export async function ask(
  service: Pick<TestApp, 'call'>,
  path: string,
  method = 'GET',
  body?: object,
): Promise<ApiAnswer['body']> {
  const answer = await service.call(path, { method, ...(body !== undefined && { body }) });
  expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).to.equal(200);
  return answer.body;
}

export const changesOf = (service: Pick<TestApp, 'call'>, id: number) =>
  ask(service, `/instances/${id}/schema-changes`);

/** The changes of an instance by object. No object has two of them. */
export async function changesByObject(service: Pick<TestApp, 'call'>, id: number) {
  const changes: readonly Record<string, unknown>[] = await changesOf(service, id);
  const byObject = new Map(changes.map((change) => [change.objectName, change]));
  expect(byObject.size).to.equal(changes.length);
  return byObject;
}

export const watchOf = async (service: Pick<TestApp, 'call'>, id: number, objectName: string) =>
  (await ask(service, `/instances/${id}/watches`)).find(
    (watch: { readonly objectName: string }) => watch.objectName === objectName,
  );

/** Until the fields of the object are known. */
export async function untilWatched(service: Pick<TestApp, 'call'>, id: number, objectName: string): Promise<void> {
  await until(async () => (await watchOf(service, id, objectName))?.state === 'watched');
}

/** Reads the objects of an instance now. @returns when the check has ended, and no other follows soon */
export async function checkNow(service: Pick<TestApp, 'databaseUrl'>, id: number): Promise<void> {
  await withDatabase(service, (knex) => knex('schema_check').where({ instance_id: id }).update({ due: knex.fn.now() }));
  await untilChecked(service, id);
}

/** Until no check of the instance runs, and none follows soon. */
export async function untilChecked(service: Pick<TestApp, 'databaseUrl'>, id: number): Promise<void> {
  await until(async () => {
    const row = await withDatabase(service, (knex) => knex('schema_check').where({ instance_id: id }).first());
    return row?.lease === null && row.due.getTime() > Date.now() + 60_000;
  });
}
