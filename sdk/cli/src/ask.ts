import { UsageError } from './failures.js';

/** The facts about the program that a question needs. */
export interface Asker {
  readonly isInteractive: boolean;
  readonly signal: AbortSignal;
}

export interface Question {
  readonly message: string;
  readonly default?: string;
  /** Returns true for a valid input, and otherwise the fault. */
  readonly validate?: (answer: string) => true | string;
  /** The option that replaces the question where there is no terminal. */
  readonly instead: string;
}

// Questions go to the standard error, so that they are not part of the result. Their libraries are loaded when they are needed, because
// that takes a while.

/** Asks for a text. @throws UsageError without a terminal */
export async function askText(asker: Asker, question: Question): Promise<string> {
  assertInteractive(asker, question);
  const { default: input } = await import('@inquirer/input');
  return input({ ...question, required: question.default === undefined }, contextOf(asker));
}

/** Asks for a secret without showing what is typed. @throws UsageError without a terminal */
export async function askSecret(asker: Asker, question: Question): Promise<string> {
  assertInteractive(asker, question);
  const { default: password } = await import('@inquirer/password');
  return password(question, contextOf(asker));
}

/** Asks for yes or no. @throws UsageError without a terminal */
export async function askYesOrNo(asker: Asker, { message, instead }: Question, preset = false): Promise<boolean> {
  assertInteractive(asker, { message, instead });
  const { default: confirm } = await import('@inquirer/confirm');
  return confirm({ message, default: preset }, contextOf(asker));
}

/** Asks for one of the choices. @throws UsageError without a terminal */
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
