import type { Loc } from './ast.ts';
import { parseStatement } from './parse.ts';
import type { QueryText } from './query.ts';

/** A `SELECT` statement as a query of one object. */
export interface Selected extends Pick<QueryText, 'fields' | 'where' | 'orderBy'> {
  readonly objectName: string;
  readonly objectLoc: Loc;
  readonly limit: number | undefined;
}

/**
 * Returns the clauses of `SELECT … FROM … [WHERE …] [ORDER BY …] [LIMIT n]`. Each text is padded with blanks for everything before it, so
 * positions of faults refer to the whole statement.
 * @throws AppError WHERE_SYNTAX
 */
export function readSelect(text: string): Selected {
  const { fields, object, limit, clauseLocs } = parseStatement(text);
  const { select, from, where, orderBy } = clauseLocs;
  const until = (...next: readonly (Loc | undefined)[]) => next.find((loc) => loc !== undefined)?.offset ?? text.length;
  const clause = (word: Loc | undefined, end: number) =>
    word === undefined ? undefined : inPlace(text, word.offset + word.length, end);
  return {
    objectName: object.name,
    objectLoc: object.loc,
    fields: fields && clause(select, until(from)),
    where: clause(where, until(orderBy, clauseLocs.limit)),
    orderBy: clause(orderBy, until(clauseLocs.limit)),
    limit: limit?.rows,
  };
}

function inPlace(text: string, begin: number, end: number): string {
  return ' '.repeat(begin) + text.slice(begin, end);
}
