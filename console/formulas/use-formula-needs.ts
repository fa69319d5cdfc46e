import { sayLacking, useMay, useWho } from '../who.ts';
import type { Formula } from './calls.ts';

/** The attributes of a control that the user cannot use, with the reason as its title. */
export interface Refused {
  readonly disabled?: true;
  readonly title?: string;
}

/**
 * Returns a function that says whether the user can change or delete a formula. The user needs a privilege, and the formula must be of the
 * account.
 */
export function useFormulaNeeds(): (
  formula: Pick<Formula, 'accountId'>,
  privilege: 'editFormulas' | 'deleteFormulas',
) => Refused {
  const may = useMay();
  const { account } = useWho();
  return ({ accountId }, privilege) => {
    if (!may(privilege)) return { disabled: true, title: sayLacking(privilege) };
    if (accountId === account.id) return {};
    return { disabled: true, title: `The formula belongs to account ${accountId}. Only that account can change it.` };
  };
}
