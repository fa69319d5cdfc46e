import type { FieldSpec, ObjectSpec } from '#connector';
import { getOk, idOf, type Listing, type Row, type Target } from './target.ts';

/** Returns the differences between the objects in the API and those that the connector declares. */
export async function compareDiscovery(target: Target): Promise<readonly string[]> {
  const { body } = await getOk(target, '/objects?details=true');
  const names = await getOk(target, '/objects');
  const summaries = body.map(({ name, operations, children }: Row) => ({ name, operations, children }));
  const declared = Object.entries(target.objects).map(([name, object], index) => ({
    name,
    operations: operationsOf(object),
    // A listing leaves out children that only the metadata has.
    children: summaries[index]?.children && Object.keys(object.children ?? {}),
  }));
  const faults = [
    ...differences('GET /objects?details=true', summaries, declared),
    ...differences('GET /objects', names.body, Object.keys(target.objects)),
  ];
  const { element } = (await getOk(target, '/instances')).body;
  const operations = new Set(Object.values(target.objects).flatMap(operationsOf));
  const flags = [element.bulkDownloadEnabled, element.bulkUploadEnabled];
  const able = [operations.has('list'), WRITES.some((name) => operations.has(name))];
  faults.push(...differences('bulkDownloadEnabled, bulkUploadEnabled of the element', flags, able));
  for (const [name, object] of Object.entries(target.objects)) {
    const metadata = await getOk(target, `/objects/${name}/metadata`);
    const fields = metadata.body.fields.map(pickClaims);
    faults.push(...differences(`metadata of ${name}`, fields, Object.entries(object.fields).map(claimsOf)));
    const children = Object.entries(object.children ?? {});
    const names = children.map(([child]) => child);
    faults.push(...differences(`children in the metadata of ${name}`, metadata.body.children, names));
    for (const [child, spec] of children) {
      const below = await getOk(target, `/objects/${name}/${child}/metadata`);
      const found = [below.body.name, below.body.fields.map(pickClaims)];
      faults.push(
        ...differences(`metadata of ${name}/…/${child}`, found, [child, Object.entries(spec.fields).map(claimsOf)]),
      );
    }
  }
  return faults;
}

const WRITES = ['create', 'update', 'delete'];

function operationsOf(object: ObjectSpec): readonly string[] {
  const { list, get, create, update, remove, upload } = object;
  return Object.entries({ list, get, create, update, delete: remove, upload }).flatMap(([name, each]) =>
    each ? [name] : [],
  );
}

function claimsOf([name, spec]: readonly [string, FieldSpec]) {
  return {
    name,
    type: spec.type,
    nullable: spec.nullable !== false,
    required: spec.required === true,
    createable: spec.createable === true,
    updateable: spec.updateable === true,
    readOnly: spec.createable !== true && spec.updateable !== true,
    sortable: spec.sortable === true,
    filter: spec.filter ?? {},
    unlisted: spec.unlisted === true,
    clearable: spec.clearable !== false || (spec.createable !== true && spec.updateable !== true),
    ...(spec.type === 'string' && { collation: spec.collation ?? 'cs' }),
  };
}

function pickClaims(field: Row) {
  const { name, type, nullable, required, createable, updateable, readOnly, sortable, filter, collation } = field;
  const unlisted = field.unlisted === true;
  const clearable = field.clearable !== false;
  const all = {
    name,
    type,
    nullable,
    required,
    createable,
    updateable,
    readOnly,
    sortable,
    filter,
    unlisted,
    clearable,
  };
  return collation === undefined ? all : { ...all, collation };
}

function differences(what: string, found: unknown, declared: unknown): readonly string[] {
  const [left, right] = [JSON.stringify(found), JSON.stringify(declared)];
  return left === right ? [] : [`${what} says ${left}, but declared is ${right}`];
}

const COLLECTION = { list: 'GET', create: 'POST' } as const;
const RECORD = { get: 'GET', update: 'PATCH', replace: 'PUT', remove: 'DELETE' } as const;

/**
 * Calls operations that are not declared. Each must be rejected with a 405 that names the supported ones.
 * @returns the faults
 */
export async function callUndeclared(target: Target, listings: readonly Listing[]): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const [name, object] of Object.entries(target.objects)) {
    const listing = listings.find((candidate) => candidate.path === `/${name}`);
    const [first] = listing?.rows ?? [];
    const id = listing && first ? idOf(listing, first) : '1';
    faults.push(...(await callMissing(target, object, { path: `/${name}`, methods: COLLECTION })));
    faults.push(
      ...(await callMissing(target, object, { path: `/${name}/${encodeURIComponent(id)}`, methods: RECORD })),
    );
  }
  return faults;
}

interface Resource {
  readonly path: string;
  readonly methods: Readonly<Partial<Record<keyof typeof COLLECTION | keyof typeof RECORD, string>>>;
}

async function callMissing(
  target: Target,
  object: ObjectSpec,
  { path, methods }: Resource,
): Promise<readonly string[]> {
  // An operation that accepts a file counts as supported.
  const has = (operation: string) =>
    [object, object.upload ?? {}].some((each) => Reflect.get(each, operation) !== undefined);
  const entries = Object.entries(methods);
  const allow = entries.filter(([operation]) => has(operation)).map(([, method]) => method);
  const faults: string[] = [];
  for (const [, method] of entries.filter(([operation]) => !has(operation))) {
    const response = await target.call(path, { method, ...(method !== 'GET' && method !== 'DELETE' && { body: {} }) });
    const names =
      allow.every((each) => response.body.message?.includes(each)) &&
      (response.headers.get('allow') ?? '') === allow.join(', ').replace('GET', 'GET, HEAD');
    if (response.status !== 405 || response.body.code !== 'OPERATION_UNSUPPORTED' || !names) {
      faults.push(`${method} ${path} is not declared and returned ${response.status} ${JSON.stringify(response.body)}`);
    }
  }
  return faults;
}
