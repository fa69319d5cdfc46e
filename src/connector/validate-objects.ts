import type { ObjectSpec, Objects } from './contract.ts';
import { type Form, memberProblems, when } from './problems.ts';
import { canFilter, fieldProblems } from './validate-fields.ts';

/** Returns the problems of a connector's objects, declared or discovered. Each text names object and field. */
export function findObjectProblems(objects: Objects): readonly string[] {
  const aliases = Object.values(objects).flatMap((object) => object.aliases ?? []);
  const doubled = aliases.filter((alias, index) => aliases.indexOf(alias) !== index);
  return [
    ...Object.entries(objects).flatMap(([name, object]) => objectProblems(name, object)),
    ...doubled.map((alias) => `two objects have the alias '${alias}'`),
  ];
}

/** One word, or two words with a slash between them. */
const NAME = /^\w[\w.-]*(?:\/\w[\w.-]*)?$/;

const OBJECT_MEMBERS = { fields: ['object'] } satisfies Readonly<Record<string, readonly Form[]>>;

function objectProblems(name: string, object: ObjectSpec): readonly string[] {
  const missing = memberProblems(object, OBJECT_MEMBERS);
  if (missing.length > 0) return missing.map((problem) => `${name}: ${problem}`);
  const idField = object.idField ?? 'id';
  const byId = object.get ?? object.update ?? object.replace ?? object.remove ?? object.upload;
  const isField = (field: string) => Object.hasOwn(object.fields, field);
  const isOutline = object.describe !== undefined;
  const parameters = Object.keys(object.parameters ?? {});
  const required = (object.requiredFilters ?? []).filter((filter) => !isField(filter) && !parameters.includes(filter));
  const problems = [
    ...when(!NAME.test(name), 'the name does not fit a path'),
    ...(object.aliases ?? [])
      .filter((alias) => !NAME.test(alias))
      .map((alias) => `the alias '${alias}' does not fit a path`),
    ...when(
      byId !== undefined && !isField(idField) && !isOutline,
      `there is no field '${idField}' to identify a record`,
    ),
    ...when((object.list?.maxPageSize ?? 1) < 1, 'maxPageSize is below 1'),
    ...when((object.list?.pagesAtOnce ?? 1) < 1, 'pagesAtOnce is below 1'),
    ...when((object.limits?.resultWindow ?? 1) < 1, 'resultWindow is below 1'),
    ...required.map((filter) => `the required filter '${filter}' is neither a field nor a parameter`),
    ...parameters.filter(isField).map((parameter) => `the parameter '${parameter}' has the name of a field`),
    ...fieldAliasProblems(object),
    ...shapeProblems(object),
    ...mediaProblems(object),
    ...uploadProblems(object),
    ...changesProblems(object),
    ...nativeBulkProblems(object),
    ...Object.entries(object.fields).flatMap(([field, spec]) =>
      fieldProblems(spec, object.translator).map((problem) => `${field}: ${problem}`),
    ),
  ];
  const children = Object.entries(object.children ?? {}).flatMap(([child, spec]) => objectProblems(child, spec));
  return [...problems, ...children].map((problem) => `${name}: ${problem}`);
}

/** Rejects an ambiguous name, because a query would use the meaning that its author did not intend. */
function fieldAliasProblems({ fields, parameters = {} }: ObjectSpec): readonly string[] {
  const aliases = Object.entries(fields).flatMap(([field, spec]) =>
    Object.entries(spec.aliases ?? {}).map(([alias, equals]) => ({ field, alias, equals, type: spec.type })),
  );
  return aliases.flatMap(({ field, alias, equals, type }, index) => [
    ...when(!ALIAS.test(alias), `${field}: the alias '${alias}' is not a name that a filter can have`),
    ...when(Object.hasOwn(fields, alias), `${field}: the alias '${alias}' is the name of a field`),
    ...when(Object.hasOwn(parameters, alias), `${field}: the alias '${alias}' is the name of a parameter`),
    ...when(
      aliases.slice(0, index).some((other) => other.alias === alias),
      `${field}: another field has the alias '${alias}', too`,
    ),
    ...when(!canFilter(type, equals), `${field}: '=' of the alias '${alias}' means ${equals}, which no ${type} has`),
  ]);
}

/** A name as the language spells a field. */
const ALIAS = /^[A-Za-z_][\w.]*$/;

function shapeProblems({ shape, translator }: ObjectSpec): readonly string[] {
  if (translator === undefined || shape?.kind === 'none') return [];
  const joins = shape === undefined || shape.kind === 'and' ? (['and'] as const) : (['and', 'or'] as const);
  return joins.flatMap((join) => when(translator[join] === undefined, `its shape needs '${join}' in the translator`));
}

function mediaProblems({ media }: ObjectSpec): readonly string[] {
  if (media === undefined) return [];
  const bad = media.types.filter((type) => type !== '*' && !/^[a-z]+\/[a-z0-9.+-]+$/.test(type));
  const json = media.types.filter((type) => type.includes('json'));
  return [
    ...when(media.types.length === 0, 'its media has no type'),
    ...bad.map((type) => `'${type}' is not a media type in lower case without parameters`),
    ...json.map((type) => `the media type '${type}' is JSON, which is the type of records`),
  ];
}

function uploadProblems({ upload, get }: ObjectSpec): readonly string[] {
  if (upload === undefined) return [];
  return [
    ...when(upload.create === undefined && upload.replace === undefined, 'its upload neither creates nor replaces'),
    ...when(get === undefined, 'its upload needs a get'),
  ];
}

function changesProblems({ changes, fields, list, describe }: ObjectSpec): readonly string[] {
  if (changes === undefined) return [];
  if (describe !== undefined)
    return when(
      Object.keys(changes).some((name) => name !== 'reports'),
      'its outline has more members of changes than reports',
    );
  const { updated, created, overlapSeconds = 0, feed, reports } = changes;
  const missing = [updated, created].filter((name) => name !== undefined && !Object.hasOwn(fields, name));
  const isAsked = updated !== undefined && !missing.includes(updated);
  return [
    ...missing.map((name) => `its changes name '${name}', which is not a field`),
    ...when(isAsked && fields[updated]?.filter?.['>='] === undefined, `its changes need '>=' on '${updated}'`),
    ...when(reports?.length === 0, 'its changes have an empty list reports'),
    ...when(updated !== undefined && list === undefined, 'its changes need a list'),
    ...when(updated === undefined && feed === undefined, 'its changes name neither a field nor a feed'),
    ...when(!(overlapSeconds >= 0 && overlapSeconds <= 86_400), 'overlapSeconds is not from 0 to 86,400'),
  ];
}

/** Rows that do not fit a job need pages or single calls, so the object must have these too. */
function nativeBulkProblems({ bulk = {}, list, create, update, remove }: ObjectSpec): readonly string[] {
  const writes = { create: [create], update: [update], upsert: [create, update], delete: [remove] };
  const { query, ingest } = bulk;
  return [
    ...when(query !== undefined && list === undefined, 'bulk.query requires a list'),
    ...Object.entries(writes)
      .filter(([action, calls]) => Object.hasOwn(ingest?.actions ?? {}, action) && calls.includes(undefined))
      .map(([action]) => `bulk.ingest accepts '${action}', but the object has no such operation for single records`),
  ];
}
