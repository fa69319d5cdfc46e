import type { MovableClock, TableChange, TableRow } from '#connector/simulator';
import { connectionOf } from './execute.ts';
import { testOf } from './find.ts';

const EVENTS = { type: 'DeletionEvent', list: 'deletionEvents' } as const;

/** The trace that deleted products leave. Source: the query `deletionEvents` of the schema. */
export function createDeletions({ now }: Pick<MovableClock, 'now'>) {
  const events: TableRow[] = [];
  return {
    note: (name: string, { key, after }: TableChange): void => {
      if (name !== 'products' || after !== undefined) return;
      // Times have no fractions of a second.
      const occurredAt = `${new Date(now()).toISOString().slice(0, 19)}Z`;
      events.push({ occurredAt, subjectId: key, subjectType: 'PRODUCT' });
    },
    roots: {
      deletionEvents: (args: TableRow) => {
        const types: readonly unknown[] = Array.isArray(args.subjectTypes) ? args.subjectTypes : ['PRODUCT'];
        const test = args.query == null ? () => true : testOf(EVENTS, String(args.query));
        const found = events.filter((event) => types.includes(event.subjectType) && test(event));
        return connectionOf(args.reverse === true ? found.toReversed() : found, args);
      },
    },
  };
}
