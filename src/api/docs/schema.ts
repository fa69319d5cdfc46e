import { escapeHtml, when } from './html.ts';
import { renderMarkdown } from './markdown.ts';
import { type DocumentPart, nameOfReference, partOf, partsOf } from './open-api.ts';

/** Path of the page with all named schemas. */
export const SCHEMAS_PATH = '/docs/reference/schemas';

/** Returns a short HTML description of a schema's type. Named schemas are links. */
export function describeType(schema: DocumentPart): string {
  const name = nameOfReference(schema);
  if (name !== undefined) return `<a href="${SCHEMAS_PATH}#schema-${escapeHtml(name)}">${escapeHtml(name)}</a>`;
  for (const [member, words] of COMBINATIONS) {
    const parts = partsOf(schema[member]);
    if (parts.length > 0) return parts.map(describeType).join(words);
  }
  if (schema.type === 'array') return `list of ${describeType(partOf(schema.items))}`;
  const format = schema.format === undefined ? '' : ` (${String(schema.format)})`;
  return escapeHtml(`${schema.type ?? 'any'}${format}`);
}

const COMBINATIONS = [
  ['oneOf', ' or '],
  ['anyOf', ' or '],
  ['allOf', ' and '],
] as const;

/** Describes the limits, the default and the choices of a schema, each as `name: value`. */
export function describeLimits(schema: DocumentPart): string {
  const given = LIMITS.filter(([member]) => schema[member] !== undefined);
  const limits = given.map(([member, words]) => `${words} <code>${escapeHtml(printLimit(schema[member]))}</code>`);
  return when(limits.length > 0, () => `<span class="limits">${limits.join(', ')}</span>`);
}

const LIMITS = [
  ['enum', 'one of'],
  ['default', 'default'],
  ['minimum', 'from'],
  ['maximum', 'to'],
  ['maxLength', 'characters at most'],
  ['maxItems', 'entries at most'],
  ['pattern', 'pattern'],
] as const;

function printLimit(limit: unknown): string {
  if (Array.isArray(limit)) return limit.map(printLimit).join(', ');
  return typeof limit === 'string' ? limit : JSON.stringify(limit);
}

/** Renders a schema with its members, including the members of schemas without a name. */
export function printSchema(schema: DocumentPart): string {
  const type = `<p class="type">${describeType(schema)}</p>`;
  const members = printMembers(schema);
  const own = 'properties' in schema ? '' : type + describeLimits(schema);
  return `${paragraphs(schema.description)}${own}${members}`;
}

function printMembers(schema: DocumentPart): string {
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const members = Object.entries(partOf(schema.properties)).map(([name, member]) =>
    printMember(name, partOf(member), required.includes(name)),
  );
  return when(members.length > 0, () => `<dl class="members">\n${members.join('\n')}\n</dl>\n`);
}

function printMember(name: string, schema: DocumentPart, isRequired: boolean): string {
  const mark = when(isRequired, () => ' <span class="required">required</span>');
  const inner = schema.type === 'array' ? partOf(schema.items) : schema;
  const below = nameOfReference(inner) === undefined ? printMembers(inner) : '';
  return `<dt><code>${escapeHtml(name)}</code> <span class="type">${describeType(schema)}</span>${mark}</dt>
<dd>${paragraphs(schema.description)}${describeLimits(schema)}${below}</dd>`;
}

/** Renders the Markdown of a description as HTML. */
export function paragraphs(description: unknown): string {
  return typeof description === 'string' ? renderMarkdown(description).html : '';
}
