import type { LikePattern } from './model.ts';

type Part = LikePattern['parts'][number];

/** Takes a LIKE pattern apart: `%` any run, `_` one character, `\` makes the next character plain. */
export function readLikePattern(pattern: string): LikePattern {
  const parts = readParts(pattern);
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  return { form: formOf(parts), text: texts.join(''), parts };
}

function readParts(pattern: string): Part[] {
  const parts: Part[] = [];
  let text = '';
  const flush = () => {
    if (text !== '') parts.push({ kind: 'text', text });
    text = '';
  };
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern.charAt(index);
    if (character === '%' || character === '_') {
      flush();
      if (character === '_') parts.push({ kind: 'one' });
      else if (parts.at(-1)?.kind !== 'any') parts.push({ kind: 'any' });
    } else if (character === '\\' && index + 1 < pattern.length) {
      index++;
      text += pattern.charAt(index);
    } else {
      text += character;
    }
  }
  flush();
  return parts;
}

const FORMS: Readonly<Record<string, LikePattern['form']>> = {
  '': 'literal',
  text: 'literal',
  'text any': 'prefix',
  'any text': 'suffix',
  'any text any': 'contains',
};

function formOf(parts: readonly Part[]): LikePattern['form'] {
  return FORMS[parts.map((part) => part.kind).join(' ')] ?? 'pattern';
}

/** The pattern as text again, wildcards in the text escaped. */
export function printLikePattern(pattern: LikePattern): string {
  return pattern.parts.map(printPart).join('');
}

function printPart(part: Part): string {
  if (part.kind === 'any') return '%';
  if (part.kind === 'one') return '_';
  return part.text.replace(/[%_\\]/g, '\\$&');
}

/** A test for texts. Time grows with text × pattern, never exponentially, whatever the pattern. */
export function compileLike(pattern: LikePattern): (text: string) => boolean {
  const { form, text: needle } = pattern;
  if (form === 'literal') return (text) => text === needle;
  if (form === 'prefix') return (text) => text.startsWith(needle);
  if (form === 'suffix') return (text) => text.endsWith(needle);
  if (form === 'contains') return (text) => text.includes(needle);
  const steps = pattern.parts.flatMap((part): readonly Step[] => {
    if (part.kind === 'text') return [...part.text];
    return [part.kind === 'any' ? ANY : ONE];
  });
  return (text) => matchSteps([...text], steps);
}

const ANY: unique symbol = Symbol('any run');
const ONE: unique symbol = Symbol('one character');
type Step = string | typeof ANY | typeof ONE;

/** Greedy match that falls back to the last `%` only, which is enough for this kind of pattern. */
function matchSteps(characters: readonly string[], steps: readonly Step[]): boolean {
  let at = 0;
  let step = 0;
  let retryStep = -1;
  let retryAt = 0;
  while (at < characters.length) {
    const wanted = steps[step];
    if (wanted === ANY) {
      retryStep = step++;
      retryAt = at;
    } else if (wanted !== undefined && (wanted === ONE || wanted === characters[at])) {
      at++;
      step++;
    } else if (retryStep >= 0) {
      step = retryStep + 1;
      at = ++retryAt;
    } else {
      return false;
    }
  }
  while (steps[step] === ANY) step++;
  return step === steps.length;
}
