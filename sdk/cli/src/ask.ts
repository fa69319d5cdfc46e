import { UsageError } from './failures.js';

/** What questions need of the program. */
export interface Asker {
  readonly isInteractive: boolean;
  readonly signal: AbortSignal;
}

export interface Question {
  readonly message: string;
  readonly default?: string;
  /** @returns true, or what is wrong with an answer */
  readonly validate?: (answer: string) => true | string;
  /** What to write on the command line where nobody can be asked. */
  readonly instead: string;
}

// Questions stand on the standard error, so that they are in no result. Their libraries take a while to load.

/** @throws UsageError where nobody can be asked */
export async function askText(asker: Asker, question: Question): Promise<string> {
  assertInteractive(asker, question);
  const { default: input } = await import('@inquirer/input');
  return input({ ...question, required: question.default === undefined }, contextOf(asker));
}

/** What is typed is not shown. @throws UsageError where nobody can be asked */
export async function askSecret(asker: Asker, question: Question): Promise<string> {
  assertInteractive(asker, question);
  const { default: password } = await import('@inquirer/password');
  return password(question, contextOf(asker));
}

/** @throws UsageError where nobody can be asked */
export async function askYesOrNo(asker: Asker, { message, instead }: Question, preset = false): Promise<boolean> {
  assertInteractive(asker, { message, instead });
  const { default: confirm } = await import('@inquirer/confirm');
  return confirm({ message, default: preset }, contextOf(asker));
}

/** @throws UsageError where nobody can be asked */
export async function askChoice(
  asker: Asker,
  { message, instead }: Question,
  choices: readonly { readonly name: string; readonly value: string }[],
): Promise<string> {
  assertInteractive(asker, { message, instead });
  const { default: select } = await import('@inquirer/select');
  return select({ message, choices }, contextOf(asker));
}

function assertInteractive({ isInteractive }: Asker, { message, instead }: Question): void {
  if (!isInteractive)
    throw new UsageError(`${message.replace(/[?:]$/, '')}: this is not a terminal, so use ${instead}.`);
}

function contextOf({ signal }: Asker) {
  return { output: process.stderr, signal };
}
