import type { FieldSpec } from '#connector';
import { HOSTILE_TEXTS } from './literals.ts';
import { readField } from './reference.ts';
import { spread } from './soundness.ts';
import { getOk, type Row, type Target } from './target.ts';

/** Sample data for records of an object. */
export interface WriteSample {
  /**
   * Returns a valid body, a different one for each number. For an object with files, it returns the metadata of an upload, without the
   * values that the name of the file provides.
   */
  readonly create: (number: number) => Row;
  /** Text fields that accept any text. Default: every text that can be set and has no list of values and no format. */
  readonly freeTexts?: readonly string[];
  /** Texts that the provider is known to store as something else. */
  readonly alteredTexts?: readonly string[];
  /** Fields that control a creation, such as a callback address, and that no record shows. */
  readonly neverShown?: readonly string[];
}

const LONGEST_TEXT = 60;
/** Hostile texts that are short enough for any column. */
const TEXTS = HOSTILE_TEXTS.filter(({ length }) => length <= LONGEST_TEXT);

interface Written {
  readonly name: string;
  readonly sample: WriteSample;
  /** Maximum number of hostile texts that are written. */
  readonly mostTexts: number;
}

/**
 * Creates, reads, changes, replaces and deletes a record, with every hostile text in every free field.
 * @returns the faults
 */
export async function writeRecords(target: Target, { name, sample, mostTexts }: Written): Promise<readonly string[]> {
  const object = target.objects[name];
  if (object === undefined) throw new Error(`There is no object '${name}'.`);
  if (object.create === undefined) return [];
  const body = sample.create(1);
  const created = await getOk(target, `/${name}`, { method: 'POST', body });
  const path = `/${name}/${encodeURIComponent(String(created.body[object.idField ?? 'id']))}`;
  const shown = Object.fromEntries(Object.entries(body).filter(([field]) => !sample.neverShown?.includes(field)));
  const faults = compareValues('created', shown, created.body);
  if (object.get !== undefined) faults.push(...compareValues('got', shown, (await getOk(target, path)).body));
  if (object.update !== undefined) {
    const fields = sample.freeTexts ?? freeTexts(object.fields, 'updateable');
    const texts = spread(TEXTS, mostTexts).filter((text) => !sample.alteredTexts?.includes(text));
    faults.push(...(await updateTexts(target, path, { fields, texts })));
    faults.push(...(await failToUpdate(target, path, { fields: object.fields, body })));
  }
  if (object.replace !== undefined) faults.push(...(await replace(target, path, object.fields, sample.create(2))));
  if (object.remove !== undefined) faults.push(...(await remove(target, path)));
  faults.push(...(await failToCreate(target, name, sample.create(3))));
  return faults.map((fault) => `${path}: ${fault}`);
}

function freeTexts(
  fields: Readonly<Record<string, FieldSpec>>,
  access: 'createable' | 'updateable',
): readonly string[] {
  return Object.entries(fields)
    .filter(([name, spec]) => spec.type === 'string' && spec[access] === true && !name.includes('.'))
    .filter(([, spec]) => spec.values === undefined && spec.format === undefined)
    .map(([name]) => name);
}

/** Returns the fields whose values differ from the expected ones. */
export function compareValues(what: string, expected: Row, found: Row): string[] {
  return Object.entries(expected)
    .filter(([name, value]) => JSON.stringify(readField(found, name)) !== JSON.stringify(value))
    .map(
      ([name, value]) => `${what} ${name} is ${JSON.stringify(readField(found, name))}, not ${JSON.stringify(value)}`,
    );
}

interface TextUpdate {
  readonly fields: readonly string[];
  readonly texts: readonly string[];
}

async function updateTexts(target: Target, path: string, { fields, texts }: TextUpdate): Promise<readonly string[]> {
  if (fields.length === 0) return [];
  const faults: string[] = [];
  for (const text of texts) {
    const body = Object.fromEntries(fields.map((field) => [field, text]));
    const response = await target.call(path, { method: 'PATCH', body });
    if (response.status !== 200) {
      faults.push(`PATCH ${JSON.stringify(body)} returned ${response.status} ${JSON.stringify(response.body)}`);
      continue;
    }
    faults.push(...compareValues('updated', body, response.body));
    faults.push(...compareValues('got after update', body, (await getOk(target, path)).body));
  }
  return faults;
}

interface Failing {
  readonly fields: Readonly<Record<string, FieldSpec>>;
  /** A body with valid values. */
  readonly body: Row;
}

