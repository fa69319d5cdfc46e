import type { Principal } from '../accounts/accounts.ts';
import type { PasswordVersion } from '../accounts/log-in/password-store.ts';
import { type ConsoleSession, noSession } from '../accounts/log-in/sessions.ts';
import type { TenantIds } from '../accounts/store.ts';
import { AppError } from '../errors.ts';
import { networkOf } from '../http/remote-address.ts';
import type { Platform } from '../platform.ts';
import { currentTrace } from '../trace.ts';
import type { ApiServices } from './api-services.ts';
import { refuse } from './authorization.ts';
import type { Handlers, OperationResponse, OperationResult } from './operation.ts';
import type { SessionCookie } from './session-cookie.ts';

interface ConsoleParts extends Pick<Platform, 'log'> {
  readonly sessionCookie: SessionCookie;
}

/** Message of every failed log-in, whatever the reason is. */
const WRONG =
  'The e-mail address or the password is wrong. If you are a user of several organizations, send the organizationId too.';
const INCOMPLETE = 'Send a body with email and password, or your secrets in the Authorization header.';

export function createConsoleHandlers(
  { logIn: { passwords, sessions } }: ApiServices,
  { sessionCookie, log }: ConsoleParts,
) {
  async function begin(
    user: TenantIds,
    password?: PasswordVersion,
  ): Promise<OperationResponse<'createConsoleSession'>> {
    const { token } = await sessions.begin(user, password);
    const { session, principal } = (await sessions.find(token)) ?? refuse(WRONG);
    return { body: await show(session, principal), headers: { 'Set-Cookie': sessionCookie.write(token) } };
  }

  async function show(session: ConsoleSession, principal: Principal): Promise<OperationResult<'getConsoleSession'>> {
    const user = homeOf(principal);
    const { organizationName, accountName, emailAddress, ...names } = await sessions.namesOf(user);
    return {
      csrfToken: session.csrfToken,
      createdDate: session.createdAt.toISOString(),
      expiresDate: session.endsAt.toISOString(),
      organization: { id: user.organizationId, name: organizationName },
      account: { id: user.accountId, name: accountName },
      user: { id: user.userId, email: emailAddress, ...names },
      roles: [...principal.roles],
      privileges: [...principal.privileges],
    };
  }

  return {
    createConsoleSession: async ({ principal, body, address, runAs }) => {
      if (principal !== undefined) return begin(homeOf(principal));
      const { email, password, organizationId } = body ?? {};
      if (email === undefined || password === undefined) throw new AppError('REQUEST_INVALID', INCOMPLETE);
      const network = networkOf(address);
      const tried = await passwords.check({ email, password, organizationId, network });
      if (tried.kind === 'right') return runAs(tried.user, () => begin(tried.user, tried.user));
      const { user } = tried;
      if (user !== undefined) return runAs(user, async () => refuse(WRONG));
      // Not the address: people type their passwords there.
      log.warn({ requestId: currentTrace()?.requestId, address }, 'somebody tried to log in as an unknown user');
      return refuse(WRONG);
    },

    getConsoleLogIn: async ({ principal, session }) => {
      const passwordsExist = await passwords.exist();
      if (principal === undefined || session === undefined) return { body: { passwordsExist } };
      return { body: { passwordsExist, session: await show(session, principal) } };
    },

    getConsoleSession: async ({ principal, session }) => {
      if (session === undefined) throw noSession();
      return { body: await show(session, principal) };
    },

    deleteConsoleSession: async ({ principal, session }) => {
      await sessions.end(homeOf(principal), session);
      return { body: {}, headers: { 'Set-Cookie': sessionCookie.clear() } };
    },

    setOwnPassword: async ({ principal, session, body, address }) => {
      const network = networkOf(address);
      return { body: { endedSessions: await passwords.set({ ...body, user: homeOf(principal), session, network }) } };
    },
  } satisfies Partial<Handlers>;
}

/** The user's own account, whichever one the call is about. */
function homeOf({ organizationId, homeAccountId, userId }: Principal): TenantIds {
  return { organizationId, accountId: homeAccountId, userId };
}
