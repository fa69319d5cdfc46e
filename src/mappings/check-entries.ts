import { type Faults, isObject, type PointerSegments } from './faults.ts';
import { findVendorPathFault } from './field-paths.ts';
import type { FieldEntry, MappedValue, TransformationEntry } from './model.ts';

type Properties = Readonly<Record<string, unknown>>;

/** Returns what is wrong with a property, as the end of a sentence; undefined for nothing. */
type Check = (value: unknown) => string | undefined;

/** The properties of an entry by name. Those in `required` must be there. */
interface EntryRules {
  readonly required?: Readonly<Record<string, Check>>;
  readonly optional?: Readonly<Record<string, Check>>;
}

const MOST_VALUES = 1_000;
const MOST_PATHS = 20;
const LONGEST_TEXT = 1_000;

const isScalar = (value: unknown): value is MappedValue =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value);

const flag: Check = (value) => (value === null || typeof value === 'boolean' ? undefined : 'must be true or false.');

const scalar: Check = (value) => {
  if (!isScalar(value)) return 'must be a text, a number, true, false or null.';
  return typeof value === 'string' && value.length > LONGEST_TEXT
    ? `must have at most ${LONGEST_TEXT} characters.`
    : undefined;
};

const text: Check = (value) =>
  typeof value === 'string' && value.length <= LONGEST_TEXT
    ? undefined
    : `must be a text of at most ${LONGEST_TEXT} characters.`;

/** The letters of Java's date patterns, texts in quotes, and anything that is no letter. */
const PATTERN = /^(?:[GuyDMLdQqYwWEecFaBhKkHmsSAnNVvzOXxZp]|'(?:[^']|'')*'|[^A-Za-z'])+$/;

const pattern: Check = (value) =>
  typeof value === 'string' && value.length <= 100 && PATTERN.test(value) && /[A-Za-z]/.test(value)
    ? undefined
    : "must be a Java date pattern, such as yyyy-MM-dd or yyyy-MM-dd'T'HH:mm:ssXXX.";

const values: Check = (value) => {
  const form = `must be an object with our values by those of the provider, such as { "1": "open" }`;
  if (!isObject(value)) return `${form}.`;
  const count = Object.keys(value).length;
  if (count === 0 || count > MOST_VALUES) return `must have 1 to ${MOST_VALUES} values; it has ${count}.`;
  return Object.values(value).every((each) => scalar(each) === undefined)
    ? undefined
    : `${form}. Each of them must be a text, a number, true, false or null.`;
};

const paths: Check = (value) => {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_PATHS)
    return `must be a list of 1 to ${MOST_PATHS} paths in the record of the provider.`;
  const at = value.findIndex((each) => typeof each !== 'string' || findVendorPathFault(each) !== undefined);
  if (at < 0) return undefined;
  const one: unknown = value[at];
  return `has an entry ${at} that ${typeof one === 'string' ? findVendorPathFault(one) : 'must be a text.'}`;
};

const factor: Check = (value) => {
  const written = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  const isDecimal = /^-?\d{1,30}(?:\.\d{1,30})?(?:e-?\d{1,2})?$/i.test(written);
  return isDecimal && Number(written) !== 0 ? undefined : 'must be a number other than 0, such as 0.01.';
};

const DIRECTIONS: EntryRules = { optional: { fromVendor: flag, toVendor: flag } };

const OF_FIELD: Readonly<Record<FieldEntry['type'], EntryRules>> = {
  passThrough: DIRECTIONS,
  remove: DIRECTIONS,
  transformDate: { required: { pattern } },
  defaultValue: { required: { value: scalar } },
  valueMap: { required: { values }, optional: { otherwise: scalar } },
  constant: { required: { value: scalar } },
  join: { required: { paths }, optional: { separator: text } },
  first: { required: { paths } },
  number: { required: { multiply: factor } },
};

/** Entries without rules have no properties; what clients send there is not kept. */
const OF_TRANSFORMATION: Readonly<Record<TransformationEntry['type'], EntryRules | undefined>> = {
  passThrough: DIRECTIONS,
  inherit: undefined,
  addToDocumentation: undefined,
  applyJSOnQueryFieldValue: undefined,
};

/** Reads the configuration of a field. */
export function readFieldEntries(given: unknown, segments: PointerSegments, faults: Faults): readonly FieldEntry[] {
  return readEntries<FieldEntry>(given, OF_FIELD, segments, faults);
}

/** Reads the configuration of a transformation. */
export function readTransformationEntries(
  given: unknown,
  segments: PointerSegments,
  faults: Faults,
): readonly TransformationEntry[] {
  return readEntries<TransformationEntry>(given, OF_TRANSFORMATION, segments, faults);
}

function readEntries<Entry extends FieldEntry | TransformationEntry>(
  given: unknown,
  rulesOf: Readonly<Record<Entry['type'], EntryRules | undefined>>,
  segments: PointerSegments,
  faults: Faults,
): readonly Entry[] {
  if (given === undefined || given === null) return [];
  const known = Object.keys(rulesOf);
  if (!Array.isArray(given)) {
    faults.note(segments, `must be a list of entries such as { "type": "${known[0]}", "properties": { … } }.`);
    return [];
  }
  if (given.length > known.length) {
    faults.note(segments, `must have each type once; it has ${given.length} entries.`);
    return [];
  }
  const seen = new Set<string>();
  return given.flatMap((one: unknown, index): Entry[] => {
    const at = [...segments, String(index)];
    if (!isObject(one) || typeof one.type !== 'string') {
      faults.note(at, `must be an object with a type: ${known.join(', ')}.`, { expected: known });
      return [];
    }
    const { type, properties } = one;
    if (!Object.hasOwn(rulesOf, type)) {
      faults.noteUnknown([...at, 'type'], 'configuration entry', type, known);
      return [];
    }
    if (seen.has(type)) faults.note([...at, 'type'], `'${type}' is there twice.`);
    seen.add(type);
    const rules: EntryRules | undefined = rulesOf[type as Entry['type']];
    // The properties are checked against the rules of the type.
    if (rules === undefined) return [{ type } as unknown as Entry];
    const read = readProperties(properties, rules, [...at, 'properties'], faults);
    return [{ type, properties: read } as unknown as Entry];
  });
}

function readProperties(given: unknown, rules: EntryRules, segments: PointerSegments, faults: Faults): Properties {
  const { required = {}, optional = {} } = rules;
  const known = [...Object.keys(required), ...Object.keys(optional)];
  const properties = given ?? {};
  if (!isObject(properties)) {
    faults.note(segments, `must be an object with ${known.join(', ')}.`);
    return {};
  }
  for (const name of Object.keys(required))
    if (!Object.hasOwn(properties, name)) faults.note([...segments, name], 'is missing.');
  const checks: Readonly<Record<string, Check>> = { ...required, ...optional };
  const kept: [string, unknown][] = [];
  for (const [name, value] of Object.entries(properties)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined) {
      faults.noteUnknown([...segments, name], 'property', name, known);
      continue;
    }
    const fault = check(value);
    if (fault !== undefined) faults.note([...segments, name], fault);
    // A direction that is null is one that is not given.
    else if (value !== null || check === scalar) kept.push([name, value]);
  }
  return Object.fromEntries(kept);
}
