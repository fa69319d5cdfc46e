import { isMembers } from '../numbers/exact-json.ts';

/** One step of a path into a record. */
export type PathStep =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  /** All items of an array. */
  | { readonly kind: 'items' }
  /** The first item whose member equals a text or a number. */
  | { readonly kind: 'where'; readonly path: readonly string[]; readonly value: string }
  /** The number of items of an array. */
  | { readonly kind: 'size' };

/** Maximum number of steps of a path. */
const MOST_STEPS = 20;
/** Maximum number of characters of a path. */
const LONGEST_PATH = 500;

const BRACKETS =
  /^\[(?:(?<items>\*)|(?<index>\d{1,6})|(?<name>[^\]=?]+)=(?<plain>[^\]]*)|\?\(@\.(?<path>[^\s=()]+)\s*==\s*(?<value>[^)]*)\))\]/;

/**
 * Reads a path: dots nest, `[*]` stands for all items of an array, `[0]` for one of them, `[id=4]` and `[?(@.id==4)]` for the first item with
 * this value, and `.size()` at the end for the number of items.
 * @returns undefined for a text that is no such path
 */
export function parsePath(text: string): readonly PathStep[] | undefined {
  if (text === '' || text.length > LONGEST_PATH) return undefined;
  const steps: PathStep[] = [];
  for (let rest = text; rest !== ''; ) {
    if (rest === 'size()' && steps.length > 0) return [...steps, { kind: 'size' }];
    const name = /^[^.[\]]+/.exec(rest)?.[0];
    if (name === undefined) return undefined;
    steps.push({ kind: 'name', name });
    rest = rest.slice(name.length);
    for (let bracket = BRACKETS.exec(rest); bracket !== null; bracket = BRACKETS.exec(rest)) {
      steps.push(stepOf(bracket.groups ?? {}));
      rest = rest.slice(bracket[0].length);
    }
    if (steps.length > MOST_STEPS) return undefined;
    if (rest === '') return steps;
    if (!rest.startsWith('.') || rest === '.') return undefined;
    rest = rest.slice(1);
  }
  return undefined;
}

function stepOf({
  items,
  index,
  name,
  plain = '',
  path = '',
  value = '',
}: Record<string, string | undefined>): PathStep {
  if (items !== undefined) return { kind: 'items' };
  if (index !== undefined) return { kind: 'index', index: Number(index) };
  if (name !== undefined) return { kind: 'where', path: name.split('.'), value: unquoted(plain) };
  return { kind: 'where', path: path.split('.'), value: unquoted(value) };
}

function unquoted(text: string): string {
  const trimmed = text.trim();
  return /^'.*'$|^".*"$/s.test(trimmed) ? trimmed.slice(1, -1) : trimmed;
}

/** Returns whether a value can be written to the path: names, positions and all items can, conditions and counts cannot. */
export function isWritable(steps: readonly PathStep[]): boolean {
  return steps.every(({ kind }) => kind === 'name' || kind === 'index' || kind === 'items');
}

/** Returns whether the path leads to many values. */
export function isMany(steps: readonly PathStep[]): boolean {
  return steps.some(({ kind }) => kind === 'items') && steps.at(-1)?.kind !== 'size';
}

/** Reads the value at a path. Behind `[*]` it is an array with a value for each item, null where there is none. */
export function readPath(value: unknown, steps: readonly PathStep[], at = 0): unknown {
  const step = steps[at];
  if (step === undefined) return value;
  switch (step.kind) {
    case 'name':
      return readPath(memberOf(value, step.name), steps, at + 1);
    case 'index':
      return readPath(Array.isArray(value) ? value[step.index] : undefined, steps, at + 1);
    case 'where':
      return readPath(Array.isArray(value) ? value.find((item) => isAt(item, step)) : undefined, steps, at + 1);
    case 'size':
      return Array.isArray(value) ? value.length : undefined;
    case 'items':
      if (!Array.isArray(value)) return undefined;
      return steps[at + 1]?.kind === 'size' ? value.length : value.map((item) => readPath(item, steps, at + 1) ?? null);
  }
}

