import type { PushedField, Translator, Value } from '#connector';

/**
 * One keyword of a search with its values: `{ start: 'status:', values: ['new', 'open'] }`. Zendesk joins values of one positive keyword by
 * OR, and everything else by AND. Source: "Zendesk Support search reference".
 */
interface Term {
  readonly start: string;
  readonly values: readonly string[];
}

export type Terms = readonly Term[];

/** Keywords of the search that differ from the names of the members. Custom fields have their own. */
const KEYWORDS: Readonly<Record<string, string>> = {
  type: 'ticket_type',
  created_at: 'created',
  updated_at: 'updated',
  due_at: 'due_date',
  requester_id: 'requester',
  assignee_id: 'assignee',
  submitter_id: 'submitter',
  organization_id: 'organization',
  group_id: 'group',
};

/** The beginning of the names of custom fields. */
export const CUSTOM = 'custom_field_';
const ID = 'id:';

/** The words that the search surely finds as they are. How it splits other texts into words is not documented. */
export const PLAIN = /^[A-Za-z0-9]+(?: [A-Za-z0-9]+)*$/;
const PREFIX = /^[A-Za-z0-9]+\*$/;

function keywordOf({ native }: PushedField): string {
  // Custom fields of tickets are searched by this name, those of users and organizations by their key.
  const [, key] = /^custom_field_(.*\D.*)$/s.exec(native) ?? [];
  return key ?? KEYWORDS[native] ?? native;
}

function textOf(value: Value): string {
  if (value.kind === 'datetime') return `${new Date(value.epochMs).toISOString().slice(0, 19)}Z`;
  if (value.kind === 'string') return value.value.includes(' ') ? `"${value.value}"` : value.value;
  return value.kind === 'boolean' ? String(value.value) : value.text;
}

const equal = (field: PushedField, values: readonly string[], isNegated: boolean): Terms =>
  isNegated
    ? values.map((value) => ({ start: `-${keywordOf(field)}:`, values: [value] }))
    : [{ start: `${keywordOf(field)}:`, values }];

/** Only the values that fields declare as askable arrive here, so nothing has to be escaped. */
export const translator: Translator<Terms> = {
  and: (operands) => operands.flat(),
  compare: (field, operator, value) =>
    operator === '=' || operator === '!='
      ? equal(field, [textOf(value)], operator === '!=')
      : [{ start: keywordOf(field) + operator, values: [boundOf(operator, value)] }],
  in: (field, values, isNegated) => equal(field, values.map(textOf), isNegated),
  like: (field, { text }) => equal(field, [`${text}*`], false),
  isNull: (field, isNegated) => equal(field, ['none'], isNegated),
  fault: (terms) => {
    const starts = terms.map(({ start }) => start).filter((start) => !start.startsWith('-'));
    if (new Set(starts).size < starts.length) return 'Zendesk joins two conditions on one keyword by OR';
    if (starts.includes(ID) && terms.length > 1) return 'Zendesk finds ids only without other conditions';
    const isClear = terms.every(({ values }) => values.every((value) => !value.endsWith('*') || PREFIX.test(value)));
    return isClear ? undefined : 'Zendesk finds beginnings of single words only';
  },
};

/** Times are compared by whole seconds, so a bound never leaves out a fraction. */
function boundOf(operator: string, value: Value): string {
  const isUpper = value.kind === 'datetime' && operator.startsWith('<');
  return textOf(isUpper ? { ...value, epochMs: Math.ceil(value.epochMs / 1000) * 1000 + 1000 } : value);
}

/** Returns the ids that a filter names, if it names nothing else. */
export function idsIn(terms: Terms): string | undefined {
  return terms.find(({ start }) => start === ID)?.values.join();
}

/** Prints a search. */
export function queryOf(terms: Terms): string {
  return terms.flatMap(({ start, values }) => values.map((value) => start + value)).join(' ');
}
