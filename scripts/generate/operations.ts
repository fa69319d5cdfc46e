import { type ApiDocument, componentName, operationsOf, type PlacedOperation, type Response } from './api-document.ts';

export interface OperationEntry {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly scopes: readonly string[];
  readonly tag: string;
  /** Whether the response is a list with its count in a header. */
  readonly list: boolean;
  /** Whether the body may be as large as a record or an event. */
  readonly largeBody: boolean;
}

/** Returns every operation of the document except forms of others. A concrete path comes before the templated ones that match it too. */
export function listOperations(document: ApiDocument): readonly OperationEntry[] {
  return operationsOf(document)
    .filter(({ operation }) => operation['x-causeway-form-of'] === undefined)
    .toSorted((one, other) => comparePaths(one.path, other.path))
    .map((each) => entryOf(document, each));
}

function entryOf(document: ApiDocument, { path, method, operation }: PlacedOperation): OperationEntry {
  const [tag = ''] = operation.tags;
  const list = 'Elements-Returned-Count' in headersOf(document, operation.responses['200']);
  const { operationId: id, 'x-causeway-scopes': scopes, 'x-causeway-large-body': largeBody = false } = operation;
  return { id, method, path, scopes, tag, list, largeBody };
}

function headersOf(document: ApiDocument, response: Response | undefined): Readonly<Record<string, unknown>> {
  const { $ref } = response ?? {};
  const resolved = $ref === undefined ? response : document.components.responses?.[componentName($ref)];
  return resolved?.headers ?? {};
}

/**
 * Compares paths segment by segment: a concrete segment comes before a templated one. Otherwise the order is alphabetical, so that it is
 * total.
 */
export function comparePaths(one: string, other: string): number {
  const [left, right] = [one.split('/'), other.split('/')];
  for (const [index, segment] of left.entries()) {
    const order = compareSegments(segment, right[index]);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function compareSegments(one: string, other: string | undefined): number {
  if (other === undefined) return 1;
  const templated = Number(one.startsWith('{')) - Number(other.startsWith('{'));
  if (templated !== 0 || one === other) return templated;
  return one < other ? -1 : 1;
}

/** Returns the text of `generated/operations.ts`. */
export function printOperations(entries: readonly OperationEntry[]): string {
  const lines = entries.map(({ id, ...entry }) => `  ${id}: ${printEntry(entry)},`);
  return [
    '/** Every operation of the API, ordered so that routes registered one after the other match concrete paths first. */',
    'export const OPERATIONS = {',
    ...lines,
    '} as const;',
    '',
    'export type OperationId = keyof typeof OPERATIONS;',
    '',
  ].join('\n');
}

function printEntry({ method, path, scopes, tag, list, largeBody }: Omit<OperationEntry, 'id'>): string {
  const names = scopes.map((scope) => `'${scope}'`).join(', ');
  const marks = `list: ${list}, largeBody: ${largeBody}`;
  return `{ method: '${method}', path: '${path}', scopes: [${names}], tag: '${tag}', ${marks} }`;
}
