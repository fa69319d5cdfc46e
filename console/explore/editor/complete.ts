import type { Completion, CompletionContext, CompletionSource } from '@codemirror/autocomplete';
import { printName, quoteText } from '../../../src/where/print.ts';
import { type Expectation, expectedAfter, type Word, wordsOf } from '../../../src/where/written.ts';
import { EVALUATORS, evaluatorOf, type ObjectField, operatorsOf } from '../metadata.ts';
import type { EditorSource } from './source.ts';

const MOST_VALUES = 30;

/** Completes a filter with what the parser expects at the cursor: fields from the object's metadata and values from the shown rows. */
export function completing(source: () => EditorSource): CompletionSource {
  return (context) => {
    const text = context.state.doc.sliceString(0, context.pos);
    const from = beginningOf(text);
    const begun = text.slice(from);
    const expected = expectedAfter(text.slice(0, from));
    // After a complete predicate, nothing is offered until the user asks, so that Enter runs the filter there.
    if (!context.explicit && begun === '' && (!OPEN_END.test(text) || isConnective(expected))) return null;
    const options = optionsFor(expected, source());
    if (options.length === 0 || isDone(options, begun, context)) return null;
    const isInPair = begun.startsWith("'") && context.state.doc.sliceString(context.pos, context.pos + 1) === "'";
    return { from, to: context.pos + (isInPair ? 1 : 0), options, validFor: WHOLE };
  };
}

const OPEN_END = /(?:^|[\s(,=<>])$/;
/** While the text is still one word of this kind, CodeMirror narrows the same options. */
const WHOLE = /^(?:[\p{L}\p{M}\p{N}_$@.`-]*|'(?:[^']|'')*|[<>=!]*)$/u;

function isConnective({ words }: Expectation): boolean {
  return words.includes('AND');
}

/** Returns the beginning of the word at the end of the text. The word can be a name with its dots, or a text that is not closed yet. */
function beginningOf(text: string): number {
  const words = wordsOf(text);
  const last = words.at(-1);
  if (last === undefined || last.offset + last.length < text.length) return text.length;
  if (last.kind === 'text' || text.endsWith('(') || text.endsWith(',')) return text.length;
  let begin = words.length - 1;
  while (isPartOfName(words[begin], text) && isPartOfName(words[begin - 1], text)) begin--;
  return words[begin]?.offset ?? text.length;
}

function isPartOfName(word: Word | undefined, text: string): boolean {
  return word !== undefined && (word.kind === 'name' || text.startsWith('.', word.offset));
}

/** Returns whether an option is already written in full, so that Enter runs the filter. */
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

/** Returns the operators of a field or, without metadata, all operators of the language. */
function operatorOptions(words: readonly string[], field: ObjectField | undefined, isNegated: boolean) {
  const operators = field === undefined ? words : operatorsOf(field);
  const offered = isNegated
    ? ['IN', 'LIKE', 'BETWEEN'].filter((word) => operators.includes(word) || operators.includes(NOT + word))
    : operators;
  return offered.map((operator, index): Completion => {
    const evaluator = field && evaluatorOf(field, isNegated && operator !== 'BETWEEN' ? NOT + operator : operator);
    return {
      label: operator,
      apply: operator.endsWith('IN') ? `${operator} (` : `${operator} `,
      type: 'operator',
      boost: -index,
      ...(evaluator !== undefined && { detail: EVALUATORS[evaluator] }),
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

/** Returns a value as it is written in a filter. Undefined for lists, objects and null. */
function literalOf(value: unknown, type: ObjectField['type'] | undefined): string | undefined {
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string' || value.length > 100) return undefined;
  return type === 'integer' || type === 'number' || type === 'date' ? value : quoteText(value);
}
