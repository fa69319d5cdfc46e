import type { FieldSpec } from '#connector';
import type { CatalogueField } from './discovery.ts';
import { findKind, KINDS, type Kind } from './kinds.ts';
import { WELL_KNOWN, type WellKnownField } from './well-known.ts';

/** A field of `employees`: ours, the dataset's (`spec.native`) and the employee endpoints' name of it. */
export interface EmployeeField {
  readonly name: string;
  readonly spec: FieldSpec & { readonly native: string };
  readonly endpoint?: string;
  /** The table it is a column of: it has a value for each of the employee's entries. */
  readonly table?: string;
}

/** Kinds that rest on what the column is, whatever word the catalogue has for its type. */
const FIXED: ReadonlySet<Kind> = new Set<Kind>(['id', 'status', 'amount']);

const WELL_KNOWN_NAMES: ReadonlySet<string> = new Set([...WELL_KNOWN.values()].map(({ name }) => name));

/**
 * The fields of this account: those of the catalogue only, the well-known first and under the names of the employee endpoints,
 * the others under their dataset names.
 * @throws Error when the catalogue lacks the employee id, without which no row can be told from another.
 */
export function buildFields(catalogue: readonly CatalogueField[]): readonly EmployeeField[] {
  const columns = new Map(catalogue.map((column) => [column.dataset, column]));
  if (!columns.has('eeid')) throw new Error('BambooHR lists no field eeid in its employee dataset.');
  const known = [...WELL_KNOWN].flatMap(([dataset, field]): EmployeeField[] => {
    const column = columns.get(dataset);
    return column === undefined ? [] : [{ name: field.name, endpoint: field.name, spec: knownSpec(column, field) }];
  });
  const others = catalogue.filter(({ dataset }) => !WELL_KNOWN.has(dataset)).map(toField);
  return [...known, ...others];
}

function knownSpec(column: CatalogueField, { kind, access }: WellKnownField): EmployeeField['spec'] {
  const spec = toSpec(column, FIXED.has(kind) ? kind : (findKind(column.type) ?? kind));
  // BambooHR ignores what it is sent under a name that the account does not list.
  if (access === 'read' || column.endpoint === undefined) return spec;
  return { ...spec, createable: true, updateable: true, ...(access === 'require' && { required: true }) };
}

function toField(column: CatalogueField): EmployeeField {
  const { dataset, endpoint, custom, table } = column;
  // A column may have the endpoint name of another one, e.g. `payRate`.
  const name = WELL_KNOWN_NAMES.has(dataset) ? `dataset_${dataset}` : dataset;
  const isCustom = custom && { custom };
  if (table !== undefined) return { name, table, spec: { ...tableSpec(column), ...isCustom } };
  const spec = { ...(column.certain ? customSpec(column) : onDemandSpec(column)), ...isCustom };
  return { name, spec, ...(endpoint !== undefined && { endpoint }) };
}

/** Which of the standard fields may be written is documented for the well-known ones only. */
function customSpec(column: CatalogueField): EmployeeField['spec'] {
  const spec = toSpec(column, findKind(column.type) ?? 'opaque');
  return column.endpoint === undefined ? spec : { ...spec, createable: true, updateable: true };
}

/** What the dataset compares it as is not known here, so nothing is left to it. */
function onDemandSpec(column: CatalogueField): EmployeeField['spec'] {
  const { type, read } = readingOf(column);
  return { type, ...(read !== undefined && { read }), ...nameColumn(column), onDemand: true };
}

/** The values of all entries, which other calls fetch. */
function tableSpec(column: CatalogueField): EmployeeField['spec'] {
  const { read = (native: unknown) => native } = readingOf(column);
  const readAll = (values: unknown) => (Array.isArray(values) ? values.map(read) : values);
  return { type: 'array', read: readAll, nullable: false, ...nameColumn(column), onDemand: true };
}

function readingOf({ type }: CatalogueField): FieldSpec {
  return KINDS[findKind(type) ?? 'opaque'];
}

function toSpec(column: CatalogueField, kind: Kind): EmployeeField['spec'] {
  return { ...KINDS[kind], ...nameColumn(column) };
}

function nameColumn({ dataset, label, type }: CatalogueField) {
  return {
    native: dataset,
    ...(label !== undefined && { label }),
    ...(type !== undefined && { nativeType: type }),
  };
}
