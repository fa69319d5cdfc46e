import { AppError, type ErrorDetail } from '../../errors.ts';
import {
  type Condition,
  conjuncts,
  isGroup,
  operatorOf,
  type Predicate,
  prepareCondition,
  print,
} from '../../where/index.ts';
import { DELIVERY_FIELDS } from '../filter.ts';

/** Part of a queue that a `where` selects. */
interface QueueFilter {
  /** URLs of the subscriptions; undefined for all. */
  readonly urls: readonly string[] | undefined;
}

const FORM = `channel = 'webhook' AND status = 'queued', and at most config.url = '…' or config.url IN ('…', '…') besides`;

/**
 * Reads the `where` of a release or an acknowledgement (decision D7): the queued deliveries of the channel webhook, of all URLs or of some.
 * @throws AppError WHERE_SYNTAX, WHERE_INVALID; WHERE_UNSUPPORTED that names the condition that is not accepted or is missing
 */
export function readQueueFilter(where: string): QueueFilter {
  const condition = prepareCondition(where, { fields: DELIVERY_FIELDS });
  const parts = conjuncts(condition).map(readPart);
  const faults = parts.flatMap((part) => (part.kind === 'fault' ? [part.fault] : []));
  for (const [field, value] of Object.entries(REQUIRED)) {
    if (!parts.some((part) => part.kind === 'required' && part.field === field)) {
      faults.push({ message: `${field} = '${value}' is missing.` });
    }
  }
  const [first] = faults;
  if (first !== undefined) {
    const message = `${first.message} The filter accepts only ${FORM}.`;
    throw new AppError('WHERE_UNSUPPORTED', message, { details: faults });
  }
  return { urls: intersect(parts.flatMap((part) => (part.kind === 'urls' ? [part.urls] : []))) };
}

const REQUIRED: Readonly<Record<string, string>> = { channel: 'webhook', status: 'queued' };

type ReleasePart =
  | { readonly kind: 'required'; readonly field: string }
  | { readonly kind: 'urls'; readonly urls: readonly string[] }
  | { readonly kind: 'fault'; readonly fault: ErrorDetail };

function readPart(condition: Condition): ReleasePart {
  if (isGroup<Condition>(condition)) {
    return {
      kind: 'fault',
      fault: { message: `${print(condition)} cannot be part of the filter: alternatives are not accepted.` },
    };
  }
  const { field } = condition;
  const texts = equalTexts(condition);
  if (field.name === 'config.url' && texts !== undefined) return { kind: 'urls', urls: texts };
  const required = REQUIRED[field.name];
  if (required !== undefined && texts?.length === 1 && texts[0] === required) {
    return { kind: 'required', field: field.name };
  }
  return { kind: 'fault', fault: explain(condition, required) };
}

/** The texts that an `=` or an `IN` allows. */
function equalTexts(predicate: Predicate): readonly string[] | undefined {
  const operator = operatorOf(predicate);
  const values =
    predicate.kind === 'compare' && operator === '='
      ? [predicate.value]
      : predicate.kind === 'in' && operator === 'IN'
        ? predicate.values
        : [];
  const texts = values.flatMap((value) => (value.kind === 'string' ? [value.value] : []));
  return texts.length === 0 ? undefined : texts;
}

function explain(predicate: Predicate, required: string | undefined): ErrorDetail {
  const { name } = predicate.field;
  const { offset, length } = predicate.loc;
  const range = { position: offset, length };
  if (required !== undefined) {
    return { ...range, message: `'${name}' must be = '${required}' here.`, expected: [`${name} = '${required}'`] };
  }
  if (name === 'config.url') {
    return {
      ...range,
      message: `'config.url' accepts only = and IN, not ${operatorOf(predicate)}.`,
      expected: ['=', 'IN'],
    };
  }
  return {
    ...range,
    message: `'${name}' cannot filter a queue.`,
    expected: ['channel', 'status', 'config.url'],
  };
}

function intersect(lists: readonly (readonly string[])[]): readonly string[] | undefined {
  return lists.length === 0
    ? undefined
    : [...lists.map((urls) => new Set(urls)).reduce((all, urls) => all.intersection(urls))];
}
