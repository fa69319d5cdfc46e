import { conditions, type PushedField, type Value } from '#connector';
import { propertyId } from './values.ts';

/** A filter of a query: one condition, or conditions that are joined, in at most two levels. Source: "Filter data source entries". */
export type Filter =
  | { readonly and: readonly Filter[] }
  | { readonly or: readonly Filter[] }
  | { readonly [member: string]: unknown };

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const [FIRST, LAST] = ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z'].map(Date.parse);

/**
 * Conditions on times ask for more rows than they mean. Notion shows the minute of a change, and may compare the second. For the date of a
 * property it may compare days in any time zone.
 */
function timeOf(epochMs: number, { nativeType }: PushedField, isUpper: boolean): string {
  const margin = nativeType === 'date' ? DAY_MS : isUpper ? MINUTE_MS : 0;
  const ms = Math.min(Math.max(epochMs + (isUpper ? margin : -margin), FIRST ?? 0), LAST ?? 0);
  return new Date(ms).toISOString().slice(0, nativeType === 'date' ? 10 : undefined);
}

/** Only times have these words in filters of ours. */
const ON_OR_BEFORE = 'on_or_before';
const ON_OR_AFTER = 'on_or_after';
const TIME_WORDS: Readonly<Record<string, string>> = {
  less_than: ON_OR_BEFORE,
  less_than_or_equal_to: ON_OR_BEFORE,
  greater_than: ON_OR_AFTER,
  greater_than_or_equal_to: ON_OR_AFTER,
};

/** The names of operators. Source: the types `PropertyFilter` and `TimestampFilter` of `official.json`. */
export const translator = conditions<Filter>({
  operators: {
    '=': 'equals',
    '!=': 'does_not_equal',
    '<': 'less_than',
    '<=': 'less_than_or_equal_to',
    '>': 'greater_than',
    '>=': 'greater_than_or_equal_to',
    'IS NULL': 'is_empty',
    'IS NOT NULL': 'is_not_empty',
  },
  like: { literal: 'equals', prefix: 'starts_with', suffix: 'ends_with', contains: 'contains' },
  value: writeValue,
  condition: ({ field, operator, value = true }) => {
    const type = field.nativeType ?? '';
    if (type === 'timestamp')
      return { timestamp: field.native, [field.native]: { [TIME_WORDS[operator] ?? operator]: value } };
    const word = type === 'date' ? (TIME_WORDS[operator] ?? operator) : operator;
    return { property: propertyId(field.native), [type]: { [word]: value } };
  },
  and: (operands) => ({ and: operands }),
  or: (operands) => ({ or: operands }),
});

function writeValue(value: Value, field: PushedField, operator: string): unknown {
  if (value.kind === 'datetime') return timeOf(value.epochMs, field, operator.startsWith('less'));
  if (value.kind === 'number') return Number(value.text);
  return value.kind === 'date' ? value.text : value.value;
}
