import type { PropertyField } from './step-types.ts';

/** Properties of a step as the service stores them. */
export type Properties = Readonly<Record<string, unknown>>;
/** Properties of a step as the user typed them, by name. */
export type Texts = Readonly<Record<string, string>>;

/** Returns a value as its text in a form. */
export function printProperty({ kind }: Pick<PropertyField, 'kind'>, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (kind === 'flag') return value === true || value === 'true' ? 'true' : '';
  if (kind === 'names' && Array.isArray(value)) return value.map(String).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

export function readTexts(fields: readonly PropertyField[], properties: Properties): Texts {
  return Object.fromEntries(fields.map((field) => [field.name, printProperty(field, properties[field.name])]));
}

/** Returns the properties for the texts of a form. Unchanged texts keep their value and its type. Properties without a field are kept. */
export function writeTexts(fields: readonly PropertyField[], before: Properties, texts: Texts): Properties {
  const written = { ...before };
  for (const field of fields) {
    const { name } = field;
    const text = texts[name] ?? '';
    if (text === printProperty(field, before[name])) continue;
    if (text.trim() === '') delete written[name];
    else written[name] = readValue(field, text, before[name]);
  }
  return written;
}

function readValue({ kind }: PropertyField, text: string, before: unknown): unknown {
  if (kind === 'names') return splitNames(text);
  // A text that contains JSON stays a text, because references in it are replaced in another way.
  return kind === 'value' && (typeof before !== 'string' || before === '') ? readJson(text) : text;
}

function splitNames(text: string): readonly string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Returns the object or array if a text is JSON of one, otherwise the text. */
function readJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