/** Sends updates with unknown fields, fields that cannot be set, and values of another type. Each must be named, and nothing may change. */
async function failToUpdate(target: Target, path: string, { fields, body }: Failing): Promise<readonly string[]> {
  const before = (await getOk(target, path)).body;
  const readOnly = Object.keys(fields).find((name) => fields[name]?.updateable !== true && /^\w+$/.test(name));
  const settable = Object.keys(fields).find(
    (name) => fields[name]?.updateable === true && fields[name]?.type === 'string',
  );
  const change = settable === undefined ? {} : { [settable]: `changed ${body[settable]}` };
  const mistakes = { ...change, nosuchfield: 1, ...(readOnly !== undefined && { [readOnly]: before[readOnly] ?? 1 }) };
  const paths = ['nosuchfield', ...(readOnly === undefined ? [] : [readOnly])];
  const faults = await expectRefusal(target, { path, method: 'PATCH', body: mistakes, paths });
  if (settable !== undefined) {
    const wrongType = { [settable]: { not: 'text' } };
    faults.push(...(await expectRefusal(target, { path, method: 'PATCH', body: wrongType, paths: [settable] })));
  }
  faults.push(...compareValues('after a failed update', before, (await getOk(target, path)).body));
  return faults;
}

async function failToCreate(target: Target, name: string, body: Row): Promise<readonly string[]> {
  const object = target.objects[name];
  const required = Object.keys(object?.fields ?? {}).filter((field) => object?.fields[field]?.required === true);
  const count = async () => (await getOk(target, `/${name}`, { query: { pageSize: 5000 } })).body.length;
  const isListed = object?.list !== undefined && (object.requiredFilters ?? []).length === 0;
  const before = isListed ? await count() : 0;
  const faults = await expectRefusal(target, {
    path: `/${name}`,
    method: 'POST',
    body: { ...body, nosuchfield: 1 },
    paths: ['nosuchfield'],
  });
  if (required.length > 0) {
    const without = Object.fromEntries(Object.entries(body).filter(([field]) => !required.includes(field)));
    faults.push(...(await expectRefusal(target, { path: `/${name}`, method: 'POST', body: without, paths: required })));
  }
  if (isListed && (await count()) !== before) faults.push('a rejected creation left a record');
  return faults;
}

interface Refused {
  readonly path: string;
  readonly method: 'POST' | 'PATCH';
  readonly body: Row;
  /** The fields that the rejection must name, with one detail for each. */
  readonly paths: readonly string[];
}

async function expectRefusal(target: Target, { path, method, body, paths }: Refused): Promise<string[]> {
  const response = await target.call(path, { method, body });
  const named = (response.body.details ?? []).map(({ path }: { readonly path?: string }) =>
    path?.replace('/body/', ''),
  );
  if (
    response.status === 400 &&
    response.body.code === 'REQUEST_INVALID' &&
    [...named].sort().join() === [...paths].sort().join()
  )
    return [];
  return [`${method} ${JSON.stringify(body)} returned ${response.status} ${JSON.stringify(response.body)}`];
}

/** Checks a replacement: the fields that it leaves out must become empty. */
async function replace(target: Target, path: string, fields: Readonly<Record<string, FieldSpec>>, body: Row) {
  const settable = Object.fromEntries(Object.entries(body).filter(([name]) => fields[name]?.updateable === true));
  const replaced = await getOk(target, path, { method: 'PUT', body: settable });
  const faults = compareValues('replaced', settable, replaced.body);
  const emptied = freeTexts(fields, 'updateable').filter(
    (name) => !Object.hasOwn(settable, name) && fields[name]?.nullable !== false,
  );
  const empty = Object.fromEntries(emptied.map((name) => [name, null]));
  faults.push(...compareValues('got after replace', { ...settable, ...empty }, (await getOk(target, path)).body));
  return faults;
}

async function remove(target: Target, path: string): Promise<readonly string[]> {
  await getOk(target, path, { method: 'DELETE' });
  const statuses = [await target.call(path), await target.call(path, { method: 'DELETE' })].map(({ status }) => status);
  return statuses.every((status) => status === 404)
    ? []
    : [`after delete, GET and DELETE returned ${statuses.join(' and ')}`];
}

/**
 * Creates records with hostile ids, reads them by their id, and deletes them.
 * @returns the faults
 */
export async function writeHostileIds(
  target: Target,
  { name, sample, mostTexts }: Written,
): Promise<readonly string[]> {
  const object = target.objects[name];
  const idField = object?.idField ?? 'id';
  const field = object?.fields[idField];
  if (
    object?.create === undefined ||
    object.get === undefined ||
    field?.type !== 'string' ||
    field.createable !== true ||
    field.format !== undefined
  )
    return [];
  const faults: string[] = [];
  for (const text of spread(TEXTS, mostTexts).filter((id) => id !== '' && !sample.alteredTexts?.includes(id))) {
    const path = `/${name}/${encodeURIComponent(text)}`;
    const isTaken = (await target.call(path)).status === 200;
    if (isTaken) continue;
    const created = await target.call(`/${name}`, { method: 'POST', body: { ...sample.create(4), [idField]: text } });
    const got = await target.call(path);
    const removed = object.remove === undefined ? got : await target.call(path, { method: 'DELETE' });
    const statuses = [created, got, removed].map(({ status }) => status);
    if (statuses.join() !== '200,200,200' || created.body[idField] !== text || got.body[idField] !== text) {
      faults.push(`${path} (${JSON.stringify(text)}): create, get and delete returned ${statuses.join(', ')}`);
    }
  }
  return faults;
}
