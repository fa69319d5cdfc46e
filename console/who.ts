import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Session } from './api.ts';

/** The logged-in user, and the account that the user works in. */
export interface Who {
  readonly session: Session;
  /** The account that all calls are about. */
  readonly account: Session['account'];
  /** Requests the logged-in user again, after a change of names, roles or the password. */
  readonly renew: () => Promise<void>;
  /** Switches to another account for all further calls, or to the user's own with undefined. All pages load again. */
  readonly workIn: (account: Session['account'] | undefined) => void;
}

export const WhoContext = createContext<Who | undefined>(undefined);

/** Returns the logged-in user. Only components inside the shell can call it. @throws Error if nobody is logged in */
export function useWho(): Who {
  const who = useContext(WhoContext);
  if (who === undefined) throw new Error('You are not logged in.');
  return who;
}

/** Returns whether the user has at least one of the privileges. */
export type May = (...enough: readonly string[]) => boolean;

export function useMay(): May {
  const { privileges } = useWho().session;
  return (...enough) => enough.some((privilege) => privileges.includes(privilege));
}

/** Returns the attributes of a control that a user without the privilege cannot use, with the reason. */
export type Needs = (privilege: string) => { readonly disabled?: true; readonly title?: string };

export function useNeeds(): Needs {
  const may = useMay();
  return (privilege) => (may(privilege) ? {} : { disabled: true, title: sayLacking(privilege) });
}

/** Returns the reason why a control is disabled, for its title. */
export function sayLacking(privilege: string): string {
  return `This needs the privilege ${privilege}, and none of your roles has it. Ask an administrator of the organization.`;
}

/** Returns the reason why the user cannot do something that needs one of the privileges. Undefined if the user can. */
export function useRefusal(needs: readonly string[]): string | undefined {
  return useMay()(...needs) ? undefined : sayLacking(needs.join(' or '));
}
