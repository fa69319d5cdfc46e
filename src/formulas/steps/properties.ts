import { isJsonObject, parseJson } from '../../numbers/exact-json.ts';
import { type Context, fillText, resolveValue, toText } from '../references.ts';
import { StepFault } from './outcome.ts';

/** The properties of a step, with their references resolved when they are read. */
export function readProperties(properties: Readonly<Record<string, unknown>>, context: Context) {
  const value = (name: string): unknown => resolveValue(properties[name], context);

  /** A member that must be a text or a number. @throws StepFault */
  function text(name: string): string {
    const found = toText(value(name)).trim();
    if (found === '') throw new StepFault(`The property '${name}' has no value.`);
    return found;
  }

  /** Members by name; texts are read as JSON. @throws StepFault */
  function members(name: string): Readonly<Record<string, unknown>> {
    const found = readJson(value(name));
    if (found === undefined || found === null || found === '') return {};
    if (isJsonObject(found)) return found;
    throw new StepFault(`The property '${name}' must be an object.`);
  }

  return {
    value,
    text,
    members,
    /** The text as it is given, with its references replaced by `encode`. */
    filled: (name: string, encode?: (text: string) => string): string => {
      const given = properties[name];
      return typeof given === 'string' ? fillText(given, context, encode) : toText(value(name));
    },
    given: (name: string): unknown => properties[name],
    /** A whole number within bounds, or the default. */
    number: (name: string, { least, most, otherwise }: Bounds): number => {
      const found = Number(toText(value(name)) || otherwise);
      return Number.isInteger(found) ? Math.min(Math.max(found, least), most) : otherwise;
    },
    flag: (name: string): boolean => toText(value(name)).toLowerCase() === 'true',
    /** The id of an element instance. @throws StepFault */
    instanceId: (name: string): number => {
      const found = text(name);
      if (/^[1-9]\d{0,15}$/.test(found)) return Number(found);
      throw new StepFault(
        `The property '${name}' must be the id of an element instance, and is '${found.slice(0, 100)}'.`,
      );
    },
  };
}

interface Bounds {
  readonly least: number;
  readonly most: number;
  readonly otherwise: number;
}

export type Properties = ReturnType<typeof readProperties>;

/** Properties of exported formulas may hold JSON as text. Returns the value itself if it is none. */
export function readJson(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return parseJson(value);
  } catch {
    return value;
  }
}
