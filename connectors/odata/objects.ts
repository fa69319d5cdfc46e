import { type ConnectorContext, defineObject, type FieldSpec, type ObjectSpec, type Objects } from '#connector';
import { type FieldOptions, fieldsOf } from './fields.ts';
import { listOperation, type Place } from './list.ts';
import { type EntitySet, readMetadata } from './metadata.ts';
import { idFieldOf, recordOperations } from './records.ts';
import { translator } from './where.ts';

/**
 * IIS takes 2,048 characters of query by default and ASP.NET 100 nodes of a filter, about four for each comparison; others
 * take more but do not say how much.
 */
const LIMITS = { maxTerms: 25, maxLength: 1500 };

/** Every entity set of the service, and what lies below its records. */
export async function discoverObjects({ config, send }: ConnectorContext): Promise<Objects> {
  const response = await send({ path: '/$metadata', headers: { accept: 'application/xml' } });
  if (typeof response.body !== 'string') throw new Error('The service answered $metadata without XML.');
  const options = { textIsBinary: config['text.binary'] === true };
  const sets = readMetadata(response.body);
  return byObjectName(sets.map((set) => [set.name, entitySetObject(set, options)]));
}

/**
 * Under names that fit a path of ours: without the underscores that SAP puts in front of navigation properties. A name that
 * still does not fit, or is taken, has no object.
 */
function byObjectName(objects: readonly (readonly [string, ObjectSpec])[]): Objects {
  const named = objects.map(([native, object]) => [native.replace(/^_+/, ''), object] as const);
  return Object.fromEntries(named.filter(([name]) => /^[A-Za-z0-9]\w*$/.test(name)).reverse());
}

function entitySetObject(set: EntitySet, options: FieldOptions): ObjectSpec {
  const children = set.type.key.length === 0 ? [] : set.type.collections;
  return defineObject({
    ...(set.label !== undefined && { label: set.label }),
    ...listing(set, { name: set.name }, options),
    ...recordOperations(set),
    children: byObjectName(
      children.map(({ name, target }) => [name, defineObject(listing(target, { name, parent: set }, options))]),
    ),
  });
}

function listing(set: EntitySet, place: Place, options: FieldOptions): ObjectSpec<string> {
  const idField = idFieldOf(set);
  const { capabilities } = set;
  const fields = { ...fieldsOf(set, options), ...compositeIdField(set, idField) };
  return {
    native: place.name,
    fields,
    ...(idField !== undefined && { idField }),
    shape: { kind: 'any' },
    limits: LIMITS,
    requiredFilters: capabilities.requiredFilters
      .map((property) => property.replaceAll('/', '.'))
      .filter((name) => Object.hasOwn(fields, name)),
    translator,
    ...(capabilities.readable && { list: listOperation(set, place) }),
  };
}

/** Made by us: `orderNumber='A-1',line=2`. The service has no such property, so it is neither filtered nor sorted. */
function compositeIdField(set: EntitySet, name: string | undefined): Record<string, FieldSpec> {
  if (set.type.key.length < 2 || name === undefined) return {};
  return { [name]: { type: 'string', nullable: false, label: 'Key' } };
}
