import type { Faults, PointerSegments } from '../mappings/faults.ts';
import { takeTurn } from '../pace.ts';
import { findSyntaxFault } from '../scripts/index.ts';
import type { StepDraft } from './draft.ts';
import type { EngineName } from './model.ts';

/** Names of the arguments of a script of a formula, before `done`. */
const SCRIPT_PARAMETERS: readonly string[] = ['trigger', 'steps', 'info', 'config'];

/** Characters that are parsed before others have their turn. */
const AT_ONCE = 64 * 1024;
const MENTIONS_DONE = /\bdone\b/;

/** Checks the scripts and filters among steps. */
export async function checkScripts(
  steps: readonly StepDraft[],
  engine: EngineName,
  segmentsOf: (index: number) => PointerSegments,
  faults: Faults,
): Promise<void> {
  let characters = 0;
  for (const [index, { type, properties }] of steps.entries()) {
    if (type !== 'script' && type !== 'filter') continue;
    const { body } = properties;
    // A step without a body is not complete yet.
    if (body === undefined || body === null || body === '') continue;
    const segments = [...segmentsOf(index), 'properties', 'body'];
    if (typeof body !== 'string') {
      faults.note(segments, 'must be a text.');
      continue;
    }
    characters += body.length;
    if (characters > AT_ONCE) {
      characters = 0;
      await takeTurn();
    }
    checkScript(body, engine, segments, faults);
  }
}

function checkScript(body: string, engine: EngineName, segments: PointerSegments, faults: Faults): void {
  const syntax = findSyntaxFault(body, SCRIPT_PARAMETERS);
  if (syntax !== undefined) {
    faults.note(segments, `is no JavaScript: ${syntax.message}`, { position: syntax.position });
    return;
  }
  // The first engine took what a script returned or printed.
  if (engine === 'v1' || MENTIONS_DONE.test(body)) return;
  const lines = body.split('\n');
  const end = `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
  faults.note(segments, `never calls done (${end}). Call done(result) where the script ends.`, {
    position: body.length,
  });
}
