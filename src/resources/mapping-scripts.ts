import { type MappingInForce, SCRIPT_PARAMETERS } from '../mappings/model.ts';
import { analyse, type Sandbox, type ScriptResult, TRANSFORMATION_LIMITS } from '../scripts/index.ts';
import type { MappedScript, ScriptOutcome } from './scripted-rows.ts';

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
      run: async (records, { signal, time }) => {
        const calls = records.map(
          ({ original: originalObject, transformed: transformedObject, fromVendor, isWhere = false }) => ({
            values: { originalObject, transformedObject, fromVendor, isWhere },
          }),
        );
        const job = {
          owner: accountId,
          body,
          parameters: SCRIPT_PARAMETERS,
          mutable: ['transformedObject'],
          calls,
          signal,
          ...(time !== undefined && { time }),
          enoughCharacters: ENOUGH_CHARACTERS,
        };
        return (await run({ ...job, limits: TRANSFORMATION_LIMITS })).map(toOutcome);
      },
    };
  };
}

/** Characters of results that are enough for one run. A page with more of them is transformed in several runs, as its rows are read. */
const ENOUGH_CHARACTERS = 4 * 1024 * 1024;

function toOutcome(result: ScriptResult): ScriptOutcome {
  const { console } = result;
  if (result.kind === 'done') return { kind: 'done', value: result.value, console };
  return {
    kind: 'failed',
    console,
    reason: result.kind === 'failed' ? result.reason : 'The script ended without a call of done.',
  };
}
