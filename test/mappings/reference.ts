import type { FieldSpec } from '#connector';
import type { FieldEntry, MappedType, MappingInForce, TransformationField } from '../../src/mappings/model.ts';
import { ExactNumber } from '../../src/numbers/exact-json.ts';

/**
 * What a mapping means, written from its definition (contract D17) over whole records. It shares no code with what it judges; it is slow
 * and plain on purpose.
 */

type Row = Readonly<Record<string, unknown>>;
type Specs = Readonly<Record<string, FieldSpec>>;

/** Returns the mapped record of a record of the provider, in the form of the API. */
export function transform(row: Row, mapping: MappingInForce, specs: Specs): Row {
  const record = passedThrough(row, mapping, specs);
  for (const { path, type } of mapping.definition) {
    const field = mapping.fields.find((each) => each.path === path);
    if (isRemoved(field) || (field === undefined && isContainer(path, mapping))) continue;
    const value = field === undefined ? null : valueAt(row, field, field.type ?? type, specs);
    place(record, path, value);
  }
  return record;
}

function isRemoved(field: TransformationField | undefined): boolean {
  return (field?.configuration ?? []).some(
    (entry) =>
      (entry.type === 'remove' && entry.properties.fromVendor === true) ||
      (entry.type === 'passThrough' && entry.properties.fromVendor === false),
  );
}

/** A list or an object of other fields. */
function isContainer(path: string, { definition }: MappingInForce): boolean {
  return definition.some((other) => other.path.startsWith(`${path}.`) || other.path.startsWith(`${path}[`));
}

function entryOf<Type extends FieldEntry['type']>({ configuration = [] }: TransformationField, type: Type) {
  return configuration.find((entry): entry is Extract<FieldEntry, { type: Type }> => entry.type === type);
}

/** The provider's paths that a field is made of. */
function pathsOf(field: TransformationField): readonly string[] {
  const several = entryOf(field, 'join') ?? entryOf(field, 'first');
  if (several !== undefined) return several.properties.paths;
  return field.vendorPath === undefined ? [] : [field.vendorPath];
}

