/** The values that references of a step may name. */
export interface Context {
  /** Values of the variables, by key. A key may contain dots. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Keys of the variables that the formula has, with or without a value. */
  readonly variables: ReadonlySet<string>;
  /** Values of the executed steps, by name. */
  readonly steps: Readonly<Record<string, unknown>>;
  /** Names of the steps that the formula has, executed or not. */
  readonly stepNames: ReadonlySet<string>;
  readonly trigger: unknown;
  readonly info: Readonly<Record<string, unknown>>;
}

/** A reference that names no variable and no step. The step that has it fails. */
export class ReferenceFault extends Error {
  override readonly name = 'ReferenceFault';
}

/** Converts a value that becomes part of a text. */
type Encode = (text: string) => string;

const REFERENCE = /\$\{([^{}]*)\}/g;
const WHOLE = /^\$\{([^{}]*)\}$/;
/** A name with an optional dot before it, an index, or a name in quotes. */
const SEGMENT = /\.?([^.[\]'"\s]+)|\[(\d+)\]|\[\s*'([^']*)'\s*\]|\[\s*"([^"]*)"\s*\]/gy;
/** Maximum nesting of properties. JSON bodies of the API have fewer levels. */
const DEEPEST = 100;

/** Returns the text of each reference in a text, without `${` and `}`. */
export function listReferences(text: string): readonly string[] {
  return [...text.matchAll(REFERENCE)].map(([, inner = '']) => inner.trim());
}

/** Returns a text with a blank in the place of each reference. */
export function withoutReferences(text: string): string {
  return text.replace(REFERENCE, ' ');
}

/**
 * Replaces the references in a value of JSON. A text that is one reference and nothing else becomes the value with its type.
 * @throws ReferenceFault
 */
export function resolveValue(value: unknown, context: Context, depth = 0): unknown {
  if (depth > DEEPEST) throw new ReferenceFault(`The properties nest deeper than ${DEEPEST} levels.`);
  if (typeof value === 'string') return resolveText(value, context);
  if (Array.isArray(value)) return value.map((item) => resolveValue(item, context, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, member]) => [key, resolveValue(member, context, depth + 1)]);
  return Object.fromEntries(entries);
}

function resolveText(text: string, context: Context): unknown {
  const [, whole] = WHOLE.exec(text) ?? [];
  return whole === undefined ? fillText(text, context) : lookUp(whole.trim(), context);
}

/**
 * Replaces the references in a text by texts: objects and arrays become JSON, and null and what is missing become nothing.
 * @throws ReferenceFault
 */
export function fillText(text: string, context: Context, encode: Encode = (same) => same): string {
  return text.replace(REFERENCE, (_, inner: string) => encode(toText(lookUp(inner.trim(), context))));
}

/** Returns a value as the text that stands in a longer text, and in the API. */
export function toText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** @throws ReferenceFault for a variable or a step that the formula does not have */
function lookUp(reference: string, context: Context): unknown {
  const path = parsePath(reference);
  if (path === undefined) throw new ReferenceFault(`The reference \${${reference}} cannot be read.`);
  const [root = '', ...rest] = path;
  switch (root) {
    case 'trigger':
      return follow(context.trigger, rest);
    case 'info':
      return follow(context.info, rest);
    case 'steps':
      return lookUpStep(rest, reference, context);
    case 'config':
      return lookUpVariable(rest, context) ?? missing(reference, context, rest, 'variable');
  }
  // The short forms of earlier formulas: a variable, or a step, without its prefix.
  if (matchVariable(path, context) !== undefined) return lookUpVariable(path, context);
  return lookUpStep(path, reference, context);
}

function lookUpStep(
  [name = '', ...rest]: readonly string[],
  reference: string,
  { steps, stepNames }: Context,
): unknown {
  if (Object.hasOwn(steps, name)) return follow(steps[name], rest);
  if (stepNames.has(name)) return undefined;
  throw new ReferenceFault(`There is no variable and no step for \${${reference}}.`);
}

/** The variable that a path begins with, by the longest key. */
function matchVariable(path: readonly string[], { config, variables }: Context) {
  for (let length = path.length; length > 0; length--) {
    const key = path.slice(0, length).join('.');
    if (variables.has(key) || Object.hasOwn(config, key)) return { key, rest: path.slice(length) };
  }
  return undefined;
}

function lookUpVariable(path: readonly string[], context: Context): unknown {
  const found = matchVariable(path, context);
  if (found === undefined || !Object.hasOwn(context.config, found.key)) return undefined;
  return follow(context.config[found.key], found.rest);
}

function missing(reference: string, context: Context, path: readonly string[], what: string): undefined {
  if (matchVariable(path, context) !== undefined) return undefined;
  throw new ReferenceFault(`There is no ${what} for \${${reference}}.`);
}

/** Returns the member at a path. Undefined: there is none. */
function follow(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const name of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = Object(found)[name];
  }
  return found;
}

/** Returns the names of a path such as `steps['get-all'].response.body[0]`; undefined if it cannot be read. */
export function parsePath(text: string): readonly string[] | undefined {
  const path: string[] = [];
  SEGMENT.lastIndex = 0;
  while (SEGMENT.lastIndex < text.length) {
    const match = SEGMENT.exec(text);
    if (match === null) return undefined;
    const [, name, index, single, double] = match;
    path.push(name ?? index ?? single ?? double ?? '');
  }
  return path.length === 0 ? undefined : path;
}
