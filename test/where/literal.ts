import type { Literal } from '../../src/where/ast.ts';
import { NOWHERE, text } from '../../suite/literals.ts';

/** Makes literals that stand in no text. */
export const literal = {
  text,
  number: (written: string): Literal => ({ kind: 'number', text: written, loc: NOWHERE }),
  boolean: (value: boolean): Literal => ({ kind: 'boolean', value, loc: NOWHERE }),
  date: (written: string): Literal => ({ kind: 'date', text: written, loc: NOWHERE }),
  dateTime: (written: string): Literal => ({ kind: 'datetime', text: written, loc: NOWHERE }),
};
