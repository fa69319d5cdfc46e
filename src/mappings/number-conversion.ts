import { divideDecimals, multiplyDecimals } from '../numbers/decimal-grid.ts';
import { DECIMAL_TEXT, readDecimal, toJsonNumber } from '../numbers/number-value.ts';
import type { Predicate, PushedField, Rewritten, Value } from '../where/index.ts';
import { abilities, type Conversion, NOUNS, type VendorField } from './conversion-base.ts';
import { INSIDE, local, NEVER, oneOf, rewritten, textsOf } from './rewritten.ts';

/** Returns the conversion of numbers to another unit, with exact decimals. */
export function multiply({ field, isInside }: VendorField, factor: string): Conversion {
  const scale = (value: unknown): unknown => {
    const text = readDecimal(value);
    return text === undefined ? undefined : toJsonNumber(multiplyDecimals(text, factor));
  };
  const isNumber = field.type === 'number' || field.type === 'integer';
  const isDirect = isNumber && !isInside;
  const { createable = false, updateable = false } = field;
  const flags = isInside ? { createable, updateable } : abilities(field);
  return {
    spec: {
      ...flags,
      type: 'number',
      ...(isDirect && { filter: field.filter ?? {} }),
      ...(!isDirect && { nullable: true }),
    },
    read: scale,
    write: (value) => {
      const text = readDecimal(value);
      if (text === undefined) return { fault: 'must be a number.' };
      const { below, isExact } = divideDecimals(text, factor);
      if (!isExact || (field.type === 'integer' && !isInside && below.includes('.'))) {
        return { fault: `must be a multiple of ${field.type === 'integer' ? factor : `the factor ${factor}`}.` };
      }
      return { value: field.format === DECIMAL_TEXT || field.type === 'string' ? below : toJsonNumber(below) };
    },
    ...(!isDirect && { noun: NOUNS.number }),
    rewrite: (predicate) => (isDirect ? divideLiterals(field, factor, predicate) : local(INSIDE)),
  };
}

const TURNED = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const;

/** Returns the predicate in the provider's unit. */
function divideLiterals(field: PushedField, factor: string, predicate: Predicate): Rewritten {
  const { loc } = predicate;
  if (predicate.kind === 'isNull') return rewritten({ ...predicate, field });
  const texts = textsOf(predicate);
  if (texts !== undefined) {
    const values = texts.values.flatMap((text): Value[] => {
      const { below, isExact } = divideDecimals(text, factor);
      const isHeld = isExact && !(field.type === 'integer' && below.includes('.'));
      return isHeld ? [{ kind: 'number', text: below }] : [];
    });
    return oneOf(field, values, { negated: texts.negated, loc });
  }
  if (predicate.kind !== 'compare' || predicate.value.kind !== 'number') return local('numbers have no patterns');
  const { operator } = predicate;
  if (operator === '=' || operator === '!=') return NEVER;
  const turned = factor.startsWith('-') ? TURNED[operator] : operator;
  const { below, above, isExact } = divideDecimals(predicate.value.text, factor);
  if (isExact && !(field.type === 'integer' && below.includes('.'))) {
    return rewritten({ kind: 'compare', field, operator: turned, value: { kind: 'number', text: below }, loc });
  }
  // No value lies between the literal and its neighbours.
  const isUpper = turned === '<' || turned === '<=';
  const [low, high] = field.type === 'integer' ? wholeAround(below) : [below, above];
  const text = isUpper ? low : high;
  const wider = isUpper ? high : low;
  return field.type === 'integer'
    ? rewritten({ kind: 'compare', field, operator: isUpper ? '<=' : '>=', value: { kind: 'number', text }, loc })
    : rewritten({ kind: 'compare', field, operator: turned, value: { kind: 'number', text: wider }, loc }, true);
}

function wholeAround(text: string): readonly [string, string] {
  const [whole = '0', fraction] = text.split('.');
  const cut = BigInt(whole === '-0' ? '0' : whole);
  const floor = text.startsWith('-') && fraction !== undefined ? cut - 1n : cut;
  return [String(floor), String(floor + 1n)];
}
