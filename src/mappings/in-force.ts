import { createHash } from 'node:crypto';
import type {
  Definition,
  DefinitionField,
  Level,
  Leveled,
  MappingInForce,
  MappingsInForce,
  Transformation,
  TransformationField,
} from './model.ts';
import type { OfLevel } from './owner.ts';

/** The definitions of one level, and its transformations for one element, by object name. */
export interface LevelMappings {
  readonly level: Level;
  readonly definitions: ReadonlyMap<string, Definition>;
  readonly transformations: ReadonlyMap<string, Transformation>;
}

/** A transformation with its inherited fields. */
type MergedTransformation = Omit<MappingInForce, 'definition' | 'version'>;

/**
 * Merges the mappings of all levels, the lowest first, to those that are in force. A transformation whose object has no definition is not in
 * force.
 * @param before an earlier result, whose unchanged parts are used again
 */
export function mergeMappings(levels: readonly LevelMappings[], before?: MappingsInForce): MappingsInForce {
  const names = [...new Set(levels.flatMap(({ definitions }) => [...definitions.keys()]))].toSorted();
  const byName = new Map<string, MappingInForce>();
  for (const name of names) {
    const mapping = mergeMapping(levels, name);
    if (mapping === undefined) continue;
    const known = before?.byName.get(name);
    byName.set(name, known?.version === mapping.version ? known : mapping);
  }
  const unmapped = names.filter((name) => !byName.has(name));
  const version = hashOf([[...byName.values()].map((mapping) => mapping.version), unmapped]);
  return before?.version === version ? before : { version, byName, unmapped };
}

/** @returns undefined where no level has a transformation of the object */
function mergeMapping(levels: readonly LevelMappings[], name: string): MappingInForce | undefined {
  const transformation = mergeTransformations(
    levels.flatMap(({ level, transformations }) => {
      const found = transformations.get(name);
      return found === undefined ? [] : [{ level, value: found }];
    }),
  );
  if (transformation === undefined) return undefined;
  const definition = mergeDefinitions(
    levels.flatMap(({ level, definitions }) => {
      const found = definitions.get(name);
      return found === undefined ? [] : [{ level, value: found }];
    }),
  );
  const defined = new Set(definition.map(({ path }) => path));
  const fields = transformation.fields.filter(({ path }) => defined.has(path));
  const mapping = { ...transformation, definition, fields };
  return { ...mapping, version: hashOf(mapping) };
}

/** Merges the definitions of an object at all levels, the lowest first. For a path that several levels have, the lowest level wins. */
export function mergeDefinitions(lowestFirst: readonly OfLevel<Definition>[]): readonly Leveled<DefinitionField>[] {
  return mergeFields(lowestFirst.map(({ level, value }) => withLevel(value.fields, level)));
}

/**
 * Merges the transformations of an object at all levels, the lowest first. The lowest one is in force. While a transformation has `inherit`,
 * the fields of the next higher one are merged under its own. Nothing else is inherited: the script and the configuration are those of the
 * lowest.
 */
export function mergeTransformations(
  lowestFirst: readonly OfLevel<Transformation>[],
): MergedTransformation | undefined {
  const [lowest] = lowestFirst;
  if (lowest === undefined) return undefined;
  const { objectName, vendorName, configuration = [], script } = lowest.value;
  const end = lowestFirst.findIndex(({ value }) => !inherits(value));
  const joined = lowestFirst.slice(0, end === -1 ? undefined : end + 1);
  return {
    objectName,
    vendorName,
    level: lowest.level,
    fields: mergeFields(joined.map(({ level, value }) => withLevel<TransformationField>(value.fields, level))),
    configuration,
    ...(script !== undefined && { script }),
  };
}

function inherits({ configuration = [] }: Transformation): boolean {
  return configuration.some(({ type }) => type === 'inherit');
}

/** Fields of higher levels come first. A field of a lower level takes the place of one with the same path. */
function mergeFields<Field extends { readonly path: string }>(
  lowestFirst: readonly (readonly Field[])[],
): readonly Field[] {
  const byPath = new Map<string, Field>();
  for (const fields of lowestFirst.toReversed()) for (const field of fields) byPath.set(field.path, field);
  return [...byPath.values()];
}

function withLevel<Field extends object>(fields: readonly Field[], level: Level): readonly Leveled<Field>[] {
  return fields.map((field) => ({ ...field, level }));
}

/** Returns a text that differs for any two contents. */
export function hashOf(content: unknown): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url');
}
