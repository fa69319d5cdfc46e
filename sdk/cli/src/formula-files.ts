import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { FormulaBody } from '@causeway/client';
import { UsageError } from './failures.js';
import { MASK, withoutSecretsIn } from './secret-names.js';
import { counted, printable, shortened } from './texts.js';

type Members = Readonly<Record<string, unknown>>;

/** A difference between two formulas, at a place such as `steps/get/properties/api`. */
export interface FormulaChange {
  readonly kind: 'added' | 'removed' | 'changed';
  readonly path: string;
  /** The value before the change, without secrets. `to` is the value after it. */
  readonly from?: unknown;
  readonly to?: unknown;
}

const WIDEST_VALUE = 60;
const SIGNS = { added: '+', removed: '-', changed: '~' } as const;

/** Reads a formula from a file. @throws UsageError */
export async function readFormulaFile(file: string): Promise<FormulaBody> {
  const content = await readJsonFile(file);
  if (!isMembers(content)) throw new UsageError(`${file} has no formula: the file must contain one JSON object.`);
  const { name } = content;
  if (typeof name !== 'string' || name.trim() === '') {
    throw new UsageError(`The formula in ${file} has no name. Formulas are created and replaced by their names.`);
  }
  return { ...content, name };
}

/** Reads JSON from a file. `-` stands for the standard input. @throws UsageError */
export async function readJsonFile(file: string): Promise<unknown> {
  const content = file === '-' ? await text(process.stdin) : await textOf(file);
  try {
    return JSON.parse(content);
  } catch (error) {
    const reason = error instanceof SyntaxError ? positionOf(error.message) : '';
    throw new UsageError(`${file === '-' ? 'The standard input' : file} is not JSON${reason}.`);
  }
}

/** Returns only the position in the parser's message, because the message can quote a part of the file that may be a secret. */
function positionOf(message: string): string {
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  return position === undefined ? '' : `: the fault is at position ${position}`;
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new UsageError(`There is no file ${file}.`);
    if (code === 'EISDIR') throw new UsageError(`${file} is a folder. Name its files.`);
    throw error;
  }
}

/**
 * Returns the formula that the service makes of a file: with defaults for members that are left out, and without members that the service
 * ignores. The order of variables and steps has no meaning, so they are stored by name.
 */
export function normalFormula(given: object): Members {
  const formula: Members = { ...given };
  return {
    name: formula.name,
    ...present(formula, ['description', 'method', 'uri']),
    active: formula.active ?? true,
    singleThreaded: formula.singleThreaded ?? false,
    debugLoggingEnabled: formula.debugLoggingEnabled ?? true,
    engine: formula.engine ?? 'v3',
    configuration: byName(formula.configuration, 'key', variableOf),
    triggers: byName(formula.triggers, 'name', triggerOf),
    steps: byName(formula.steps, 'name', stepOf),
  };
}

function variableOf(given: Members): Members {
  return {
    key: given.key,
    name: given.name ?? given.key,
    type: given.type || 'value',
    ...present(given, ['description']),
    required: given.required === true,
  };
}

function triggerOf(given: Members): Members {
  return { name: given.name || 'trigger', type: given.type, async: given.async !== false, ...flowOf(given) };
}

function stepOf(given: Members): Members {
  const type = given.type === 'platformRequest' ? 'request' : given.type;
  return { name: given.name, type, ...present(given, ['description']), ...flowOf(given) };
}

function flowOf({ onSuccess, onFailure, properties }: Members): Members {
  return {
    onSuccess: onSuccess ?? [],
    onFailure: onFailure ?? [],
    properties: isMembers(properties) ? properties : {},
  };
}

function byName(parts: unknown, key: string, partOf: (given: Members) => Members): Members {
  const list: readonly unknown[] = Array.isArray(parts) ? parts : [];
  return Object.fromEntries(
    list.filter(isMembers).map((given) => {
      const part = partOf(given);
      return [String(part[key]), part];
    }),
  );
}

function present(given: Members, names: readonly string[]): Members {
  return Object.fromEntries(names.flatMap((name) => (given[name] == null ? [] : [[name, given[name]]])));
}

/** Returns the differences between two formulas, each as the service has it or as a file contains it. */
export function changesBetween(before: object, after: object): readonly FormulaChange[] {
  return [...differences(normalFormula(before), normalFormula(after), [])];
}

function* differences(before: Members, after: Members, path: readonly string[]): Generator<FormulaChange, void> {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const at = [...path, name];
    const [from, to] = [memberOf(before, name), memberOf(after, name)];
    if (isMembers(from) && isMembers(to)) yield* differences(from, to, at);
    else if (JSON.stringify(from) !== JSON.stringify(to)) yield changeOf(at, from, to);
  }
}

function memberOf(members: Members, name: string): unknown {
  return Object.hasOwn(members, name) ? members[name] : undefined;
}

function changeOf(path: readonly string[], before: unknown, after: unknown): FormulaChange {
  const at = { path: path.join('/') };
  const [from, to] = [before, after].map((value) => valueAt(path, value));
  if (before === undefined) return { kind: 'added', ...at, to };
  return after === undefined ? { kind: 'removed', ...at, from } : { kind: 'changed', ...at, from, to };
}

function valueAt(path: readonly string[], value: unknown): unknown {
  const name = path.at(-1) ?? '';
  return Object(withoutSecretsIn({ [name]: value }))[name];
}

/** Prints a difference on one line. */
export function changeLine({ kind, path, from, to }: FormulaChange): string {
  const place = `${SIGNS[kind]} ${printable(path)}`;
  // For a whole variable, trigger or step, only the name is printed.
  if (kind !== 'changed') return isMembers(from ?? to) ? place : `${place}: ${valueText(from ?? to)}`;
  if (from === MASK && to === MASK) return `${place}: another secret`;
  const [old, now] = [valueText(from), valueText(to)];
  return old === now ? `${place}: another text` : `${place}: ${old} → ${now}`;
}

function valueText(value: unknown): string {
  const lines = typeof value === 'string' ? value.trimEnd().split('\n').length : 1;
  if (lines > 1) return counted(lines, 'line');
  return shortened(printable(JSON.stringify(value) ?? ''), WIDEST_VALUE);
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
