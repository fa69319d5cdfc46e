import { hubsOf } from '../connector/define.ts';
import type { ChangeAction, Connector, ObjectSpec, Objects, OperationName } from '../connector/index.ts';
import { defined } from '../connector/kit/kinds.ts';
import { AppError, cutText, suggestName } from '../errors.ts';
import type { MappedFieldView } from '../mappings/mapped-field.ts';
import type { Level, MappingInForce } from '../mappings/model.ts';
import type { FieldSpec, ParameterSpec } from '../where/index.ts';
import type { ConnectedInstance } from './call.ts';
import { isMappedObject } from './mapped.ts';

/** The names of objects by their aliases, for each set of objects. */
const aliasesOf = new WeakMap<Objects, ReadonlyMap<string, string>>();

/** Returns the name of the object with this name or alias. Undefined where there is none. */
export function findName(objects: Objects, name: string): string | undefined {
  return Object.hasOwn(objects, name) ? name : findByAlias(objects, name);
}

/** Returns the name of the object with this alias. Undefined where there is none. */
export function findByAlias(objects: Objects, alias: string): string | undefined {
  let aliases = aliasesOf.get(objects);
  if (aliases === undefined) {
    aliases = new Map(
      Object.entries(objects).flatMap(([own, object]) => shownAliases(objects, object).map((alias) => [alias, own])),
    );
    aliasesOf.set(objects, aliases);
  }
  return aliases.get(alias);
}

/** An alias never hides an object that has the name as its own. */
function shownAliases(objects: Objects, { aliases = [] }: ObjectSpec): readonly string[] {
  return aliases.filter((alias) => !Object.hasOwn(objects, alias));
}

/**
 * Asserts that the instance can be called under a hub.
 * @throws AppError NOT_FOUND unless the instance's element is in the hub
 */
export function assertInHub({ connector }: ConnectedInstance, hub: string): void {
  const hubs = hubsOf(connector);
  if (hubs.includes(hub)) return;
  const hubNames = hubs.length === 1 ? `the hub '${hubs[0]}'` : `the hubs '${hubs.join("' and '")}'`;
  throw new AppError('NOT_FOUND', `The element of this instance is in ${hubNames}, not '${cutText(hub)}'.`);
}

/** An object as `GET /objects` lists it. */
export interface ObjectSummary {
  readonly name: string;
  readonly nativeName: string;
  /** The name of the provider's object in this API. It differs from `name` for a mapped object. */
  readonly vendorName: string;
  /** `vdr` (virtual data resource) for a mapped object. */
  readonly type: 'vendor' | 'vdr';
  /** The level of the transformation of a mapped object. */
  readonly level?: Level;
  readonly label: string;
  readonly aliases: string[];
  readonly operations: ('list' | 'get' | 'create' | 'update' | 'delete' | 'upload')[];
  readonly children?: string[];
  readonly custom: boolean;
  readonly identifier?: string;
  readonly events: ChangeAction[];
}

/**
 * Returns the objects as `GET /objects` lists them: those of the provider, then the mapped ones. A mapped object takes the place of one with
 * the same name.
 */
export function describeObjects(objects: Objects, mapped: MappedObjects = new Map()): ObjectSummary[] {
  const vendors = Object.entries(objects).filter(([name]) => !mapped.has(name));
  return [
    ...vendors.map(([name, object]) => summarize(name, name, object, shownAliases(objects, object))),
    ...[...mapped].map(([name, object]) => {
      const { inForce } = object;
      const summary = summarize(name, findName(objects, inForce.vendorName) ?? inForce.vendorName, object, []);
      return { ...summary, type: 'vdr' as const, level: inForce.level };
    }),
  ];
}

/** Returns the names of the objects in the order of `describeObjects`. */
export function objectNames(objects: Objects, mapped: MappedObjects): readonly string[] {
  return [...Object.keys(objects).filter((name) => !mapped.has(name)), ...mapped.keys()];
}

