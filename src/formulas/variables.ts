import type { FormulaContent, Trigger } from './model.ts';

/** Properties in which references may also be written in the old short form, `${key}`. */
const WITH_SHORT_FORMS: readonly string[] = ['elementInstanceId', 'list', 'cron'];

/**
 * Puts the values of variables into a text, for `${config.key}`, `${config['key']}` and the old short form `${key}`. Variables without
 * a value, and what is no variable, become nothing.
 */
export function resolveVariables(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{([^{}]*)\}/g, (_, reference: string) => {
    const key = keyOf(reference.trim());
    return Object.hasOwn(values, key) ? (values[key] ?? '') : '';
  });
}

function keyOf(reference: string): string {
  const [, single, quoted = single] = /^config\[\s*(?:'([^']*)'|"([^"]*)")\s*\]$/.exec(reference) ?? [];
  if (quoted !== undefined) return quoted;
  return reference.startsWith('config.') ? reference.slice('config.'.length) : reference;
}

/** Returns the keys of the variables in a text, as far as they are among `keys`. */
export function variablesIn(text: string, keys: ReadonlySet<string>): readonly string[] {
  return [...text.matchAll(/\$\{([^{}]*)\}/g)]
    .map(([, reference = '']) => keyOf(reference.trim()))
    .filter((key) => keys.has(key));
}

/**
 * Renames a variable in every property of the trigger and the steps. The bodies of scripts use it as an argument, so there only
 * `${config.key}` in template literals changes.
 */
export function renameVariable(content: FormulaContent, from: string, to: string): FormulaContent {
  const rename = (properties: Readonly<Record<string, unknown>>, isScript: boolean) =>
    Object.fromEntries(
      Object.entries(properties).map(([name, value]) => [
        name,
        renameIn(value, { from, to, isScript: isScript && name === 'body', isShort: WITH_SHORT_FORMS.includes(name) }),
      ]),
    );
  return {
    configuration: content.configuration,
    triggers: content.triggers.map((one) => ({ ...one, properties: rename(one.properties, false) })),
    steps: content.steps.map((one) => ({
      ...one,
      properties: rename(one.properties, one.type === 'script' || one.type === 'filter'),
    })),
  };
}

interface Renaming {
  readonly from: string;
  readonly to: string;
  readonly isScript: boolean;
  /** The property still takes the short form, so it keeps it. */
  readonly isShort: boolean;
}

function renameIn(value: unknown, renaming: Renaming): unknown {
  if (typeof value === 'string') return renameInText(value, renaming);
  if (Array.isArray(value)) return value.map((one) => renameIn(one, renaming));
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, renameIn(one, renaming)]));
}

function renameInText(text: string, { from, to, isScript, isShort }: Renaming): string {
  return text.replaceAll(/\$\{(\s*)([^{}]*?)(\s*)\}/g, (whole, _before: string, reference: string) => {
    if (reference === `config.${from}`) return `\${config.${to}}`;
    if (isScript) return whole;
    if (keyOf(reference) !== from) return whole;
    return reference === from && isShort ? `\${${to}}` : `\${config.${to}}`;
  });
}

/** Returns the id of the element instance whose events or requests a trigger waits for, with the values of a formula instance. */
export function triggerInstanceId(
  trigger: Trigger | undefined,
  values: Readonly<Record<string, string>>,
): number | undefined {
  if (trigger === undefined || (trigger.type !== 'event' && trigger.type !== 'elementRequest')) return undefined;
  const { elementInstanceId } = trigger.properties;
  if (typeof elementInstanceId !== 'string' && typeof elementInstanceId !== 'number') return undefined;
  return readInstanceId(resolveVariables(String(elementInstanceId), values));
}

/** Returns the id of an element instance that a text is. Undefined: it is none. */
export function readInstanceId(text: string): number | undefined {
  return /^\s*[1-9]\d{0,14}\s*$/.test(text) ? Number(text) : undefined;
}
