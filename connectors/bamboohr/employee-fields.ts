import type { FieldSpec } from '#connector';
import type { CatalogueField } from './discovery.ts';
import { findKind, KINDS, type Kind } from './kinds.ts';
import { WELL_KNOWN, type WellKnownField } from './well-known.ts';

/** A field of `employees`: ours, the dataset's (`spec.native`) and the employee endpoints' name of it. */
export interface EmployeeField {
  readonly name: string;
  readonly spec: FieldSpec & { readonly native: string };
  readonly endpoint?: string;
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
  const { dataset, endpoint, custom, certain } = column;
  // A column may have the endpoint name of another one, e.g. `payRate`.
  const name = WELL_KNOWN_NAMES.has(dataset) ? `dataset_${dataset}` : dataset;
  return {
    name,
    spec: { ...(certain ? customSpec(column) : onDemandSpec(column)), ...(custom && { custom }) },
    ...(endpoint !== undefined && { endpoint }),
  };
}

/** Which of the standard fields may be written is documented for the well-known ones only. */
function customSpec(column: CatalogueField): EmployeeField['spec'] {
  const spec = toSpec(column, findKind(column.type) ?? 'opaque');
  return column.endpoint === undefined ? spec : { ...spec, createable: true, updateable: true };
}

/**
 * Asked for by name only: a column of a table makes a row of each of an employee's entries, and all columns together make an
 * answer of hundreds. What the dataset compares with is not known here, so nothing is left to it.
 */
function onDemandSpec(column: CatalogueField): EmployeeField['spec'] {
  const { type, read }: FieldSpec = KINDS[findKind(column.type) ?? 'opaque'];
  return { type, ...(read !== undefined && { read }), ...nameColumn(column), onDemand: true };
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