/** Mapped objects of an instance by name. Those of an outline are outlines. */
export type MappedObjects = ReadonlyMap<string, ObjectSpec & { readonly inForce: MappingInForce }>;

function summarize(name: string, vendorName: string, object: ObjectSpec, aliases: readonly string[]): ObjectSummary {
  return {
    name,
    nativeName: object.native ?? name,
    vendorName,
    type: 'vendor',
    label: object.label ?? name,
    aliases: [...aliases],
    operations: operationsOf(object),
    ...childrenOf(object),
    custom: object.custom ?? false,
    ...identifierOf(object),
    events: eventsOf(object),
  };
}

/** An outline that does not name its children has none that are known before it is completed. */
function childrenOf({ outline, children, describe }: ObjectSpec): Pick<ObjectSummary, 'children'> {
  const names = outline?.children ?? (children === undefined ? undefined : Object.keys(children));
  if (names === undefined) return describe === undefined ? { children: [] } : {};
  return { children: [...names] };
}

const ACTIONS: readonly ChangeAction[] = ['created', 'updated', 'deleted'];

/** Returns the changes that become events, as far as they are declared. A poll may find more by comparing all records. */
export function eventsOf({ changes = {} }: ObjectSpec): ChangeAction[] {
  const { updated, created, feed } = changes;
  const found = [
    ...(updated === undefined ? [] : (['updated'] as const)),
    ...(created === undefined ? [] : (['created'] as const)),
    ...(feed === undefined ? [] : ACTIONS),
  ];
  const reported = changes.reports ?? found;
  return ACTIONS.filter((action) => reported.includes(action));
}

/** Returns the field that identifies a record, where there is one. The fields of an outline are not known. */
function identifierOf({ idField, fields, describe }: ObjectSpec): { readonly identifier?: string } {
  if (describe !== undefined) return idField === undefined ? {} : { identifier: idField };
  const identifier = idField ?? 'id';
  return Object.hasOwn(fields, identifier) ? { identifier } : {};
}

const OPERATIONS = [
  ['list', 'list'],
  ['get', 'get'],
  ['create', 'create'],
  ['update', 'update'],
  ['delete', 'remove'],
  ['upload', 'upload'],
] as const;

function operationsOf(object: ObjectSpec): ObjectSummary['operations'] {
  const { outline } = object;
  const has = (operation: OperationName | 'upload') =>
    outline?.operations.includes(operation) ?? object[operation] !== undefined;
  return OPERATIONS.filter(([, operation]) => has(operation)).map(([name]) => name);
}

const OPERATION_NAMES = ['list', 'get', 'create', 'update', 'replace', 'remove'] as const satisfies OperationName[];

/** Returns the operations that the objects of an element support, all objects together. */
export function operationsOfAll({ objects, operations = [] }: Pick<Connector, 'objects' | 'operations'>) {
  if (typeof objects === 'function') return new Set(operations);
  const all = Object.values(objects);
  return new Set(OPERATION_NAMES.filter((operation) => all.some((object) => object[operation] !== undefined)));
}

const UPLOADS = ['create', 'replace'] as const;

/** Returns the fields and abilities of an object, as its connector declares them or its mapping makes them. */
export function describeObject(name: string, object: ObjectSpec) {
  const { identifier } = identifierOf(object);
  const fields = isMappedObject(object)
    ? object.mapping.views.map(describeMappedField)
    : Object.entries(object.fields).map(([field, spec]) => describeField(field, spec));
  return {
    name,
    ...defined({ description: object.description, identifier }),
    fields: fields.map((field) => ({ ...field, ...(field.name === identifier && { identifier: true }) })),
    children: Object.keys(object.children ?? {}),
    parameters: Object.entries(object.parameters ?? {}).map(([parameter, spec]) => describeParameter(parameter, spec)),
    ...(object.upload !== undefined && { uploads: UPLOADS.filter((name) => object.upload?.[name] !== undefined) }),
    limits: describeLimits(object),
  };
}

