import {
  type DiscoveryContext,
  defineObject,
  type FieldSpec,
  type ObjectSpec,
  type Objects,
  unusable,
} from '#connector';
import { CAPS, excess } from './caps.ts';
import { comparesEnumsHere, filtersHere, setting } from './config.ts';
import { type FieldOptions, fieldsOf } from './fields.ts';
import { type ListSource, listOperation } from './list.ts';
import { type Collection, createShared, type EntitySet, openService, type Service } from './metadata.ts';
import type { Model, SetSummary } from './model.ts';
import { objectNames } from './model.ts';
import { recordOperations } from './records.ts';
import { idFieldOf } from './types.ts';
import { translator } from './where.ts';

/**
 * Limits of filters. By default IIS accepts queries of 2,048 characters, and ASP.NET filters of 100 nodes, which is about four per
 * comparison. Other servers accept more, but do not document how much.
 */
const LIMITS = { maxTerms: 25, maxLength: 1500 };

/** Returns every entity set of the service as an outline. Its fields and children are read when it is used. */
export async function discoverObjects({ config, send, offload }: DiscoveryContext): Promise<Objects> {
  const response = await send({ path: '/$metadata', headers: { accept: 'application/xml' } });
  if (typeof response.body !== 'string') throw new Error('The response to $metadata is not XML.');
  const fault = excess('bytes', Buffer.byteLength(response.body), CAPS.bytes);
  if (fault !== undefined) throw unusable(`The $metadata of the service ${fault}.`);
  const reading = await offload<typeof import('./model.ts')>(new URL('./model.ts', import.meta.url), response.body);
  if ('fault' in reading) throw unusable(reading.fault);
  return outlineObjects(reading.model, {
    textIsBinary: setting(config, 'text.binary'),
    filtersHere: filtersHere(config),
    comparesEnumsHere: comparesEnumsHere(config),
  });
}

function outlineObjects(model: Model, options: FieldOptions): Objects {
  const service = openService(model);
  const context: Context = { service, fieldsOf: createFieldTables(options) };
  const summaries = new Map(model.sets.map((summary) => [summary.name, summary]));
  const outlines = [...objectNames([...summaries.keys()])].flatMap(([objectName, name]) => {
    const summary = summaries.get(name);
    return summary === undefined ? [] : [[objectName, outlineOf(context, summary)] as const];
  });
  return Object.fromEntries(outlines);
}

function outlineOf(context: Context, { name, label, idField, operations, collections }: SetSummary): ObjectSpec {
  const labelled = label === undefined ? {} : { label };
  return {
    ...labelled,
    ...(idField !== undefined && { idField }),
    native: name,
    fields: {},
    outline: { operations, children: collections },
    describe: async () => ({ ...labelled, ...entitySetObject(context, name) }),
  };
}

interface Context {
  readonly service: Service;
  readonly fieldsOf: (set: EntitySet) => ObjectSpec['fields'];
}

/** Returns a function that shares fields between sets and children with the same type and capabilities. */
function createFieldTables(options: FieldOptions): Context['fieldsOf'] {
  const share = createShared<ObjectSpec['fields']>();
  return (set) => share(set.likeness, () => ({ ...fieldsOf(set, options), ...compositeIdField(set) }));
}

/** Returns the complete object of an entity set. Its children are outlines: there can be thousands, and few of them are used. */
function entitySetObject(context: Context, setName: string): ObjectSpec {
  const set = context.service.set(setName);
  const collections = set.type.key.length === 0 ? [] : context.service.collections(setName);
  const byName = new Map(collections.map((collection) => [collection.name, collection]));
  const children = [...objectNames([...byName.keys()])].flatMap(([name, native]) => {
    const collection = byName.get(native);
    return collection === undefined ? [] : [[name, childOutline(context, collection, set)] as const];
  });
  return defineObject({
    ...listing(context, set, { name: setName }),
    ...recordOperations(set),
    children: Object.fromEntries(children),
  });
}

function childOutline(context: Context, { name, target }: Collection, parent: EntitySet): ObjectSpec {
  return { native: name, fields: {}, describe: async () => defineObject(listing(context, target(), { name, parent })) };
}

function listing({ fieldsOf }: Context, set: EntitySet, source: ListSource): ObjectSpec<string> {
  const idField = idFieldOf(set.type);
  const { capabilities } = set;
  const fields = fieldsOf(set);
  return {
    native: source.name,
    fields,
    ...(idField !== undefined && { idField }),
    shape: { kind: 'any' },
    limits: LIMITS,
    requiredFilters: capabilities.requiredFilters
      .map((property) => property.replaceAll('/', '.'))
      .filter((name) => Object.hasOwn(fields, name)),
    translator,
    ...(capabilities.readable && { list: listOperation(set, source) }),
  };
}

/**
 * Returns the field with the composite id, such as `orderNumber='A-1',line=2`. The connector creates it. The service has no such property,
 * so it can be neither filtered nor sorted.
 */
function compositeIdField(set: EntitySet): Record<string, FieldSpec> {
  const name = idFieldOf(set.type);
  if (set.type.key.length < 2 || name === undefined) return {};
  return { [name]: { type: 'string', nullable: false, label: 'Key' } };
}
