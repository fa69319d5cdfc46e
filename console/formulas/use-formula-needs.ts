import { sayLacking, useMay, useWho } from '../who.ts';
import type { Formula } from './calls.ts';

/** The attributes of a control that the user cannot use, with the reason. */
export interface Refused {
  readonly disabled?: true;
  readonly title?: string;
}

/** Says whether the user may change or delete a formula: by a privilege, and only those of the account. */
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
