import type { Command } from 'commander';
import { UsageError } from './failures.js';
import type { GlobalOptions, Session } from './session.js';

/** Adds commands to a program. `run` turns the function of a command into the action that the parser calls. */
export type AddCommands = (program: Command, run: Run) => void;

/** Turns a function into an action. Its arguments are those of the command, with the options last. */
export type Run = <Args extends unknown[]>(
  action: (session: Session, ...args: Args) => Promise<void>,
) => (this: Command, ...args: Args) => Promise<void>;

export function runWith(open: (options: GlobalOptions) => Session): Run {
  return (action) =>
    async function (...args) {
      await action(open(this.optsWithGlobals()), ...args);
    };
}

/** Parses an option that is a whole number of at least 1. @throws UsageError for any other text */
export function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new UsageError(`'${text}' is not a whole number of at least 1.`);
}

/** Splits an option that lists names, separated by commas. */
export function names(text: string): readonly string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
