import { nearestName } from '../errors.ts';
import { isKeyword } from '../where/index.ts';
import { createFaults, type Faults, isObject, type PointerSegments } from './faults.ts';
import { containersOf, findPathFault } from './field-paths.ts';
import { type DefinitionField, LEVELS, type Level, type Leveled, MAPPED_TYPES, type MappedType } from './model.ts';

/** Maximum number of definitions per level (mappings.md, 12). */
export const MOST_DEFINITIONS = 500;
export const MOST_FIELDS = 1_000;
/** Maximum length of all definitions and transformations of a level, as characters of JSON. */
export const MOST_STORED = 8 * 1024 * 1024;

const LONGEST_NAME = 100;
const LONGEST_LABEL = 255;
const NAME = /^[A-Za-z][A-Za-z0-9_-]*$/;

/** A body that names a level for some of its fields. */
export interface FieldsByLevel<Field> {
  /** The fields of the level that the request is about. */
  readonly own: readonly Field[];
  /** The fields that name another level. */
  readonly others: ReadonlyMap<Level, readonly Field[]>;
}

/** A definition, as a request gives it. */
export type GivenDefinition = FieldsByLevel<DefinitionField>;

/** The level and the name that a body must fit. */
export interface BodyOf {
  readonly objectName: string;
  readonly level: Level;
  /** The names that lead to the body: `body`, or `body` and the name of the object. */
  readonly segments?: PointerSegments;
  /** Indexes of the fields in the list of the body, if only some of them are checked. Default: consecutive. */
  readonly indexes?: readonly number[];
}

/** Notes why a text cannot be the name of a mapped object. */
export function checkName(
  name: string,
  segments: PointerSegments,
  faults: Faults,
  reserved: ReadonlySet<string>,
): void {
  if (name.length > LONGEST_NAME) faults.note(segments, `must have at most ${LONGEST_NAME} characters.`);
  else if (!NAME.test(name))
    faults.note(segments, 'must begin with a letter, followed by letters, digits, _ and -, such as myContacts.');
  else if (isKeyword(name)) faults.note(segments, `must not be '${name}', which is a word of the query language.`);
  else if (reserved.has(name))
    faults.note(
      segments,
      `must not be '${name}', because paths of the platform begin with /${name}. Choose another name.`,
    );
}

/**
 * Asserts that a text can be the name of a mapped object.
 * @throws AppError REQUEST_INVALID
 */
export function assertName(name: string, segments: PointerSegments, reserved: ReadonlySet<string>): void {
  const faults = createFaults();
  checkName(name, segments, faults, reserved);
  faults.throwIfAny();
}

/**
 * Reads the body of a definition.
 * @throws AppError REQUEST_INVALID that names every fault
 */
export function readDefinition(body: unknown, of: BodyOf): GivenDefinition {
  const faults = createFaults(...(of.segments ?? ['body']));
  const given = readDefinitionBody(body, of, faults);
  faults.throwIfAny();
  return given;
}

function readDefinitionBody(body: unknown, of: BodyOf, faults: Faults): GivenDefinition {
  if (!isObject(body)) {
    faults.note([], 'must be an object with the member fields.');
    return { own: [], others: new Map() };
  }
  checkIdentity(body, of, faults);
  const fields = readFields(body.fields, faults, readDefinitionField, of.indexes);
  checkOnce(fields, faults);
  return splitByLevel(fields, of, faults);
}

/** Checks the members of a body that its path already says. */
export function checkIdentity(body: Readonly<Record<string, unknown>>, of: BodyOf, faults: Faults): void {
  const { objectName, level } = body;
  if (objectName !== undefined && objectName !== null && objectName !== of.objectName)
    faults.note(['objectName'], `must be '${of.objectName}', as in the path. To rename, use PATCH. Or leave it out.`);
  if (level !== undefined && level !== null && level !== of.level)
    faults.note(['level'], `must be '${of.level}', which is the level of the path. Or leave it out.`);
}

/** A field of a body with the level that it names. */
interface GivenField<Field> {
  readonly field: Field;
  readonly level: Level | undefined;
  /** Index of the field in the list. */
  readonly index: number;
}

/** Reads a list of fields with a reader for one of them. */
export function readFields<Field>(
  given: unknown,
  faults: Faults,
  read: (field: Readonly<Record<string, unknown>>, segments: PointerSegments, faults: Faults) => Field | undefined,
  indexes?: readonly number[],
): readonly GivenField<Field>[] {
  if (!Array.isArray(given)) {
    faults.note(['fields'], 'must be a list of fields. It may be empty.');
    return [];
  }
  if (given.length > MOST_FIELDS) {
    faults.note(['fields'], `must have at most ${MOST_FIELDS} fields; it has ${given.length}.`);
    return [];
  }
  return given.flatMap((one: unknown, at) => {
    const index = indexes?.[at] ?? at;
    const segments = ['fields', String(index)];
    if (!isObject(one)) {
      faults.note(segments, 'must be an object.');
      return [];
    }
    const level = readLevel(one, segments, faults);
    const field = read(one, segments, faults);
    return field === undefined ? [] : [{ field, level, index }];
  });
}

