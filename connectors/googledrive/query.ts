import { infix, plainText, type Translator, type Value } from '#connector';

/** Google reads a backslash and a single quote in a text as signs of its own. Source: "Search for files and folders", "Query string examples". */
export const quote = (text: string) => `'${text.replaceAll(/[\\']/g, '\\$&')}'`;

const literal = (value: Value) => (value.kind === 'boolean' ? String(value.value) : quote(plainText(value)));

/**
 * Finds what begins with a text by its first word, because Google compares names word by word. Source: "Search query terms and operators".
 */
function contains(name: string, _: string, { text }: { readonly text: string }): string {
  const [word = ''] = /^[A-Za-z0-9]+/.exec(text) ?? [];
  return `${name} contains ${quote(word)}`;
}

/** A filter that contains no word would find nothing. In a text, the quotes would have backslashes. */
const WITHOUT_WORD = "contains ''";

const TERMS = infix({
  and: 'and',
  or: 'or',
  words: { '=': '=', '!=': '!=', '<': '<=', '<=': '<=', '>': '>=', '>=': '>=' },
  literal,
  like: { prefix: contains },
});

/** The query language of the parameter `q`. Members of lists are found by `in`, with the value first. */
export const translator: Translator<string> = {
  ...TERMS,
  compare: (field, operator, value) => {
    if (field.native === 'parents' || field.native === 'owners') return `${literal(value)} in ${field.native}`;
    if (value.kind !== 'datetime') return TERMS.compare(field, operator, value);
    const bounds = operator === '=' ? (['>=', '<='] as const) : [operator];
    return TERMS.and(bounds.map((bound) => TERMS.compare(field, bound, wholeSecond(value, bound))));
  },
  fault: (q) =>
    q.includes(WITHOUT_WORD) ? 'Google Drive finds beginnings by words of Latin letters and digits' : undefined,
};

/** Moves a bound outwards to a whole second, because Google does not document how it compares fractions. */
function wholeSecond(value: Extract<Value, { readonly kind: 'datetime' }>, operator: string): Value {
  const seconds = value.epochMs / 1000;
  const rest = value.nanos > 0 ? 1 : 0;
  const whole = operator.startsWith('<') ? Math.ceil(seconds + rest / 1000) : Math.floor(seconds);
  return { ...value, text: new Date(whole * 1000).toISOString().replace('.000', '') };
}

/** Joins what an object always asks for with the filter of a list. */
export function allOf(...conditions: readonly (string | undefined)[]): string | undefined {
  const given = conditions.filter((condition) => condition !== undefined);
  return given.length === 0 ? undefined : given.join(' and ');
}