function describeMappedField({ name, spec, vendorPath, vendorType, level, isMapped, local }: MappedFieldView) {
  return {
    ...describeField(name, spec),
    ...(vendorPath !== undefined && { nativeName: vendorPath, vendorPath }),
    ...(vendorType !== undefined && { nativeType: vendorType, vendorType }),
    ...defined({ level, mapped: isMapped }),
    ...(local !== undefined && { filterNote: `Conditions on the field are not sent to the provider: ${local}.` }),
  };
}

function describeField(name: string, spec: FieldSpec) {
  const settable = spec.createable === true || spec.updateable === true;
  return {
    name,
    nativeName: spec.native ?? name,
    label: spec.label ?? name,
    type: spec.type,
    ...(spec.aliases !== undefined && {
      aliases: Object.entries(spec.aliases).map(([alias, means]) => ({ name: alias, means })),
    }),
    ...defined({ nativeType: spec.nativeType, format: spec.format }),
    nullable: spec.nullable ?? true,
    required: spec.required ?? false,
    readOnly: !settable,
    createable: spec.createable ?? false,
    updateable: spec.updateable ?? false,
    ...(settable && spec.clearable === false && { clearable: false }),
    sortable: spec.sortable ?? false,
    custom: spec.custom ?? false,
    ...(spec.unlisted === true && { unlisted: true }),
    ...(spec.values !== undefined && { values: [...spec.values] }),
    filter: { ...spec.filter },
    ...(spec.type === 'string' && { collation: spec.collation ?? 'cs' }),
  };
}

function describeParameter(name: string, { type, description }: ParameterSpec) {
  return { name, type, description };
}

function describeLimits({ limits, list, requiredFilters }: ObjectSpec) {
  return {
    ...limits,
    ...(list !== undefined && { maxPageSize: list.maxPageSize }),
    ...(requiredFilters !== undefined && { requiredFilters: [...requiredFilters] }),
  };
}

/** The object that a request is about. */
export interface Addressee {
  readonly instance: ConnectedInstance;
  readonly objectName: string;
}

const METHODS = {
  list: 'GET',
  get: 'GET',
  create: 'POST',
  update: 'PATCH',
  replace: 'PUT',
  remove: 'DELETE',
} as const satisfies Record<OperationName, string>;

/**
 * Rejects a request for an operation that an object does not have.
 * @throws AppError OPERATION_UNSUPPORTED that lists what the object supports
 */
export function refuseOperation({ instance, objectName }: Addressee, object: ObjectSpec, name: OperationName): never {
  const onCollection = name === 'list' || name === 'create';
  const names: readonly OperationName[] = onCollection ? ['list', 'create'] : ['get', 'update', 'replace', 'remove'];
  const isTaken = (other: OperationName) =>
    object[other] !== undefined || UPLOADS.some((upload) => upload === other && object.upload?.[upload] !== undefined);
  const allow = names.filter(isTaken).map((other) => METHODS[other]);
  const path = onCollection ? `/${objectName}` : `/${objectName}/{objectId}`;
  const supported = allow.length === 0 ? 'nothing' : allow.join(', ');
  const message = `${instance.connector.name} cannot ${METHODS[name]} ${path}; it supports ${supported} there.`;
  throw new AppError('OPERATION_UNSUPPORTED', message, { allow });
}

/** A child object with its own name. */
interface NamedChild {
  readonly name: string;
  readonly child: ObjectSpec;
}

/**
 * Returns a child object by its name or an alias.
 * @throws AppError NOT_FOUND that lists the children
 */
export function getChild({ objectName }: Addressee, object: ObjectSpec, given: string): NamedChild {
  const children = object.children ?? {};
  const name = findName(children, given);
  const child = name === undefined ? undefined : children[name];
  if (name !== undefined && child !== undefined) return { name, child };
  const names = Object.keys(children);
  const known = names.length === 0 ? 'It has none.' : `It has: ${names.join(', ')}.`;
  const hint = suggestName(given, names);
  throw new AppError('NOT_FOUND', `'${objectName}' has no child object '${cutText(given)}'.${hint} ${known}`);
}