/** The field of the provider that a path begins with, and the rest of the path. */
function rootOf(path: string, specs: Specs): readonly [name: string, rest: string] | undefined {
  const names = Object.keys(specs).filter(
    (name) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`),
  );
  const [name] = names.sort((one, other) => other.length - one.length);
  return name === undefined ? undefined : [name, path.slice(name.length)];
}

/** A copy of the fields that no mapped field shows. */
function passedThrough(
  row: Row,
  { fields, definition, configuration }: MappingInForce,
  specs: Specs,
): Record<string, unknown> {
  if (configuration.some((entry) => entry.type === 'passThrough' && entry.properties.fromVendor === false)) return {};
  const record: Record<string, unknown> = structuredClone(withoutExact(row));
  for (const path of fields.flatMap(pathsOf)) {
    if (rootOf(path, specs) !== undefined) removeAt(record, stepsOf(path));
  }
  for (const { path } of definition) {
    const [top = ''] = path.split('[');
    if (Object.hasOwn(specs, top)) removeAt(record, stepsOf(top));
  }
  return record;
}

/** Numbers beyond doubles are kept as they are printed. */
function withoutExact(value: unknown): Record<string, unknown> {
  return JSON.parse(
    JSON.stringify(value, (_, each: unknown) => (each instanceof ExactNumber ? { exact: each.text } : each)),
    (_, each) =>
      typeof each === 'object' && each !== null && typeof each.exact === 'string' ? new ExactNumber(each.exact) : each,
  );
}

function stepsOf(path: string): readonly string[] {
  return path.match(/\[[^\]]*\]|[^.[\]]+/g) ?? [];
}

function removeAt(value: unknown, [step, ...rest]: readonly string[]): void {
  if (step === undefined || typeof value !== 'object' || value === null) return;
  if (step.startsWith('[')) {
    if (!Array.isArray(value) || rest.length === 0) return;
    const items =
      step === '[*]' ? value : /^\[\d+\]$/.test(step) ? value.slice(Number(step.slice(1, -1))).slice(0, 1) : [];
    for (const item of items) removeAt(item, rest);
  } else if (rest.length === 0) Reflect.deleteProperty(value, step);
  else removeAt(Reflect.get(value, step), rest);
}

function valueAt(row: Row, field: TransformationField, type: MappedType, specs: Specs): unknown {
  const constant = entryOf(field, 'constant');
  if (constant !== undefined) return constant.properties.value;
  const fallback = entryOf(field, 'defaultValue')?.properties.value ?? null;
  const several = entryOf(field, 'join') ?? entryOf(field, 'first');
  const found = pathsOf(field).flatMap((path) => {
    const root = rootOf(path, specs);
    return root === undefined ? [] : [{ raw: pick(row, path), spec: root[1] === '' ? specs[root[0]] : undefined }];
  });
  // The default stands for nothing, not for what cannot be converted.
  if (found.every(({ raw }) => isMissing(raw))) return fallback;
  const values = found.map(({ raw, spec }) => {
    const convert = (value: unknown) => (isMissing(value) ? null : convertOne(value, field, type, spec));
    const isList = Array.isArray(raw) && field.path.includes('[*]');
    return isList ? raw.map((item) => (isMissing(item) ? fallback : convert(item))) : convert(raw);
  });
  if (several?.type !== 'join') return values.find((value) => !isMissing(value)) ?? null;
  const texts = values.filter((value) => !isMissing(value) && value !== '').map(String);
  return texts.length === 0 ? fallback : texts.join(several.properties.separator ?? ' ');
}

function isMissing(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/** Reads the value at a path of the provider. */
function pick(row: unknown, path: string): unknown {
  if (path.endsWith('.size()')) {
    const list = pick(row, path.replace(/(?:\[\*\])?\.size\(\)$/, ''));
    return Array.isArray(list) ? list.length : undefined;
  }
  let values: readonly unknown[] = [row];
  let isMany = false;
  for (const step of stepsOf(path)) {
    if (step === '[*]') {
      if (!Array.isArray(values[0])) return undefined;
      values = values[0];
      isMany = true;
    } else values = values.map((value) => stepInto(value, step));
  }
  return isMany ? values.map((value) => value ?? null) : values[0];
}

function stepInto(value: unknown, step: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!step.startsWith('[')) {
    return Array.isArray(value) || !Object.hasOwn(value, step) ? undefined : Reflect.get(value, step);
  }
  if (!Array.isArray(value)) return undefined;
  const inside = step.slice(1, -1);
  if (/^\d+$/.test(inside)) return value[Number(inside)];
  const [, member = '', wanted = ''] = /^(?:\?\(@\.)?([^=]+?)\s*==?\s*(.*?)\)?$/.exec(inside) ?? [];
  return value.find((item) => !isMissing(pick(item, member)) && String(pick(item, member)) === wanted);
}

/** Converts a value by its types and the configuration of the field. Without `spec`, it lies inside of a field of the provider. */
function convertOne(
  value: unknown,
  field: TransformationField,
  type: MappedType,
  spec: FieldSpec | undefined,
): unknown {
  const map = entryOf(field, 'valueMap');
  if (map !== undefined) return mapValue(value, map.properties, type, spec);
  const factor = entryOf(field, 'number');
  if (factor !== undefined) return product(value, String(factor.properties.multiply));
  const pattern = entryOf(field, 'transformDate')?.properties.pattern;
  if (type === 'date' && pattern !== undefined && (spec === undefined || spec.type === 'string')) {
    return dateIn(value, pattern);
  }
  if (spec !== undefined && SAME[type].includes(spec.type)) return value;
  return toType(value, type, spec);
}

const SAME: Readonly<Record<MappedType, readonly string[]>> = {
  string: ['string'],
  number: ['number', 'integer'],
  boolean: ['boolean'],
  date: ['date', 'datetime'],
  array: ['array'],
  object: ['object'],
};

function toType(value: unknown, type: MappedType, spec: FieldSpec | undefined): unknown {
  const text = textOf(value);
  switch (type) {
    case 'string':
      if (spec?.type === 'boolean' && /^(?:true|false)$/i.test(text ?? '')) return text?.toLowerCase();
      return (spec?.type === 'number' || spec?.type === 'integer' ? decimalOf(text ?? '') : undefined) ?? text ?? null;
    case 'number':
      if (typeof value === 'boolean') return null;
      return text === undefined || decimalOf(text) === undefined ? null : new ExactNumber(decimalOf(text) ?? '');
    case 'boolean':
      if (typeof value === 'boolean') return value;
      return typeof value === 'string' && /^(?:true|false)$/i.test(value) ? /^true$/i.test(value) : null;
    case 'date':
      return typeof value === 'string' && isIsoDate(value) ? value : null;
    case 'array':
      return Array.isArray(value) ? value : null;
    case 'object':
      return typeof value === 'object' && !Array.isArray(value) && !(value instanceof ExactNumber) ? value : null;
  }
}

/** The text of a single value. Numbers are written without an exponent. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'number' && !(value instanceof ExactNumber)) return undefined;
  return decimalOf(String(value)) ?? String(value);
}

function isIsoDate(text: string): boolean {
  const [, day, rest = ''] = /^(\d{4}-\d\d-\d\d)([T ].*)?$/s.exec(text) ?? [];
  if (day === undefined) return false;
  const date = new Date(`${day}T00:00:00Z`);
  const isDay = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
  return (
    isDay &&
    (rest === '' || /^[T ]([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?\s*(?:Z|[+-]\d\d(?::?\d\d)?)?$/i.test(rest))
  );
}

function mapValue(
  value: unknown,
  { values, otherwise }: Extract<FieldEntry, { type: 'valueMap' }>['properties'],
  type: MappedType,
  spec: FieldSpec | undefined,
): unknown {
  const text = textOf(value);
  if (text === undefined) return null;
  const spell = (key: string) => spelling(key, spec);
  const spelled = spell(text);
  const found = Object.entries(values).find(([key]) => spelled !== undefined && spell(key) === spelled);
  if (found !== undefined) return found[1];
  return otherwise === 'keep' ? toType(value, type, spec) : (otherwise ?? null);
}

/** One spelling for all texts that are the same value of the field. Undefined for a text that is none. */
function spelling(text: string, spec: FieldSpec | undefined): string | undefined {
  switch (spec?.type) {
    case 'number':
      return decimalOf(text);
    case 'integer':
      return decimalOf(text)?.includes('.') === false ? decimalOf(text) : undefined;
    case 'boolean':
      return /^(?:true|false)$/i.test(text) ? text.toLowerCase() : undefined;
    case 'date':
      return isIsoDate(text) ? text.slice(0, 10) : undefined;
    case 'datetime':
      return isIsoDate(text) ? instantOf(text) : undefined;
    case 'string':
      return spec.collation === 'ci' ? Array.from(text, foldCharacter).join('') : text;
    default:
      return text;
  }
}

/** Milliseconds and what is finer. */
function instantOf(text: string): string {
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? '';
  const whole = text.replace(/\.\d+/, '').replace(' ', 'T');
  const withZone = whole.length === 10 ? whole : /(?:Z|[+-]\d\d:?\d\d)$/i.test(whole) ? whole : `${whole}Z`;
  return `${Date.parse(withZone)} ${fraction.replace(/0+$/, '')}`;
}

function foldCharacter(character: string): string {
  if (character === 'ı' || character === 'İ') return character;
  const single = (changed: string, otherwise: string) => ([...changed].length === 1 ? changed : otherwise);
  return single(single(character.toUpperCase(), character).toLowerCase(), character);
}

/** Exact product of two decimals. */
function product(value: unknown, factor: string): unknown {
  const [one, other] = [typeof value === 'boolean' ? undefined : parts(textOf(value) ?? ''), parts(factor)];
  if (one === undefined || other === undefined) return null;
  return new ExactNumber(write(one.digits * other.digits, one.scale + other.scale));
}

/** Returns a decimal without exponent and superfluous zeros. Undefined for a text that is none. */
export function decimalOf(text: string): string | undefined {
  const found = parts(text);
  return found && write(found.digits, found.scale);
}

function parts(text: string): { readonly digits: bigint; readonly scale: number } | undefined {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(text.trim());
  if (match === null || `${match[2]}${match[3] ?? ''}` === '') return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const digits = BigInt(`${whole}${fraction}`);
  return { digits: sign === '-' ? -digits : digits, scale: fraction.length - Number(exponent) };
}

function write(digits: bigint, scale: number): string {
  if (scale <= 0) return String(digits * 10n ** BigInt(-scale));
  const magnitude = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0');
  const text = `${magnitude.slice(0, -scale)}.${magnitude.slice(-scale)}`.replace(/\.?0+$/, '');
  return digits < 0n ? `-${text}` : text;
}

const PARTS: Readonly<Record<string, string>> = {
  yyyy: '(?<y>\\d{4})',
  MM: '(?<M>\\d\\d)',
  dd: '(?<d>\\d\\d)',
  HH: '(?<H>\\d\\d)',
  mm: '(?<m>\\d\\d)',
  ss: '(?<s>\\d\\d)',
  SSS: '(?<S>\\d{3})',
};

/** Reads a date in a pattern of two- and four-digit numbers, quoted text and literal characters, in UTC. */
function dateIn(value: unknown, pattern: string): unknown {
  if (typeof value !== 'string') return null;
  const source = pattern.replace(
    /yyyy|MM|dd|HH|mm|ss|SSS|'[^']*'|[^A-Za-z']/g,
    (part) => PARTS[part] ?? part.replaceAll("'", '').replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'),
  );
  const found = new RegExp(`^${source}$`).exec(value)?.groups;
  if (found === undefined) return null;
  const { y = '', M = '01', d = '01', H, m = '00', s = '00', S = '000' } = found;
  const day = `${y}-${M}-${d}`;
  const text = H === undefined ? day : `${day}T${H}:${m}:${s}.${S}Z`;
  return isIsoDate(text) ? text : null;
}

/** Sets a value in a record. Behind `[*]`, each item of the value goes to an item of the list. */
function place(record: Record<string, unknown>, path: string, value: unknown): void {
  placeAt(record, stepsOf(path), value);
}

function placeAt(holder: Record<string, unknown>, [name = '', next, ...rest]: readonly string[], value: unknown): void {
  if (next === undefined) {
    holder[name] = value;
  } else if (next === '[*]') {
    const before = holder[name];
    if (!Array.isArray(value)) holder[name] = Array.isArray(before) ? before : null;
    else if (rest.length === 0) holder[name] = value;
    else {
      holder[name] = value.map((each, index) => {
        const item = { ...Object(Array.isArray(before) ? before[index] : undefined) };
        placeAt(item, rest, each);
        return item;
      });
    }
  } else if (/^\[\d+\]$/.test(next)) {
    const index = Number(next.slice(1, -1));
    const items = Array.isArray(holder[name]) ? [...holder[name]] : [];
    while (items.length < index) items.push(null);
    if (rest.length === 0) items[index] = value;
    else {
      const item = { ...Object(items[index]) };
      placeAt(item, rest, value);
      items[index] = item;
    }
    holder[name] = items;
  } else {
    const inner = { ...Object(holder[name]) };
    placeAt(inner, [next, ...rest], value);
    holder[name] = inner;
  }
}

/** Returns a text that is the same for equal values: members in the order of their names, numbers without an exponent. */
export function show(value: unknown): string {
  if (typeof value === 'number' || value instanceof ExactNumber) return decimalOf(String(value)) ?? String(value);
  if (Array.isArray(value)) return `[${value.map(show).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${show(member)}`).join()}}`;
}
