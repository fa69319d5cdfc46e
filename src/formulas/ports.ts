import type { Readable } from 'node:stream';

/** A request to the own API on behalf of a user. */
export interface ApiCall {
  readonly caller: { readonly accountId: number; readonly userId: number; readonly instanceId?: number | undefined };
  readonly method: string;
  /** Path below the base path, with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | Readable | undefined;
  readonly signal: AbortSignal;
}

/** Calls the API of this service inside of the process. Responses are those of HTTP. */
export type CallApi = (call: ApiCall) => Promise<{
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** It must be read to its end, or destroyed. */
  readonly body: Readable;
}>;
