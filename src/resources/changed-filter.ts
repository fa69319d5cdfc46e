import { isDeepStrictEqual } from 'node:util';
import type { MappingFaults } from '../connector/client/index.ts';
import { AppError } from '../errors.ts';
import type { CompiledMapping } from '../mappings/compile.ts';
import { changeableFilter, type FilterChange } from '../mappings/filter-values.ts';
import { isJsonObject } from '../numbers/exact-json.ts';
import type { Condition } from '../where/index.ts';
import { noteScript } from './script-notes.ts';
import type { MappedScript, ScriptOutcome } from './scripted-rows.ts';

/** Lets the script of a mapping change the values of a filter before it is sent. */
export type ChangeFilter = (
  condition: Condition | undefined,
  faults: MappingFaults,
  signal: AbortSignal,
) => Promise<FilterChange | undefined>;

/**
 * Creates the change of filters by a script (`applyJSOnQueryFieldValue`). Where the script fails, the filter is sent as it would be without
 * the script.
 */
export function createChangeFilter(
  script: MappedScript,
  mapping: Pick<CompiledMapping, 'rewriting' | 'scriptSourceOf'>,
): ChangeFilter {
  return async (condition, faults, signal) => {
    const filter = changeableFilter(condition, mapping);
    if (filter === undefined) return undefined;
    const record = {
      original: { where: filter.mapped },
      transformed: { where: filter.vendor },
      fromVendor: false,
      isWhere: true,
    } as const;
    // A page token and a bulk job need the same values again, so the script must not make them of the time or of chance.
    const [first, second] = await script.run([record, record], { signal });
    const changed = readOutcome(first, second, filter.read);
    const reason = typeof changed === 'string' ? changed : undefined;
    noteScript({ console: first?.console ?? [], reason });
    if (typeof changed !== 'string') return changed;
    if (faults.isStrict === true)
      throw new AppError('TRANSFORMATION_FAILED', `The script of the mapping failed for the filter: ${changed}`);
    faults.filterReason = changed;
    return undefined;
  };
}

/** Returns the change that the script made, or the reason why there is none. Undefined where it changed nothing. */
function readOutcome(
  first: ScriptOutcome | undefined,
  second: ScriptOutcome | undefined,
  read: (where: unknown) => FilterChange | string | undefined,
): FilterChange | string | undefined {
  if (first === undefined) return 'The script did not run.';
  if (first.kind === 'failed') return first.reason;
  const where = whereOf(first);
  if (second !== undefined && !isDeepStrictEqual(where, whereOf(second)))
    return 'The script made different values of the same filter.';
  return read(where);
}

function whereOf(outcome: ScriptOutcome): unknown {
  return outcome.kind === 'done' && isJsonObject(outcome.value) ? outcome.value.where : undefined;
}
