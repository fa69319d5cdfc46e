import { beginningOf } from '../redaction.ts';
import { currentTrace, SCRIPT_LIMITS, type TracedScripts } from '../trace.ts';

/** The outcome of one call of a script: the lines that it wrote, and why it failed if it did. */
interface ScriptNote {
  readonly console: readonly string[];
  readonly reason?: string | undefined;
  /** The id of the record that it ran for. */
  readonly recordId?: string | undefined;
}

/** Keeps what a script of a mapping wrote and why it failed, where it ran for a call. */
export function noteScript({ console, reason, recordId }: ScriptNote): void {
  const trace = currentTrace();
  if (trace === undefined || (console.length === 0 && reason === undefined)) return;
  trace.scripts ??= { console: [], lineCount: 0, failures: 0, reasons: [] };
  const { scripts } = trace;
  const { lines, lineCharacters } = SCRIPT_LIMITS;
  for (const line of console.slice(0, lines - scripts.console.length))
    scripts.console.push(beginningOf(line, lineCharacters));
  scripts.lineCount += console.length;
  if (reason !== undefined) noteReason(scripts, reason, recordId);
}

function noteReason(scripts: TracedScripts, whole: string, recordId: string | undefined): void {
  const { reasons: most, reasonCharacters, ids, idCharacters } = SCRIPT_LIMITS;
  scripts.failures++;
  const reason = beginningOf(whole, reasonCharacters);
  const known = scripts.reasons.find((each) => each.reason === reason);
  if (known === undefined && scripts.reasons.length === most) return;
  const noted = known ?? { reason, count: 0, recordIds: [] };
  if (known === undefined) scripts.reasons.push(noted);
  noted.count++;
  if (recordId !== undefined && noted.recordIds.length < ids) noted.recordIds.push(beginningOf(recordId, idCharacters));
}
