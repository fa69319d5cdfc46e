import type { FieldSpec } from '#connector';
import type { MappingInForce } from '../../src/mappings/model.ts';
import { isMappedObject, type MappedObject } from '../../src/resources/mapped.ts';
import type { Row } from '../../src/where/index.ts';
import { readField } from '../../suite/reference.ts';
import { spread } from '../../suite/soundness.ts';
import { show } from './reference.ts';
import type { Simulated } from './simulated.ts';

/** What is written through a mapping is what is read through it. The values are those of other records. */

/** What round trips did. */
export interface RoundTripTally {
  created: number;
  /** Number of values that came back as they were sent, on creation and in an update. */
  values: number;
  updates: number;
}

/** The odd ways of a provider. */
export interface Oddities {
  /** Values of a new record in place of those of other records, for example where they must be unique, and values for its update. */
  readonly values?: Row;
  readonly changed?: Row;
  /** Why values of these fields are not written in an update. */
  readonly fixed?: Readonly<Record<string, string>>;
}

const MOST_MODELS = 40;

/**
 * Creates a record with all fields that can be created, reads it, changes each field that can be changed, and reads it again.
 * @returns the faults
 */
export async function roundTrip(
  simulated: Simulated,
  mapping: MappingInForce,
  { values: own = {}, changed = {}, fixed = {} }: Oddities,
  tally: RoundTripTally,
): Promise<readonly string[]> {
  simulated.map([mapping]);
  const records = simulated.records(mapping.objectName);
  const object = await records.object();
  if (!isMappedObject(object)) throw new Error(`'${mapping.objectName}' is not mapped.`);
  // The records of an object that needs a filter are no models.
  if ((object.vendor.requiredFilters ?? []).length > 0) return [];
  if (object.create === undefined || object.get === undefined) return [];
  const models = await readModels(simulated, mapping, object);
  const writable = (access: 'createable' | 'updateable') =>
    Object.entries(object.body.fields).filter(([, spec]) => spec[access] === true);
  const isChanged = ([name]: readonly [string, FieldSpec]) =>
    Object.hasOwn(object.fields, name) && !Object.hasOwn(fixed, name);

  const values = new Map<string, unknown>(
    writable('createable').flatMap(([name]) => {
      const value = Object.hasOwn(own, name) ? own[name] : valueOtherThan(null, models, name);
      return value === null || value === undefined ? [] : [[name, value] as const];
    }),
  );
  const fault = (what: string) => `${simulated.connector.key} ${mapping.objectName}: ${what}`;
  const created = await tryTo(() => records.create(nest(values)));
  if (created instanceof Error) return [fault(`create ${show(nest(values))} failed: ${reasonOf(created)}`)];
  tally.created++;
  const id = String(readField(created, object.idField ?? 'id'));
  const faults: string[] = [];
  const compare = async (what: string, meant: ReadonlyMap<string, unknown>) => {
    const record = await records.get(id);
    for (const [name, value] of meant) {
      if (!Object.hasOwn(object.fields, name)) continue;
      if (show(readField(record, name)) === show(value)) tally.values++;
      else faults.push(fault(`${what}: ${name} is ${show(readField(record, name))} instead of ${show(value)}`));
    }
  };
  await compare('created', values);
  if (object.update === undefined) return faults;
  for (const [name] of writable('updateable').filter(isChanged)) {
    const before = values.get(name);
    const other: unknown = changed[name] ?? valueOtherThan(before, models, name);
    if (other === undefined) continue;
    const body = nest(new Map([[name, other]]));
    const updated = await tryTo(() => records.update(id, body));
    if (updated instanceof Error) {
      faults.push(fault(`update ${name} to ${show(other)} failed: ${reasonOf(updated)}`));
      continue;
    }
    tally.updates++;
    await compare(`updated ${name}`, new Map([[name, other]]));
    values.set(name, other);
  }
  await compare('in the end', values);
  return faults;
}

/** Reads whole records whose values are used again. */
async function readModels(
  simulated: Simulated,
  mapping: MappingInForce,
  object: MappedObject,
): Promise<readonly Row[]> {
  const records = simulated.records(mapping.objectName);
  const rows = await records.list();
  const ids = rows.map((row) => String(readField(row, object.idField ?? 'id')));
  return Promise.all(spread(ids, MOST_MODELS).map((id) => records.get(id)));
}

/** Texts that no provider refuses. */
const TAME = /^[\p{L}\d][\p{L}\d ,.:@+/-]*$/u;

/** Returns a value that another record has, a tame one if there is any. */
function valueOtherThan(before: unknown, models: readonly Row[], name: string): unknown {
  const values = models
    .map((row) => readField(row, name) ?? null)
    .filter((value) => value !== null && show(value) !== '[]' && show(value) !== show(before));
  return values.find((value) => typeof value !== 'string' || TAME.test(value)) ?? values[0];
}

/** Returns a body, which is nested where names have dots. */
function nest(values: ReadonlyMap<string, unknown>): Row {
  const body: Record<string, unknown> = {};
  for (const [name, value] of values) {
    const keys = name.split('.');
    let holder = body;
    for (const key of keys.slice(0, -1)) {
      const inner: Record<string, unknown> = { ...Object(holder[key]) };
      holder[key] = inner;
      holder = inner;
    }
    holder[keys.at(-1) ?? ''] = value;
  }
  return body;
}

async function tryTo(call: () => Promise<Row>): Promise<Row | Error> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
}

function reasonOf(error: Error): string {
  const details = 'details' in error ? ` ${JSON.stringify(error.details)}` : '';
  const message = 'providerMessage' in error ? ` ${String(error.providerMessage)}` : '';
  return `${error.message}${details}${message}`;
}