/** Clients write the level of a field under either name. */
function readLevel(
  field: Readonly<Record<string, unknown>>,
  segments: PointerSegments,
  faults: Faults,
): Level | undefined {
  const name = field.associatedLevel === undefined ? 'level' : 'associatedLevel';
  const given = field[name] ?? undefined;
  const level = LEVELS.find((each) => each === given);
  if (given !== undefined && level === undefined)
    faults.note([...segments, name], `must be one of ${LEVELS.join(', ')}.`, { expected: LEVELS });
  return level;
}

function readDefinitionField(
  { path, type, displayName }: Readonly<Record<string, unknown>>,
  segments: PointerSegments,
  faults: Faults,
): DefinitionField | undefined {
  const readPath = readMappedPath(path, segments, faults);
  const readType = readMappedType(type, segments, faults);
  if (displayName !== undefined && displayName !== null) {
    if (typeof displayName !== 'string' || displayName.length > LONGEST_LABEL)
      faults.note([...segments, 'displayName'], `must be a text of at most ${LONGEST_LABEL} characters.`);
  }
  if (type === undefined) faults.note([...segments, 'type'], `is missing. Expected: ${MAPPED_TYPES.join(', ')}.`);
  if (readPath === undefined || readType === undefined) return undefined;
  const hasLabel = typeof displayName === 'string' && displayName !== '';
  return { path: readPath, type: readType, ...(hasLabel && { displayName }) };
}

/** Reads the path of a mapped field. */
export function readMappedPath(path: unknown, segments: PointerSegments, faults: Faults): string | undefined {
  if (typeof path !== 'string') {
    faults.note([...segments, 'path'], path === undefined ? 'is missing.' : 'must be a text.');
    return undefined;
  }
  const fault = findPathFault(path);
  if (fault === undefined) return path;
  faults.note([...segments, 'path'], fault);
  return undefined;
}

/** Reads the type of a mapped field. Undefined where the body has none. */
export function readMappedType(type: unknown, segments: PointerSegments, faults: Faults): MappedType | undefined {
  if (type === undefined || type === null) return undefined;
  const known = MAPPED_TYPES.find((each) => each === type);
  if (known !== undefined) return known;
  const nearest = nearestName(String(type), MAPPED_TYPES);
  const hint = nearest === undefined ? '' : ` Did you mean '${nearest}'?`;
  faults.note([...segments, 'type'], `must be one of ${MAPPED_TYPES.join(', ')}.${hint}`, {
    expected: MAPPED_TYPES,
    ...(nearest !== undefined && { nearest }),
  });
  return undefined;
}

/** Notes fields whose path another field of the same level has. */
export function checkOnce(fields: readonly GivenField<{ readonly path: string }>[], faults: Faults): void {
  const seen = new Map<string, number>();
  for (const { field, level, index } of fields) {
    const key = `${level ?? ''} ${field.path}`;
    const first = seen.get(key);
    if (first === undefined) seen.set(key, index);
    else faults.note(['fields', String(index), 'path'], `'${field.path}' is also the path of fields.${first}.`);
  }
}

/**
 * Separates the fields that name another level than the one of the path. A caller who may write for the organization can also store fields
 * for its own account, as clients do when they import files.
 */
export function splitByLevel<Field>(
  fields: readonly GivenField<Field>[],
  of: BodyOf,
  faults: Faults,
): FieldsByLevel<Field> {
  const others = new Map<Level, Field[]>();
  const own: Field[] = [];
  for (const { field, level = of.level, index } of fields) {
    if (level === of.level) own.push(field);
    else if (LEVELS.indexOf(level) < LEVELS.indexOf(of.level) && level !== 'account')
      faults.note(
        ['fields', String(index), 'level'],
        `must not be '${level}', which is below the level '${of.level}' of the path. Send the field to a path of its own level.`,
      );
    else others.set(level, [...(others.get(level) ?? []), field]);
  }
  return { own, others };
}

/**
 * Notes fields that lie below a field that cannot contain them.
 * @param merged the fields of the definition as it would be in force
 * @param segmentsByPath the segments of the given fields, by path
 */
export function checkContainers(
  merged: readonly (DefinitionField & Partial<Leveled<DefinitionField>>)[],
  segmentsByPath: ReadonlyMap<string, PointerSegments>,
  faults: Faults,
): void {
  const byPath = new Map(merged.map((field) => [field.path, field]));
  for (const { path } of merged) {
    for (const container of containersOf(path)) {
      const found = byPath.get(container.path);
      if (found === undefined || found.type === container.type) continue;
      const segments = segmentsByPath.get(path) ?? segmentsByPath.get(found.path);
      if (segments === undefined) continue;
      const level = found.level === undefined || segmentsByPath.has(found.path) ? '' : ` at the level ${found.level}`;
      faults.note(
        [...segments, 'path'],
        `cannot be used: '${path}' lies in '${found.path}', which is of the type ${found.type}${level}, not ${container.type}.`,
      );
    }
  }
}
