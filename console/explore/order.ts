import { parseOrderBy } from '../../src/where/parse.ts';
import { printName } from '../../src/where/print.ts';
import type { ColumnSort } from '../parts/table.tsx';

/** Returns the direction in which an `orderBy` sorts by a field. An invalid text sorts by nothing. */
export function directionOf(orderBy: string, field: string): ColumnSort['direction'] {
  const term = readTerms(orderBy).find((each) => each.field.name === field);
  if (term === undefined) return undefined;
  return term.direction === 'asc' ? 'ascending' : 'descending';
}

/** Returns the `orderBy` after a click on the title of a field: ascending, then descending, then without the field. */
export function nextOrder(orderBy: string, field: string): string {
  const direction = directionOf(orderBy, field);
  if (direction === undefined) return printName(field);
  return direction === 'ascending' ? `${printName(field)} desc` : '';
}

function readTerms(orderBy: string) {
  if (orderBy === '') return [];
  try {
    return parseOrderBy(orderBy);
  } catch {
    // The response of the service reports the fault.
    return [];
  }
}
