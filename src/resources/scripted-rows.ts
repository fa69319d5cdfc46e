import type { MappingFaults } from '../connector/client/index.ts';
import { AppError, cutText } from '../errors.ts';
import { type MappingInForce, SCRIPT_PARAMETERS } from '../mappings/model.ts';
import type { ScriptWrites } from '../mappings/pass-through.ts';
import { ExactNumber, isJsonObject, isMembers } from '../numbers/exact-json.ts';
import { createPacer, type Pacer } from '../pace.ts';
import { analyse, type CpuTime, type Sandbox, type ScriptResult, TRANSFORMATION_LIMITS } from '../scripts/index.ts';
import { type Row, reader } from '../where/index.ts';
import { assertMembers } from './record.ts';
import { noteScript } from './script-notes.ts';

/** A record for the script of a mapping. */
export interface ScriptRecord {
  /** The record as it was before the mapping. */
  readonly original: Row;
  readonly transformed: Row;
  readonly fromVendor: boolean;
  /** Whether the script is to change the values of a filter, which stands in place of the record. */
  readonly isWhere?: true;
}

/** The outcome of a script for one record, with the lines that it wrote to its console. */
export type ScriptOutcome = { readonly console: readonly string[] } & (
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly reason: string }
);

/** Bounds of a run of a script. */
interface ScriptRun {
  readonly signal: AbortSignal;
  /** The CPU time of several runs together. Default: this run has the time of a page for itself. */
  readonly time?: CpuTime;
}

/** The script of a mapping, ready to run. */
export interface MappedScript extends ScriptWrites {
  /** Returns the outcomes of the first records, at least one: as many as there is room for. */
  readonly run: (records: readonly ScriptRecord[], bounds: ScriptRun) => Promise<readonly ScriptOutcome[]>;
  /** Whether lists leave out records for which the script returned nothing. */
  readonly dropsEmpty: boolean;
}

/** Creates the way of rows through a script. Without a script they stay as they are. */
export function createRowScript(script: MappedScript | undefined, vendorId: string) {
  const readId = reader(vendorId);

  /** Returns the record that a script made, the reason why it cannot be used, or undefined for a record that is left out. */
  async function judge(value: unknown, { transformed, fromVendor }: ScriptRecord, pacer: Pacer) {
    const isEmpty = value === null || value === undefined || (isJsonObject(value) && Object.keys(value).length === 0);
    if (isEmpty && script?.dropsEmpty === true && fromVendor) return undefined;
    if (!isJsonObject(value)) return 'The script returned no object.';
    if (script === undefined || script.writes === 'anything' || !fromVendor) return value;
    const strange = await strangeMember({ before: transformed, after: value, writes: script.writes }, pacer);
    return strange === undefined ? value : `The script changed '${strange}', which its text does not show.`;
  }

  /**
   * Returns the rows that the script makes of the first records, at least of one. A row that it leaves out is undefined.
   * @throws AppError TRANSFORMATION_FAILED for the first fault, if the faults are strict
   */
  return async (
    records: readonly ScriptRecord[],
    faults: MappingFaults,
    bounds: ScriptRun,
  ): Promise<readonly (Row | undefined)[]> => {
    if (script === undefined) return records.map(({ transformed }) => transformed);
    const pacer = createPacer(bounds.signal);
    for (const { original } of records) {
      // Before anything else walks over it.
      assertMembers(original);
      if (pacer.isDue()) await pacer.pause();
    }
    const outcomes = await script.run(records, bounds);
    pacer.begin();
    const rows: (Row | undefined)[] = [];
    for (const [index, outcome] of outcomes.entries()) {
      if (pacer.isDue()) await pacer.pause();
      const record = records[index];
      if (record === undefined) break;
      const { original, transformed, fromVendor } = record;
      const judged = outcome.kind === 'failed' ? outcome.reason : await judge(outcome.value, record, pacer);
      const reason = typeof judged === 'string' ? judged : undefined;
      const recordId = fromVendor ? idText(readId(original)) : undefined;
      noteScript({ console: outcome.console, reason, recordId });
      if (reason !== undefined) {
        if (faults.isStrict === true) throw failed(recordId, reason);
        faults.scripts++;
        faults.scriptReason ??= reason;
      }
      const row = typeof judged === 'string' ? transformed : judged;
      if (row !== undefined) faults.vendorRows?.set(row, original);
      rows.push(row);
    }
    return rows;
  };
}

function idText(id: unknown): string | undefined {
  return typeof id === 'string' || typeof id === 'number' || id instanceof ExactNumber ? String(id) : undefined;
}

function failed(id: string | undefined, reason: string): AppError {
  const record = id === undefined ? '' : ` for the record '${cutText(id)}'`;
  return new AppError('TRANSFORMATION_FAILED', `The script of the mapping failed${record}: ${reason}`);
}

interface Change {
  readonly before: Row;
  readonly after: Row;
  /** The members that the text of the script shows, as paths with dots. */
  readonly writes: readonly string[];
}

/** Returns a member that differs though the script's text does not write it. */
async function strangeMember({ before, after, writes }: Change, pacer: Pacer): Promise<string | undefined> {
  const tops = new Set(writes.map((path) => path.split('.')[0] ?? path));
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
    if (!tops.has(name) && !(await isSame(before[name], after[name], pacer))) return name;
  return undefined;
}

/** Number of members after which the comparison looks at the time. */
const COMPARED_AT_ONCE = 2_000;

/** Two values of the same kind, whose members up to `next` are the same. */
interface Compared {
  readonly one: Readonly<Record<string, unknown>>;
  readonly other: Readonly<Record<string, unknown>>;
  readonly names: readonly string[];
  next: number;
}

/** Compares two values of JSON. They may have a hundred thousand members, which takes tens of milliseconds. */
async function isSame(one: unknown, other: unknown, pacer: Pacer): Promise<boolean> {
  const root = compare(one, other);
  const open = root === 'differ' || root === 'same' ? [] : [root];
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    if (pacer.isDue()) await pacer.pause();
    const { names } = pair;
    // Here and not in `compare`, because the names of a large object take milliseconds.
    if (pair.next === 0 && names.length !== Object.keys(pair.other).length) return false;
    const end = Math.min(names.length, pair.next + COMPARED_AT_ONCE);
    if (end < names.length) open.push(pair);
    for (; pair.next < end; pair.next++) {
      const name = names[pair.next] ?? '';
      const found = Object.hasOwn(pair.other, name) ? compare(pair.one[name], pair.other[name]) : 'differ';
      if (found === 'differ') return false;
      if (found !== 'same') open.push(found);
    }
  }
  return root !== 'differ';
}

/** Compares two values without what they contain. */
function compare(one: unknown, other: unknown): 'same' | 'differ' | Compared {
  if (one === other) return 'same';
  if (one instanceof ExactNumber && other instanceof ExactNumber) return one.text === other.text ? 'same' : 'differ';
  if (!isMembers(one) || !isMembers(other) || Array.isArray(one) !== Array.isArray(other)) return 'differ';
  return { one: Object(one), other: Object(other), names: Object.keys(one), next: 0 };
}

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
