import { ApiError, api, ask, type Schemas } from '../api.ts';

/** The connect session of the page, which is requested by the key at the end of its address. */

export type SessionState = Schemas['ConnectPage'];
export type OfferedElement = Schemas['ConnectElement'];
export type Field = Schemas['ConfigurationField'];
/** The entered values by the keys of their fields. */
export type Values = Readonly<Record<string, string | boolean>>;

/** Whether the provider's page opens in a separate window or in the window of this page. */
type Opener = 'popup' | 'page';

interface Given {
  readonly elementKey: string;
  readonly configuration: Values;
}

/** The requests that the page of a session sends. All of them @throws ApiError */
export interface SessionCalls {
  readonly read: (signal: AbortSignal) => Promise<SessionState>;
  /** Connects the account with the entered values alone. */
  readonly connect: (given: Given) => Promise<void>;
  /** Returns the URL of the provider's authorization page, which works once and only for a short time. */
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

/** Returns whether no session has the key, or the session was deleted after its end. */
export function isUnknown(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 401 || error.status === 404);
}
