import { printable, printableJson } from './texts.js';

/** The types of fields that TypeScript distinguishes. */
export type TypedKind = 'string' | 'number' | 'boolean' | 'object' | 'array';

/** A field of the records of an object. */
export interface TypedField {
  /** Path of the field. Dots nest, and `[*]` and `[0]` stand for the items of an array: `address.city`, `users[*].name`. */
  readonly path: string;
  readonly kind: TypedKind;
  /** Display name of the field. */
  readonly displayName?: string | undefined;
}

/** An object whose records become an interface. */
export interface TypedObject {
  readonly name: string;
  /** The fields. A path may occur several times, with the types that it has on different instances. */
  readonly fields: readonly TypedField[];
}

/** First line of each file. A later run recognizes by it that it may replace the file. */
export const FIRST_LINE = '// Made by `causeway types`. Run it again after a change of the definitions.';

const SCALARS = ['string', 'number', 'boolean'] as const;
const INDENT = '  ';

/** A member of a record, or the items of an array. */
interface TypedMember {
  readonly kinds: Set<TypedKind>;
  readonly members: Map<string, TypedMember>;
  items: TypedMember | undefined;
  displayName: string | undefined;
}

/**
 * Returns a TypeScript module with one exported interface for each object, ordered by name. The same objects always result in the same
 * text.
 */
export function typesOf(objects: readonly TypedObject[]): string {
  const byName = [...objects].sort((a, b) => (a.name < b.name ? -1 : 1));
  const names = interfaceNames(byName);
  const interfaces = byName.map((object, index) => interfaceOf(object, names[index] ?? ''));
  // A file without an export would not be a module.
  const blocks = interfaces.length === 0 ? ['export {};'] : interfaces;
  return `${[FIRST_LINE, ...blocks].join('\n\n')}\n`;
}

/** Returns the names in PascalCase. A name that is taken gets a number. */
function interfaceNames(objects: readonly TypedObject[]): readonly string[] {
  const taken = new Set<string>();
  return objects.map(({ name }) => {
    const base = pascalCase(name);
    let unique = base;
    for (let number = 2; taken.has(unique); number++) unique = `${base}${number}`;
    taken.add(unique);
    return unique;
  });
}

function pascalCase(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const joined = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return /^[A-Z]/.test(joined) ? joined : `_${joined}`;
}

function interfaceOf({ name, fields }: TypedObject, interfaceName: string): string {
  const record = newMember();
  for (const field of fields) add(record, field);
  return `${commentOf(`The object \`${name}\`.`, '')}export interface ${interfaceName} ${membersOf(record, '')}`;
}

function newMember(): TypedMember {
  return { kinds: new Set(), members: new Map(), items: undefined, displayName: undefined };
}

/** Adds a field to a record, with the members that contain it. */
function add(record: TypedMember, { path, kind, displayName }: TypedField): void {
  let member = record;
  for (const [step] of path.matchAll(/\[[^\]]*\]|[^.[\]]+/g))
    member = step.startsWith('[') ? itemsOf(member) : memberOf(member, step);
  if (member === record) return;
  member.kinds.add(kind);
  if (displayName !== path) member.displayName ??= displayName;
}

function itemsOf(member: TypedMember): TypedMember {
  member.items ??= newMember();
  return member.items;
}

function memberOf({ members }: TypedMember, name: string): TypedMember {
  const member = members.get(name) ?? newMember();
  members.set(name, member);
  return member;
}

function membersOf({ members }: TypedMember, indent: string): string {
  if (members.size === 0) return '{}';
  const inner = indent + INDENT;
  const lines = [...members].map(([name, member]) => {
    const comment = member.displayName === undefined ? '' : commentOf(member.displayName, inner);
    return `${comment}${inner}${keyOf(name)}?: ${[...typesAt(member, inner), 'null'].join(' | ')};\n`;
  });
  return `{\n${lines.join('')}${indent}}`;
}

/** Returns the types that a value can have apart from null. A type that only a newer service has becomes `unknown`. */
function typesAt(member: TypedMember, indent: string): readonly string[] {
  const { kinds, members, items } = member;
  const types: string[] = SCALARS.filter((kind) => kinds.has(kind));
  if (members.size > 0) types.push(membersOf(member, indent));
  else if (kinds.has('object')) types.push('{ [name: string]: unknown }');
  if (items !== undefined) types.push(listOf(items, indent));
  else if (kinds.has('array')) types.push('unknown[]');
  return types.length === 0 ? ['unknown'] : types;
}

/** Returns the type of an array. Items that are records are never null. A single value that could not be converted is null. */
function listOf(items: TypedMember, indent: string): string {
  const types = typesAt(items, indent);
  const [only] = types;
  if (types.length === 1 && only !== undefined && items.members.size > 0) return `${only}[]`;
  return `(${[...types, 'null'].join(' | ')})[]`;
}

function keyOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : printableJson(name);
}

function commentOf(text: string, indent: string): string {
  return `${indent}/** ${printable(text).replaceAll('*/', '*\\/')} */\n`;
}
