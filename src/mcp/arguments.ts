import { AppError, type ErrorDetail, invalidRequest, MOST_FAULTS, unknownName } from '../errors.ts';
import { ExactNumber, isJsonObject } from '../numbers/exact-json.ts';
import type { ObjectSchema, ToolSchema } from './schemas.ts';

/** Arguments of a tool that its schema has accepted. */
export type ToolArguments = Readonly<Record<string, unknown>>;

/**
 * Checks the arguments of a tool. A list as text with commas, and a number as text, are converted, because models often send them so.
 * @throws AppError REQUEST_INVALID that names every fault, with the nearest name of an unknown argument
 */
export function readArguments(schema: ObjectSchema, given: unknown): ToolArguments {
  if (given !== undefined && (typeof given !== 'object' || given === null || Array.isArray(given)))
    throw new AppError('REQUEST_INVALID', 'The arguments must be a JSON object.');
  const faults: ErrorDetail[] = [];
  const read: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given ?? {})) {
    if (faults.length > MOST_FAULTS) break;
    const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    if (property === undefined) {
      const expected = Object.keys(schema.properties);
      faults.push({ ...unknownName('argument', name, expected), expected });
    } else if (value !== null && value !== '') {
      const converted = convert(property, value);
      const fault = faultOf(property, converted);
      if (fault === undefined) read[name] = converted;
      else faults.push({ message: `The argument ${name} ${fault}.` });
    }
  }
  for (const name of schema.required ?? [])
    if (!Object.hasOwn(read, name) && !faults.some(({ message }) => message.startsWith(`The argument ${name} `)))
      faults.push({ message: `The argument ${name} is missing.` });
  if (faults.length > 0) throw invalidRequest(faults);
  return read;
}

function convert({ type }: ToolSchema, value: unknown): unknown {
  if (type === 'array' && typeof value === 'string') return value.split(',').map((each) => each.trim());
  if (type === 'integer' && typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  // The id of a record that looks like a number.
  if (type === 'string' && (typeof value === 'number' || value instanceof ExactNumber)) return String(value);
  return value;
}

function faultOf(schema: ToolSchema, value: unknown): string | undefined {
  const { type, enum: choices, minimum, maximum, items } = schema;
  if (!isOfType(type, value)) return `must be ${NAMES[type ?? ''] ?? 'another value'}`;
  if (typeof value === 'string' && !value.isWellFormed()) return 'must be valid Unicode';
  if (choices !== undefined && !choices.includes(String(value))) return `must be one of ${choices.join(', ')}`;
  if (typeof value === 'number' && minimum !== undefined && value < minimum) return `must be at least ${minimum}`;
  if (typeof value === 'number' && maximum !== undefined && value > maximum) return `must be at most ${maximum}`;
  if (Array.isArray(value) && items !== undefined && value.some((each) => faultOf(items, each) !== undefined))
    return `must be a list, each of which ${faultOf(
      items,
      value.find((each) => faultOf(items, each) !== undefined),
    )}`;
  return undefined;
}

const NAMES: Readonly<Record<string, string>> = {
  string: 'a text',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a JSON object',
};

function isOfType(type: string | undefined, value: unknown): boolean {
  switch (type) {
    case undefined:
      return true;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isJsonObject(value);
    case 'integer':
      return Number.isSafeInteger(value);
    default:
      return typeof value === type;
  }
}

/** Returns a text argument. */
export function textOf(args: ToolArguments, name: string): string | undefined {
  const value = args[name];
  return typeof value === 'string' ? value : undefined;
}

/** Returns a number argument. */
export function numberOf(args: ToolArguments, name: string): number | undefined {
  const value = args[name];
  return typeof value === 'number' ? value : undefined;
}

/** Returns an argument that is a list of texts. */
export function textsOf(args: ToolArguments, name: string): readonly string[] | undefined {
  const value = args[name];
  return Array.isArray(value) ? value.map(String) : undefined;
}
