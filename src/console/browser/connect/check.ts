import type { Field, Values } from './session.ts';
import { texts } from './texts.ts';

/** What stands in the fields at first. */
export function initialValues(fields: readonly Field[]): Values {
  return Object.fromEntries(fields.map((field) => [field.key, initialValue(field)]));
}

function initialValue({ type, default: first = '' }: Field): string | boolean {
  return type === 'boolean' ? first === true || first === 'true' : String(first);
}

/** What is wrong with what stands in a field now; undefined also where nothing does. */
export function findFault({ type, pattern, example }: Field, value: string | boolean | undefined): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  if (type === 'number' && !Number.isFinite(Number(value))) return texts.form.noNumber;
  if (type === 'url' && !/^https?:$/.test(URL.parse(value)?.protocol ?? '')) return texts.form.noUrl;
  if (pattern !== undefined && !new RegExp(pattern).test(value)) return texts.form.otherForm(example);
  return undefined;
}

/** The faults of all fields, with those that are empty. */
export function findFaults(fields: readonly Field[], values: Values): Readonly<Record<string, string>> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = values[field.key];
      const fault = field.required && value === '' ? texts.form.missing : findFault(field, value);
      return fault === undefined ? [] : [[field.key, fault]];
    }),
  );
}

/** What is sent: what is empty is left out. */
export function givenOf(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
}

/** The values of a pattern that is a list of words, such as `^(?:eu|us)$`. */
export function choicesOf({ pattern = '' }: Field): readonly string[] | undefined {
  return /^\^\(\?:([\w-]+(?:\|[\w-]+)+)\)\$$/.exec(pattern)?.[1]?.split('|');
}
