import { ApiError, api, ask, type Schemas } from '../api.ts';

/** The session behind the page, by the key at the end of its address. */

export type SessionState = Schemas['ConnectPage'];
export type OfferedElement = Schemas['ConnectElement'];
export type Field = Schemas['ConfigurationField'];
/** The entered values by the key of their field. */
export type Values = Readonly<Record<string, string | boolean>>;

/** Whether the provider's page is opened in a window of its own or in that of the page. */
type Opener = 'popup' | 'page';

interface Given {
  readonly elementKey: string;
  readonly configuration: Values;
}

/** All of them @throws ApiError */
export interface SessionCalls {
  readonly read: (signal: AbortSignal) => Promise<SessionState>;
  /** By what was filled in alone. */
  readonly connect: (given: Given) => Promise<void>;
  /** @returns where the user goes to authorize, for once and at once */
  readonly authorize: (given: Given & { readonly opener: Opener }) => Promise<string>;
  readonly cancel: () => Promise<void>;
}

export function createCalls(key: string): SessionCalls {
  const headers = { Authorization: `Connect ${key}` };
  return {
    read: (signal) => ask(api.GET('/connect/session', { headers, signal })),
    connect: async (body) => {
      await ask(api.POST('/connect/session/instance', { headers, body }));
    },
    authorize: async (body) => (await ask(api.POST('/connect/session/authorization', { headers, body }))).url,
    cancel: async () => {
      await ask(api.DELETE('/connect/session', { headers }));
    },
  };
}

/** The key is of no session, or of one that is long over. */
export function isUnknown(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 401 || error.status === 404);
}