/** Reads the value that a request has at a path. Unlike `readPath`, items that lack the member are undefined. */
export function readGiven(value: unknown, steps: readonly PathStep[]): unknown {
  const at = steps.findIndex(({ kind }) => kind === 'items');
  if (at < 0) return readPath(value, steps);
  const items = readPath(value, steps.slice(0, at));
  return Array.isArray(items) ? items.map((item) => readGiven(item, steps.slice(at + 1))) : items;
}

function isAt(item: unknown, { path, value }: Extract<PathStep, { kind: 'where' }>): boolean {
  const found = path.reduce(memberOf, item);
  return found !== null && found !== undefined && typeof found !== 'object' && String(found) === value;
}

/** Only own members count, so no record has a `constructor`. */
function memberOf(value: unknown, name: string): unknown {
  return isMembers(value) && !Array.isArray(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Maximum index of an item that is written. */
const MOST_ITEMS = 1000;

/**
 * Sets the value at a path in a copy of `target`, and returns the copy. Behind `[*]`, the value is an array whose items are set one by one;
 * an undefined one leaves its item as it is. Members are defined instead of assigned, so that a member called `__proto__` stays a member.
 */
export function writePath(target: unknown, steps: readonly PathStep[], value: unknown, at = 0): unknown {
  const step = steps[at];
  if (step === undefined) return value;
  if (step.kind === 'name') {
    const copy: Record<string, unknown> = isMembers(target) && !Array.isArray(target) ? { ...target } : {};
    const inner = Object.hasOwn(copy, step.name) ? copy[step.name] : undefined;
    return define(copy, step.name, writePath(inner, steps, value, at + 1));
  }
  const items: unknown[] = Array.isArray(target) ? [...target] : [];
  if (step.kind === 'index' && step.index < MOST_ITEMS) {
    while (items.length < step.index) items.push(null);
    items[step.index] = writePath(items[step.index], steps, value, at + 1);
  } else if (step.kind === 'items') {
    if (!Array.isArray(value)) return Array.isArray(target) ? items : null;
    const isLast = at === steps.length - 1;
    return value.map((item, index) =>
      item === undefined ? (items[index] ?? (isLast ? null : {})) : writePath(items[index], steps, item, at + 1),
    );
  }
  return items;
}

function define(record: Record<string, unknown>, name: string, value: unknown): Record<string, unknown> {
  if (name in Object.prototype)
    Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true });
  else record[name] = value;
  return record;
}

/** Returns a copy of a value without what is at the path. */
export function withoutPath(value: unknown, steps: readonly PathStep[], at = 0): unknown {
  const step = steps[at];
  if (step === undefined || !isMembers(value)) return value;
  const isLast = at === steps.length - 1;
  if (Array.isArray(value)) {
    if (step.kind === 'items') return value.map((item) => withoutPath(item, steps, at + 1));
    if (step.kind !== 'index' || step.index >= value.length || isLast) return value;
    return value.with(step.index, withoutPath(value[step.index], steps, at + 1));
  }
  if (step.kind !== 'name' || !Object.hasOwn(value, step.name)) return value;
  const { [step.name]: inner, ...rest } = value;
  return isLast ? rest : define(rest, step.name, withoutPath(inner, steps, at + 1));
}

/** Returns whether the record has a value at the path, which may be null. */
export function hasPath(value: unknown, steps: readonly PathStep[], at = 0): boolean {
  const step = steps[at];
  if (step === undefined || step.kind === 'items') return true;
  if (step.kind === 'index') return Array.isArray(value) && step.index < value.length;
  if (step.kind !== 'name' || !isMembers(value) || Array.isArray(value) || !Object.hasOwn(value, step.name))
    return false;
  // A list that is set to null has no items.
  return value[step.name] === null || hasPath(value[step.name], steps, at + 1);
}
