#!/usr/bin/env node
import { type Command, CommanderError } from 'commander';
import picocolors from 'picocolors';
import { errorJson, errorText } from './error-text.js';
import { EXIT, exitCodeOf } from './exit-codes.js';
import { makeProgram } from './program.js';
import type { Surroundings } from './session.js';
import { redact } from './texts.js';

const interrupt = new AbortController();
/** The first signal stops the command gracefully, and the second one ends it immediately. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => interrupt.abort(new Interrupted()));
}
// The program that reads the output has ended: `causeway activity | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failure);
});

class Interrupted extends Error {
  override name = 'Interrupted';
}

const secrets: string[] = [];
const surroundings: Surroundings = {
  screens: { out: process.stdout, err: process.stderr },
  environment: process.env,
  asker: { isInteractive: process.stdin.isTTY === true && process.stderr.isTTY === true, signal: interrupt.signal },
  secrets,
};

let command: Command | undefined;
const program = makeProgram(surroundings, (running) => {
  command = running;
});

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = isInterruption(error) ? EXIT.interrupted : exitCodeOf(error);
  // The parser has already printed the fault in the arguments.
  if (!isInterruption(error) && !(error instanceof CommanderError)) tell(error);
}

function tell(error: unknown): void {
  const { json, format, where }: { json?: true; format?: string; where?: string } =
    command?.optsWithGlobals() ?? program.opts();
  const isJson = json === true || format === 'json' || format === 'ndjson';
  const colors = picocolors.createColors(process.stderr.isTTY === true && !process.env.NO_COLOR);
  process.stderr.write(`${redact(isJson ? errorJson(error) : errorText(error, where, colors), secrets)}\n`);
}

/** Returns whether the user has interrupted the command. The library for questions has its own errors for that. */
function isInterruption(error: unknown): boolean {
  if (interrupt.signal.aborted) return true;
  return error instanceof Error && ['ExitPromptError', 'AbortPromptError'].includes(error.name);
}
