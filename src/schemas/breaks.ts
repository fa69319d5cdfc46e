import type { PolledResource } from '../instances/polling/poll-settings.ts';
import { fieldFinder } from '../mappings/mapped-field.ts';
import type { MappingInForce, TransformationField } from '../mappings/model.ts';
import { fieldsOfPoll } from '../polls/plan.ts';
import { namesInScript } from '../scripts/index.ts';
import type { FieldSpec } from '../where/index.ts';
import type { FieldChange, SchemaChange } from './compare.ts';
import { readField, type Shape } from './shape.ts';
import type { FormulaUse, ObjectUses } from './uses.ts';

/** A mapping that uses what changed. `fields` are the provider's, `mappedFields` those of the mapping. */
interface BrokenMapping {
  readonly objectName: string;
  readonly fields: readonly string[];
  readonly mappedFields: readonly string[];
}

interface BrokenPoll {
  readonly resource: string;
  readonly fields: readonly string[];
}

interface BrokenFormula {
  readonly formulaId: number;
  readonly formulaName: string;
  readonly formulaInstanceId: number;
  readonly formulaInstanceName: string;
  readonly fields: readonly string[];
}

/** The mappings, polls and formulas that a change breaks. `fields` are empty if the object itself disappeared. */
export interface Breaks {
  readonly mappings: readonly BrokenMapping[];
  readonly polls: readonly BrokenPoll[];
  readonly formulas: readonly BrokenFormula[];
}

/** Returns what uses the fields that a change removed or changed. */
export function findBreaks(before: Shape, change: SchemaChange, { polls, mappings, formulas }: ObjectUses): Breaks {
  const isGone = change.object === 'removed';
  const lost = new Set([...change.removed, ...change.changed.filter(isBreaking).map(({ field }) => field)]);
  const found = mappings.map((mapping) => brokenMapping(before, lost, mapping));
  const isBroken = ({ fields }: { readonly fields: readonly string[] }) => isGone || fields.length > 0;
  return {
    mappings: found.filter(isBroken).map((broken) => (isGone ? { ...broken, fields: [], mappedFields: [] } : broken)),
    polls: polls
      .map((resource) => brokenPoll(before, change, lost, resource))
      .filter((broken) => isBroken(broken) || !canList(change))
      .map((broken) => (isGone ? { ...broken, fields: [] } : broken)),
    formulas: formulas
      .map((formula) => brokenFormula(before, lost, found, formula))
      .filter(isBroken)
      .map((broken) => (isGone ? { ...broken, fields: [] } : broken)),
  };
}

export function breaksAnything({ mappings, polls, formulas }: Breaks): boolean {
  return mappings.length + polls.length + formulas.length > 0;
}

/** A field that can hold null now, or can be set now, breaks nothing. */
function isBreaking({ from, to }: FieldChange): boolean {
  return (
    to.type !== undefined ||
    from.createable === true ||
    from.updateable === true ||
    from.filterable === true ||
    to.required === true
  );
}

function canList({ operations }: SchemaChange): boolean {
  return operations?.removed.includes('list') !== true;
}

function specsOf({ fields }: Shape): Readonly<Record<string, FieldSpec>> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, text]) => {
      const { type, nativeName, filterable } = readField(text);
      const filter = filterable ? { filter: { '>=': 'exact' } as const } : {};
      return [name, { type, ...(nativeName !== undefined && { native: nativeName }), ...filter }];
    }),
  );
}

function brokenMapping(before: Shape, lost: ReadonlySet<string>, mapping: MappingInForce): BrokenMapping {
  const find = fieldFinder({ fields: specsOf(before) });
  const fields = new Set<string>();
  const mappedFields: string[] = [];
  for (const field of mapping.fields) {
    const used = pathsOf(field).flatMap((path) => find(path)?.field.name ?? []);
    const broken = used.filter((name) => lost.has(name));
    if (broken.length === 0) continue;
    mappedFields.push(field.path);
    for (const name of broken) fields.add(name);
  }
  if (mapping.script !== undefined) {
    const mentions = createMentions(namesInScript(mapping.script.body).join('\n'));
    for (const name of lost) if (mentions(name)) fields.add(name);
  }
  return { objectName: mapping.objectName, fields: [...fields].toSorted(), mappedFields };
}

function pathsOf({ vendorPath, configuration = [] }: TransformationField): readonly string[] {
  const others = configuration.flatMap((entry) =>
    entry.type === 'join' || entry.type === 'first' ? entry.properties.paths : [],
  );
  return vendorPath === undefined ? others : [vendorPath, ...others];
}

/** A poll of a mapped object reads the fields of the mapping, which is reported itself. */
function brokenPoll(
  before: Shape,
  { removed, changed }: SchemaChange,
  lost: ReadonlySet<string>,
  resource: PolledResource,
): BrokenPoll {
  const object = {
    fields: specsOf(before),
    ...(before.id !== undefined && { idField: before.id }),
    changes: {
      ...(before.updated !== undefined && { updated: before.updated }),
      ...(before.created !== undefined && { created: before.created }),
    },
  };
  // A poll only reads.
  const isRead = (name: string) =>
    removed.includes(name) ||
    changed.some(({ field, from, to }) => field === name && (to.type !== undefined || from.filterable === true));
  const fields = fieldsOfPoll(resource, object).filter((name) => lost.has(name) && isRead(name));
  return { resource: resource.name, fields };
}

/** A formula names fields of the provider or those of a mapping, by the name that it has for the object. */
function brokenFormula(
  before: Shape,
  lost: ReadonlySet<string>,
  mappings: readonly BrokenMapping[],
  { formulaId, formulaName, formulaInstanceId, formulaInstanceName, names, named }: FormulaUse,
): BrokenFormula {
  const mentions = createMentions(named.inScripts);
  const isInScript = (field: string) => mentions(field) || field.split('.').every(mentions);
  const fields = names.flatMap((name) => {
    const mapped = mappings.filter(({ objectName }) => objectName === name);
    const paths = [...(named.ofObjects.get(name) ?? [])];
    if (mapped.length > 0)
      return mapped
        .flatMap(({ mappedFields }) => mappedFields)
        .filter((field) => isInScript(field) || paths.some((path) => areAlike(path, field)));
    return [...lost].filter((field) => {
      const { nativeName = field } = readField(before.fields[field] ?? '');
      return isInScript(field) || paths.some((path) => areAlike(path, field) || areAlike(path, nativeName));
    });
  });
  return {
    ...{ formulaId, formulaName, formulaInstanceId, formulaInstanceName },
    fields: [...new Set(fields)].toSorted(),
  };
}

/** Returns whether two paths lead to the same member, or one into the other. */
function areAlike(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`);
}

/** Returns a function that finds out whether a text contains a name as a word. */
function createMentions(text: string): (name: string) => boolean {
  const words = new Set(text.match(/[\p{L}\p{N}_$]+/gu));
  return (name) => (/^[\p{L}\p{N}_$]+$/u.test(name) ? words.has(name) : text.includes(name));
}
