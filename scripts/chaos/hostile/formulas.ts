import { assertOk, flood, type HostileInput, type Inputs, post, type Stage, untilEnd } from './stage.ts';

interface FormulaStep {
  readonly name: string;
  readonly type: string;
  readonly properties: object;
  readonly onSuccess?: readonly string[];
}

type Tools = Pick<Stage, 'tenant' | 'attacker'>;

const script = (name: string, body: string, ...onSuccess: readonly string[]): FormulaStep => ({
  ...{ name, type: 'script', properties: { body }, onSuccess },
});
const loop = (list: string, ...onSuccess: readonly string[]): FormulaStep => ({
  ...{ name: 'each', type: 'loop', properties: { list }, onSuccess },
});

/** Returns the id of the new formula instance. */
async function createFormula({ tenant, attacker }: Tools, steps: readonly FormulaStep[], variables: object = {}) {
  const ask = async (path: string, body: object): Promise<number> => {
    const response = await attacker.ask({ ...post(path, tenant), body: JSON.stringify(body), keptCharacters: 1e6 });
    return JSON.parse(assertOk(response).text).id;
  };
  const formulaId = await ask('/formulas', {
    name: 'hostile',
    configuration: Object.keys(variables).map((key) => ({ key, name: key, type: 'value' })),
    triggers: [{ type: 'manual', onSuccess: steps.slice(0, 1).map(({ name }) => name) }],
    steps,
  });
  return ask(`/formulas/${formulaId}/instances`, { name: 'hostile', configuration: variables });
}

/** Starts executions until the attack is over. What still waits or runs then is removed, so that the next input begins in peace. */
async function startMany(stage: Stage, instanceId: number, most: number, body: string): Promise<void> {
  const request = post(`/formulas/instances/${instanceId}/executions`, stage.tenant);
  try {
    await flood(stage, { most, parallel: 10 }, () => ({ ...request, body }));
    await untilEnd(stage);
  } finally {
    await stage.knex('formula_run').where({ account_id: stage.tenant.accountId }).delete();
  }
}

function formulaOf(most: number, steps: readonly FormulaStep[], input: unknown = {}): HostileInput {
  return {
    kind: 'formula',
    arm: async (ground) => {
      const instanceId = await createFormula(ground, steps);
      return (stage) => startMany(stage, instanceId, most, JSON.stringify(input));
    },
  };
}

/** Formulas of a hostile tenant, which the service runs in the process that serves the others. */
export const FORMULAS: Inputs = {
  'formula: loops over a million entries': formulaOf(200, [
    script('list', 'done({ list: Array.from({ length: 1e6 }, (_, n) => n) });', 'each'),
    loop('${steps.list.list}', 'each'),
  ]),
  'formula: 50,000 steps of loops': formulaOf(50, [
    script('list', 'done({ list: Array.from({ length: 50_000 }, (_, n) => n) });', 'each'),
    loop('${steps.list.list}', 'one'),
    script('one', 'done({ n: steps.each.entry });', 'each'),
  ]),
  'formula: starts itself again and again': {
    kind: 'formula',
    arm: async (ground) => {
      const start = (name: string, ...onSuccess: readonly string[]): FormulaStep => ({
        ...{ name, type: 'request', onSuccess },
        properties: { method: 'POST', api: '/formulas/instances/${info.formulaInstanceId}/executions', body: '{}' },
      });
      const instanceId = await createFormula(ground, [start('one', 'other'), start('other')]);
      return (stage) => startMany(stage, instanceId, 20, '{}');
    },
  },
  'formula: 5 MB through a hundred steps': formulaOf(40, [
    script('s0', "done({ text: 'x'.repeat(5e6) });", 's1'),
    ...Array.from({ length: 99 }, (_, at) =>
      script(`s${at + 1}`, `done({ text: steps.s${at}.text });`, ...(at < 98 ? [`s${at + 2}`] : [])),
    ),
  ]),
  'formula: large inputs': formulaOf(40, [script('one', 'done({ n: trigger.args.length });')], 'x'.repeat(4_900_000)),
  'formula: scripts that never end': formulaOf(200, [script('loop', 'while (true); done();')]),
  'formula: scripts that take memory': formulaOf(200, [
    script('take', 'const all = []; while (true) all.push(new Uint8Array(1e6)); done();'),
  ]),
  'formula: executions by the thousand': formulaOf(20_000, [script('one', 'done({ n: 1 });')]),
};
