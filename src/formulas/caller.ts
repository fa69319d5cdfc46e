import type { FormulaView } from './templates-store.ts';

/** The user who changes formulas or formula instances, with what the user sees. */
export interface FormulaCaller extends FormulaView {
  readonly userId: number;
  /** Whether variables may name element instances of other accounts of the organization. */
  readonly mayNameAll: boolean;
}
