import { readFile } from 'node:fs/promises';
import type { ConfigurationField } from '@causeway/client';
import { type Asker, askChoice, askSecret, askText, type Question } from './ask.js';
import { UsageError } from './failures.js';
import { printable } from './texts.js';

/** The configuration of an instance. */
export type Settings = Readonly<Record<string, string | number | boolean | object>>;

/**
 * Returns the configuration from the options `--set` and `--set-file`.
 * @throws UsageError for an unknown key or a value of another type
 */
export async function readSettings(
  fields: readonly ConfigurationField[],
  texts: readonly string[],
  files: readonly string[],
): Promise<Settings> {
  const given = texts.map((text) => pairOf(text, '--set'));
  const read = files.map(async (text) => {
    const [key, file] = pairOf(text, '--set-file');
    return [key, (await readFile(file, 'utf8')).replace(/\r?\n$/, '')] as const;
  });
  const pairs = [...given, ...(await Promise.all(read))];
  return Object.fromEntries(pairs.map(([key, text]) => [key, settingOf(fieldOf(fields, key), text)]));
}

/**
 * Returns the complete settings. For each missing required one, it prints how to get the value, and asks for it. @throws UsageError without
 * a terminal
 */
export async function askMissing(
  asker: Asker,
  fields: readonly ConfigurationField[],
  given: Settings,
  tell: (line: string) => void,
): Promise<Settings> {
  const settings: Record<string, Settings[string]> = { ...given };
  let told = '';
  for (const field of fields) {
    if (Object.hasOwn(settings, field.key)) continue;
    const steps = field.setup.map((step, index) => `  ${index + 1}. ${printable(step)}`).join('\n');
    // Two keys of one OAuth client have the same instructions, which are printed once.
    if (asker.isInteractive && steps !== '' && steps !== told) tell(`\n${printable(field.description)}\n${steps}\n`);
    told = steps;
    const answer = await askFor(asker, field);
    if (answer !== '') settings[field.key] = settingOf(field, answer);
  }
  return settings;
}

function askFor(asker: Asker, field: ConfigurationField): Promise<string> {
  const { key, name, secret, required, type, pattern, example } = field;
  const question: Question = {
    message: `${name} (${key}${example === undefined ? '' : `, such as ${example}`})`,
    instead: secret ? `--set-file ${key}=<file>` : `--set ${key}=<value>`,
    validate: (answer) => {
      if (answer === '') return !required || 'This value is required.';
      if (pattern !== undefined && !new RegExp(`^(?:${pattern})$`).test(answer))
        return `The value must match ${pattern}.`;
      return isOfType(type, answer) || `The value must be of the type ${type}.`;
    },
    ...(required ? {} : { default: '' }),
  };
  if (secret) return askSecret(asker, question);
  if (type !== 'boolean') return askText(asker, question);
  const choices = ['true', 'false', ...(required ? [] : ['leave it out'])];
  return askChoice(
    asker,
    question,
    choices.map((name) => ({ name, value: name.length > 5 ? '' : name })),
  );
}

function pairOf(text: string, option: string): readonly [key: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`${option} must be key=${option === '--set' ? 'value' : 'file'}, not '${text}'.`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function fieldOf(fields: readonly ConfigurationField[], key: string): ConfigurationField {
  const field = fields.find((candidate) => candidate.key === key);
  if (field !== undefined) return field;
  throw new UsageError(
    `Unknown configuration key '${key}'. The element has ${fields.map((each) => each.key).join(', ')}.`,
  );
}

function settingOf({ key, type }: ConfigurationField, text: string): Settings[string] {
  if (!isOfType(type, text)) throw new UsageError(`${key} must be of the type ${type}, not '${text}'.`);
  if (type === 'boolean') return text === 'true';
  if (type === 'number') return Number(text);
  return type === 'object' ? JSON.parse(text) : text;
}

function isOfType(type: ConfigurationField['type'], text: string): boolean {
  if (type === 'boolean') return text === 'true' || text === 'false';
  if (type === 'number') return text.trim() !== '' && Number.isFinite(Number(text));
  if (type === 'url') return URL.canParse(text);
  return type !== 'object' || isJsonObject(text);
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}
