import { type MappingInForce, SCRIPT_PARAMETERS } from '../mappings/model.ts';
import { analyse, type Sandbox, type ScriptResult, TRANSFORMATION_LIMITS } from '../scripts/index.ts';
import type { MappedScript, ScriptOutcome } from './mapped.ts';

/** Creates the lookup of the scripts of mappings, ready to run in the sandbox. */
export function createMappingScripts({ run }: Pick<Sandbox, 'run'>) {
  return ({ script }: MappingInForce, accountId: number): MappedScript | undefined => {
    if (script === undefined) return undefined;
    const { body, filterEmptyResponse = false } = script;
    const { writes, why } = analyse(body, SCRIPT_PARAMETERS);
    return {
      writes,
      ...(why !== undefined && { why }),
      dropsEmpty: filterEmptyResponse,
      run: async (records, signal) => {
        const calls = records.map(({ original: originalObject, transformed: transformedObject, fromVendor }) => ({
          values: { originalObject, transformedObject, fromVendor, isWhere: false },
        }));
        const job = {
          owner: accountId,
          body,
          parameters: SCRIPT_PARAMETERS,
          mutable: ['transformedObject'],
          calls,
          signal,
        };
        return (await run({ ...job, limits: TRANSFORMATION_LIMITS })).map(toOutcome);
      },
    };
  };
}

function toOutcome(result: ScriptResult): ScriptOutcome {
  if (result.kind === 'done') return { kind: 'done', value: result.value };
  return {
    kind: 'failed',
    reason: result.kind === 'failed' ? result.reason : 'The script ended without a call of done.',
  };
}
