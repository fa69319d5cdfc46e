import { SYSTEM_CLOCK } from '../../src/clock.ts';
import {
  createSandbox,
  type PoolLimits,
  type Sandbox,
  type ScriptJob,
  type ScriptResult,
  TRANSFORMATION_LIMITS,
} from '../../src/scripts/index.ts';

/** A sandbox with short ways to run scripts of transformations. */
export interface TestSandbox extends Sandbox {
  /** Runs a script for one record. */
  readonly one: (body: string, job?: Partial<ScriptJob>) => Promise<ScriptResult>;
  /** Runs a script for records with these ids. */
  readonly many: (body: string, ids: readonly number[], job?: Partial<ScriptJob>) => Promise<readonly ScriptResult[]>;
}

/** Times of tests that other processes may slow down: what is measured is CPU time, so no machine is too slow for them. */
export function openSandbox(limits: Partial<PoolLimits> = {}): TestSandbox {
  const sandbox = createSandbox({ clock: SYSTEM_CLOCK, limits });
  const many = (body: string, ids: readonly number[], job: Partial<ScriptJob> = {}) =>
    sandbox.run({
      owner: 1,
      body,
      parameters: ['originalObject', 'transformedObject', 'fromVendor'],
      mutable: ['transformedObject'],
      limits: TRANSFORMATION_LIMITS,
      calls: ids.map((id) => ({
        values: { originalObject: { id, tags: ['a', 'b'] }, transformedObject: { name: `n${id}` }, fromVendor: true },
      })),
      ...job,
    });
  return {
    ...sandbox,
    many,
    one: async (body, job = {}) => {
      const [result] = await many(body, [1], job);
      if (result === undefined) throw new Error('There is no result.');
      return result;
    },
  };
}

export const done = (value: unknown, console: readonly string[] = []) => ({ kind: 'done', value, console });
export const failed = (reason: string, console: readonly string[] = []) => ({ kind: 'failed', reason, console });
