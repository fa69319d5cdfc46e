import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Configuration } from '../../runtime.js';
import { FormulaExecutions } from '../../src/formula-executions.js';
import { Causeway, type FormulaExecution, TimeoutError } from '../../src/index.js';
import { Transport } from '../../src/transport.js';
import { json, serve } from '../server.js';

const TIMES = { createdDate: '2026-11-23T10:00:00.000Z', updatedDate: '2026-11-23T10:00:00.250Z' };
const STEPS = [
  { id: 901, stepName: 'trigger', status: 'success', fault: false, ...TIMES },
  { id: 902, stepName: 'get', status: 'failed', fault: true, ...TIMES },
];

function execution(status: string, stepExecutions: readonly object[] = []) {
  return json({ id: 61, formulaInstanceId: 88, status, ...TIMES, stepExecutions });
}

function client(url: string): Causeway {
  return new Causeway({ url, userSecret: 'u', organizationSecret: 'o' });
}

/** Returns the executions of a client whose pauses have their maximum length, pass immediately and are recorded. */
function withPauses(url: string) {
  const pauses: number[] = [];
  let time = 0;
  const sleep = async (ms: number) => {
    pauses.push(ms);
    time += ms;
  };
  const settings = { timeoutMs: 5_000, retries: 0, retryForMs: 0, fetch };
  const transport = new Transport(settings, { now: () => time, random: () => 1, sleep });
  const configuration = new Configuration({
    basePath: url,
    fetchApi: (to, init = {}) => transport.send(String(to), init),
  });
  return { pauses, executions: new FormulaExecutions(configuration, transport) };
}

describe('running a formula instance', () => {
  it('starts it with the input, waits for the end, and returns the steps', async () => {
    await using server = await serve(
      json([{ id: 61 }]),
      execution('queued'),
      execution('pending'),
      execution('failed', STEPS),
    );
    const seen: string[] = [];
    const onProgress = ({ status }: FormulaExecution) => seen.push(status);
    const ended = await client(server.url).formulaExecutions.run(88, { id: 7 }, { onProgress });
    assert.deepEqual([ended.id, ended.status], [61, 'failed']);
    assert.deepEqual(
      ended.stepExecutions?.map(({ stepName, status }) => [stepName, status]),
      [
        ['trigger', 'success'],
        ['get', 'failed'],
      ],
    );
    assert.deepEqual(seen, ['queued', 'pending', 'failed']);
    const [start, ...looks] = server.received;
    assert.equal(`${start?.method} ${start?.url}`, 'POST /elements/api-v2/formulas/instances/88/executions');
    assert.equal(start?.body, '{"id":7}');
    assert.ok(start?.headers['idempotency-key']);
    assert.deepEqual(
      new Set(looks.map(({ method, url }) => `${method} ${url}`)),
      new Set(['GET /elements/api-v2/formulas/instances/executions/61']),
    );
  });

  it('sends no body where there is no input', async () => {
    await using server = await serve(json([{ id: 61 }]), execution('success', STEPS));
    await client(server.url).formulaExecutions.run(88);
    assert.equal(server.received[0]?.body, '');
  });

  it('says that the input started several executions, or none', async () => {
    await using server = await serve(json([{ id: 61 }, { id: 62 }]), json([]));
    const { formulaExecutions } = client(server.url);
    await assert.rejects(formulaExecutions.run(88, {}), {
      message: 'The input started several executions: 61, 62. Wait for each of them with wait(id).',
    });
    await assert.rejects(formulaExecutions.run(88, {}), { message: 'The input started no execution.' });
  });
});

describe('waiting for an execution', () => {
  it('makes longer and longer pauses, and none behind the end of the time', async () => {
    await using server = await serve(execution('pending'));
    const { executions, pauses } = withPauses(server.url);
    await assert.rejects(executions.wait(61, { timeoutMs: 2_000 }), (error) => {
      assert.ok(error instanceof TimeoutError);
      assert.equal(error.message, 'Execution 61 did not end within 2000 ms: it is pending.');
      return true;
    });
    assert.deepEqual(pauses, [250, 500, 1000, 250]);
  });

  for (const status of ['success', 'failed', 'cancelled', 'retry', 'unknown']) {
    it(`ends with ${status}`, async () => {
      await using server = await serve(execution(status));
      assert.equal((await client(server.url).formulaExecutions.wait(61)).status, status);
      assert.equal(server.received.length, 1);
    });
  }
});
