import type { Completion, CompletionContext, CompletionResult, CompletionSource } from '@codemirror/autocomplete';
import { printName, quoteText } from '../../../../where/print.ts';
import { type Expectation, expectedAfter } from '../../../../where/written.ts';
import { ANSWERERS, answererOf, type ObjectField, operatorsOf } from '../metadata.ts';
import type { EditorSource } from './source.ts';

/** What is being written: a name with its dots, the beginning of a text, a number, or an operator. */
const BEGUN = /(?:[\p{L}\p{M}\p{N}_$@.`-]+|'(?:[^']|'')*|[<>=!]+)$/u;
const WHOLE = /^(?:[\p{L}\p{M}\p{N}_$@.`-]*|'(?:[^']|'')*|[<>=!]*)$/u;
const MOST_VALUES = 30;

/** Completes what the parser expects, by the object's metadata and the rows that are shown. */
export function completing(source: () => EditorSource): CompletionSource {
  return (context) => {
    const text = context.state.doc.sliceString(0, context.pos);
    const [begun = ''] = BEGUN.exec(text) ?? [];
    const from = context.pos - begun.length;
    if (begun === '' && !context.explicit && !/[\s(,=<>]$/.test(text)) return null;
    const options = optionsFor(expectedAfter(text.slice(0, from)), source());
    return options.length === 0 || isDone(options, begun, context) ? null : resultOf(from, options);
  };
}

function resultOf(from: number, options: readonly Completion[]): CompletionResult {
  return { from, options, validFor: WHOLE };
}

/** Nothing is left to complete, so that Enter is free to run the filter. */
function isDone(options: readonly Completion[], begun: string, { explicit }: CompletionContext): boolean {
  return !explicit && options.some(({ label }) => label.toLowerCase() === begun.toLowerCase());
}

function optionsFor({ words, field, isNegated }: Expectation, source: EditorSource): readonly Completion[] {
  const known = field === undefined ? undefined : source.fieldsByName.get(field);
  if (words.includes('field'))
    return [...fieldOptions(source), ...plainOptions(words.filter((word) => word !== 'field'))];
  if (words.includes('IS NULL')) return operatorOptions(words, known, isNegated);
  if (words.includes("'text'")) return valueOptions(field, known, source);
  return plainOptions(words.filter((word) => /^[A-Z ]+$/.test(word)));
}

function plainOptions(words: readonly string[]): readonly Completion[] {
  return words.filter((word) => word !== '(').map((word) => ({ label: word, apply: `${word} `, type: 'keyword' }));
}

function fieldOptions({ metadata }: EditorSource): readonly Completion[] {
  const fields = (metadata?.fields ?? [])
    .filter(({ unlisted }) => unlisted !== true)
    .map(({ name, type, label }) => ({
      label: printName(name),
      apply: `${printName(name)} `,
      detail: label === name ? type : `${type} · ${label}`,
      type: 'property',
      boost: 1,
    }));
  const parameters = (metadata?.parameters ?? []).map(({ name, type, description }) => ({
    label: printName(name),
    apply: `${printName(name)} = `,
    detail: `${type} · parameter`,
    info: description,
    type: 'variable',
  }));
  return [...fields, ...parameters];
}

const NOT = 'NOT ';

/** Without metadata all that the language has. */
function operatorOptions(words: readonly string[], field: ObjectField | undefined, isNegated: boolean) {
  const operators = field === undefined ? words : operatorsOf(field);
  const offered = isNegated
    ? ['IN', 'LIKE', 'BETWEEN'].filter((word) => operators.includes(word) || operators.includes(NOT + word))
    : operators;
  return offered.map((operator, index): Completion => {
    const answerer = field && answererOf(field, isNegated && operator !== 'BETWEEN' ? NOT + operator : operator);
    return {
      label: operator,
      apply: operator.endsWith('IN') ? `${operator} (` : `${operator} `,
      type: 'operator',
      boost: -index,
      ...(answerer !== undefined && { detail: ANSWERERS[answerer] }),
    };
  });
}

function valueOptions(name: string | undefined, field: ObjectField | undefined, source: EditorSource) {
  if (field?.type === 'boolean') return plainOptions(['TRUE', 'FALSE']);
  const listed = (field?.values ?? []).map((value) => ({ value, detail: 'known value' }));
  const seen = name === undefined ? [] : source.seenValues(name);
  const all = [...listed, ...seen.map((value) => ({ value, detail: 'in the rows shown' }))];
  const byLabel = new Map<string, Completion>();
  for (const { value, detail } of all) {
    const label = literalOf(value, field?.type);
    if (label !== undefined && !byLabel.has(label))
      byLabel.set(label, { label, detail, type: 'constant', boost: -byLabel.size });
    if (byLabel.size >= MOST_VALUES + listed.length) break;
  }
  return [...byLabel.values()];
}

/** A value as the filter has it; undefined for lists, objects and nothing. */
function literalOf(value: unknown, type: ObjectField['type'] | undefined): string | undefined {
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string' || value.length > 100) return undefined;
  return type === 'integer' || type === 'number' || type === 'date' ? value : quoteText(value);
}
