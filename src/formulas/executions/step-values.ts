import { isJsonObject } from '../../numbers/exact-json.ts';
import { toText } from '../references.ts';
import type { StepValue } from './model.ts';

/** Builds what references and scripts see of a step from its values. */
export function toContextValue(values: readonly StepValue[]): unknown {
  // The console of a script is beside it.
  const whole = values.find(([path]) => path.length === 0);
  if (whole !== undefined) return whole[1];
  const root: Record<string, unknown> = {};
  for (const [path, value] of values) put(root, path, value);
  return root;
}

function put(root: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let at = root;
  for (const name of path.slice(0, -1)) {
    const inner = Object.hasOwn(at, name) ? at[name] : undefined;
    at = isJsonObject(inner) ? inner : define(at, name, {});
  }
  const last = path.at(-1);
  if (last !== undefined) define(at, last, value);
}

/** Defines a member, whatever its name is: `__proto__` too. */
function define<Value>(on: Record<string, unknown>, name: string, value: Value): Value {
  Object.defineProperty(on, name, { value, enumerable: true, writable: true, configurable: true });
  return value;
}

/** The values that a script or a sub-formula leaves: one for each member, or one for a value that is no object. */
export function valuesOf(value: unknown): readonly StepValue[] {
  if (value === undefined || value === null) return [];
  return isJsonObject(value) ? Object.entries(value).map(([name, member]) => [[name], member]) : [[[], value]];
}

/** Name of the step execution of the trigger. */
const TRIGGER = 'trigger';

/** Returns the values as the API shows them. The input of an execution is always JSON, so that a text differs from a number. A value that is longer than `maxBytes` is replaced by a note. */
export function showValues(stepName: string, values: readonly StepValue[], maxBytes: number) {
  return values.map(([path, value], index) => {
    const isInput = stepName === TRIGGER && path.length === 1 && path[0] === 'args';
    const text = isInput || value === null ? JSON.stringify(value) : toText(value);
    const size = text.length > maxBytes ? text.length : 0;
    return {
      id: index + 1,
      key: [stepName, ...path].join('.'),
      value:
        size > 0 ? `(The value is not shown, because it has ${size} characters and the maximum is ${maxBytes}.)` : text,
    };
  });
}
