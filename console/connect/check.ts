import type { Field, Values } from './session.ts';
import { texts } from './texts.ts';

/** Returns the initial values of the fields. */
export function initialValues(fields: readonly Field[]): Values {
  return Object.fromEntries(fields.map((field) => [field.key, initialValue(field)]));
}

function initialValue({ type, default: first = '' }: Field): string | boolean {
  return type === 'boolean' ? first === true || first === 'true' : String(first);
}

/** Reads an entered value. Blanks around it are removed, because copying often adds them; a secret keeps them. */
function read({ secret }: Field, value: string | boolean | undefined): string | boolean {
  return typeof value === 'string' && !secret ? value.trim() : (value ?? '');
}

/** Returns the fault of the current value of a field. Undefined for an empty field. */
export function findFault(field: Field, entered: string | boolean | undefined): string | undefined {
  const { type, pattern, example } = field;
  const value = read(field, entered);
  if (typeof value !== 'string' || value === '') return undefined;
  if (type === 'number' && !Number.isFinite(Number(value))) return texts.form.noNumber;
  if (type === 'url' && !/^https?:$/.test(URL.parse(value)?.protocol ?? '')) return texts.form.noUrl;
  if (pattern !== undefined && !new RegExp(pattern).test(value)) return texts.form.otherForm(example);
  return undefined;
}

/** Returns the faults of all fields by key. A required field that is empty is a fault too. */
export function findFaults(fields: readonly Field[], values: Values): Readonly<Record<string, string>> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = values[field.key];
      const fault = field.required && read(field, value) === '' ? texts.form.missing : findFault(field, value);
      return fault === undefined ? [] : [[field.key, fault]];
    }),
  );
}

/** Returns the values to send. Empty ones are left out. */
export function givenOf(fields: readonly Field[], values: Values): Values {
  const entries = fields.map((field) => [field.key, read(field, values[field.key])] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}

/** Returns the values of a pattern that is a list of words, such as `^(?:eu|us)$`. */
export function choicesOf({ pattern = '' }: Field): readonly string[] | undefined {
  return /^\^\(\?:([\w-]+(?:\|[\w-]+)+)\)\$$/.exec(pattern)?.[1]?.split('|');
}
