import { cutText, suggest } from '../errors.ts';
import type { FormulaContent } from './model.ts';

/** A reference of a text to a variable or a step that is not there. */
interface MissingReference {
  /** The reference with its braces. */
  readonly text: string;
  readonly message: string;
}

const REFERENCE = /\$\{([^{}]*)\}/g;
const HEADS: readonly string[] = ['config', 'steps', 'trigger', 'info'];
/** More references in one text are not looked at. */
const MOST_REFERENCES = 100;

/** Returns the references in a text that lead to nothing. */
export function findMissingReferences(
  text: string,
  { configuration, steps }: Pick<FormulaContent, 'configuration' | 'steps'>,
  { takesShortForms }: { readonly takesShortForms: boolean },
): readonly MissingReference[] {
  const keys = configuration.map(({ key }) => key);
  const names = steps.map(({ name }) => name);
  return [...text.matchAll(REFERENCE)].slice(0, MOST_REFERENCES).flatMap(([whole, inner = '']) => {
    const message = findFault(inner.trim(), { keys, names, takesShortForms });
    return message === undefined ? [] : [{ text: whole, message: `${cutText(whole)} ${message}` }];
  });
}

interface Known {
  readonly keys: readonly string[];
  readonly names: readonly string[];
  readonly takesShortForms: boolean;
}

function findFault(reference: string, { keys, names, takesShortForms }: Known): string | undefined {
  const [, head = '', rest = ''] = /^([\w-]+)(.*)$/s.exec(reference) ?? [];
  if (HEADS.includes(head) && (rest === '' || rest.startsWith('.') || rest.startsWith('['))) {
    if (head === 'config') return rest === '' ? undefined : missingName(rest, keys, 'variable');
    if (head === 'steps') return rest === '' ? undefined : missingName(rest, names, 'step');
    return undefined;
  }
  if (!takesShortForms)
    return 'begins with none of config, steps, trigger and info. Write ${config.key} for a variable.';
  const isThere = [...keys, ...names].some((name) => leadsTo(`.${reference}`, name));
  return isThere ? undefined : `names no variable and no step.${suggest(reference, [...keys, ...names]).hint}`;
}

function missingName(path: string, names: readonly string[], kind: string): string | undefined {
  if (names.some((name) => leadsTo(path, name))) return undefined;
  const [, dotted, quoted] = /^(?:\.([\w-]+)|\[['"]([^'"]*)['"]\])/.exec(path) ?? [];
  return `names no ${kind} of the formula.${suggest(dotted ?? quoted ?? path, names).hint}`;
}

/** Returns whether a path begins with a name: `.name`, `.name.member`, `['name']`. */
function leadsTo(path: string, name: string): boolean {
  const isDotted = path.startsWith(`.${name}`) && !/^[\w-]/.test(path.slice(name.length + 1));
  return isDotted || path.startsWith(`['${name}']`) || path.startsWith(`["${name}"]`);
}
