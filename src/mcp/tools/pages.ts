import { invalidRequest } from '../../errors.ts';

/** The position at which a list continues: on a page of the API, behind the entries of it that were shown already. */
export interface ListPosition {
  readonly skip: number;
  readonly limit: number;
  /** Page token of the API; undefined for the first page. */
  readonly token: string | undefined;
}

/** Returns the `nextPage` of a tool. A page is requested again with the same size, because its token belongs to that query. */
export function writePosition({ skip, limit, token = '' }: ListPosition): string {
  return `${skip}.${limit}.${token}`;
}

/** @throws AppError REQUEST_INVALID for a text that no tool has returned */
export function readPosition(text: string | undefined, limit: number): ListPosition {
  if (text === undefined) return { skip: 0, limit, token: undefined };
  const [, skip, size, token] = /^(\d{1,7})\.([1-9]\d{0,3})\.(.*)$/s.exec(text) ?? [];
  if (skip === undefined || size === undefined)
    throw invalidRequest([{ message: 'The argument nextPage must be that of an earlier result, unchanged.' }]);
  return { skip: Number(skip), limit: Number(size), token: token === '' ? undefined : token };
}

/** Returns the part of a list in memory from a position on, and the members that say how the list continues. */
export function pageOf<Entry>(entries: readonly Entry[], nextPage: string | undefined) {
  const { skip } = readPosition(nextPage, 1);
  return {
    entries: entries.slice(skip),
    goOn: (count: number) => ({ nextPage: writePosition({ skip: skip + count, limit: 1, token: undefined }) }),
  };
}
