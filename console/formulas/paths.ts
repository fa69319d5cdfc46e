export const LIST_PATH = '/console/formulas';

/** The tabs of a formula's page. The first one has an empty name. */
export type FormulaTab = '' | 'variables' | 'instances' | 'settings';

export function pathOfFormula(id: number, tab: FormulaTab = ''): string {
  return tab === '' ? `${LIST_PATH}/${id}` : `${LIST_PATH}/${id}/${tab}`;
}

export function pathOfInstance(id: number): string {
  return `${LIST_PATH}/instances/${id}`;
}

export function pathOfExecution(id: number): string {
  return `${LIST_PATH}/executions/${id}`;
}

/** A page below the list of formulas, as its address names it. */
export type Place =
  | { readonly kind: 'list' | 'nowhere' }
  | { readonly kind: 'formula'; readonly id: number; readonly tab: FormulaTab }
  | { readonly kind: 'instance' | 'execution'; readonly id: number };

const NOWHERE: Place = { kind: 'nowhere' };

/** Reads the part of an address behind `/console/formulas`. */
export function readPlace(below: string | undefined): Place {
  const [first = '', second = '', ...more] = (below ?? '').split('/');
  if (more.length > 0) return NOWHERE;
  if (first === '') return { kind: 'list' };
  if (first === 'instances') return readKind('instance', second);
  if (first === 'executions') return readKind('execution', second);
  return isId(first) && isTab(second) ? { kind: 'formula', id: Number(first), tab: second } : NOWHERE;
}

function readKind(kind: 'instance' | 'execution', id: string): Place {
  return isId(id) ? { kind, id: Number(id) } : NOWHERE;
}

function isTab(part: string): part is FormulaTab {
  return part === '' || part === 'variables' || part === 'instances' || part === 'settings';
}

function isId(text: string): boolean {
  return /^[1-9]\d{0,14}$/.test(text);
}
