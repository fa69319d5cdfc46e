import { expect } from 'chai';
import { subsOf } from './arbitrary-formulas.ts';
import type { FormulaBench } from './bench.ts';
import {
  createWorld,
  INPUT,
  type ModelFormula,
  type ModelRow,
  type ModelRun,
  type ModelStep,
  nextStatus,
  pathOf,
  runModel,
  toGiven,
  type World,
} from './model.ts';

const RETRY_MS = [3 * 60_000, 7 * 60_000];

/** The runs of a formula by the model: the first one, and those that follow as planned retries. */
export function expectedRuns(formula: ModelFormula): { readonly runs: readonly ModelRun[]; readonly world: World } {
  const world = createWorld();
  const runs: ModelRun[] = [];
  do runs.push(runModel(formula, world, runs.length));
  while (runs.at(-1)?.status === 'retry');
  return { runs, world };
}

/** Stores a formula with its sub-formulas, and plays the API that it calls. Repeated requests get their first response. */
export async function addModelFormula(
  bench: FormulaBench,
  formula: ModelFormula,
  world: World,
  noteCall: (idempotencyKey: string) => void = () => undefined,
) {
  const ids = new Map<ModelFormula, number>();
  const subs = subsOf(formula);
  for (const sub of subs) ids.set(sub, (await bench.addFormula(toGiven(sub, ids))).formulaId);
  const key = await bench.addFormula(toGiven(formula, ids));
  const requests = new Map<string, Extract<ModelStep, { kind: 'request' }>>();
  for (const step of [...subs, formula].flatMap(({ steps }) => steps))
    if (step.kind === 'request') requests.set(pathOf(step.name), step);
  const answers = new Map<string, number>();
  bench.playApi(({ path, headers, json }) => {
    const idempotencyKey = headers['idempotency-key'] ?? '';
    noteCall(idempotencyKey);
    const code = answers.get(idempotencyKey) ?? nextStatus(world, path, requests.get(path)?.statuses ?? [], json);
    answers.set(idempotencyKey, code);
    return { status: code, body: { code } };
  });
  return key;
}

/** Runs a formula on the engine, with its retries, and compares it with the model. */
export async function expectAsModel(bench: FormulaBench, formula: ModelFormula): Promise<void> {
  const { runs, world: expectedWorld } = expectedRuns(formula);
  const world = createWorld();
  // What a formula that was not as the model left behind.
  await bench.knex('formula_run').delete();
  const key = await addModelFormula(bench, formula, world);
  let [id = 0] = await bench.executions.start(key, INPUT);
  for (const [at, run] of runs.entries()) {
    const { status } = await bench.untilStatus(1, id, 'success', 'failed', 'retry', 'cancelled');
    expectSameSteps(await bench.stepsShown(1, id), run.rows);
    expect(status).to.equal(run.status);
    if (status !== 'retry') break;
    bench.pass((RETRY_MS[at] ?? 0) + 100);
    const last = id;
    id = await bench.until(async () => {
      const { rows } = await bench.executions.list(key, { limit: 10 });
      return rows.find((each) => each.id > last)?.id;
    });
  }
  expect(world.bodies).to.deep.equal(expectedWorld.bodies);
  expect(await bench.knex('formula_run').where({ formula_instance_id: key.formulaInstanceId })).to.deep.equal([]);
}

type ShownStep = Awaited<ReturnType<FormulaBench['stepsShown']>>[number];

export function expectSameSteps([trigger, ...shown]: readonly ShownStep[], rows: readonly ModelRow[]): void {
  expect(trigger).to.deep.include({
    name: 'trigger',
    status: 'success',
    values: { 'trigger.args': JSON.stringify(INPUT) },
  });
  const pathOfAll = (all: readonly Pick<ModelRow, 'name' | 'status'>[]) =>
    all.map(({ name, status }) => `${name} ${status}`);
  expect(pathOfAll(shown)).to.deep.equal(pathOfAll(rows));
  for (const [at, { name, values }] of rows.entries()) {
    const found = shown[at]?.values ?? {};
    const wanted = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, value ?? found[key] ?? null]));
    // Requests have more values, and a planned retry says when it comes.
    const hasMore = Object.keys(values).some((one) => /[.](?:request|response|attempt)\b/.test(one));
    if (hasMore) expect(found, name).to.include(wanted);
    else expect(found, name).to.deep.equal(wanted);
  }
}
