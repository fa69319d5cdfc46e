import type { ProxyRow } from './proxy-store.ts';

/** Client credentials with a redirect URL of their own. They are `accountId`'s, and for the use of its whole organization. */
export interface OAuthProxy extends Omit<ProxyRow, 'apiSecret'> {
  /** Ciphertext. */
  readonly sealedSecret: string;
  /** The redirect URL to register at the provider. */
  readonly proxyUrl: string;
}

export interface NewProxy {
  readonly name: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly configuration?: string | undefined;
}

/** What changes of a proxy. Its URL stays, so that nothing has to be registered anew. */
export interface ProxyChanges extends Partial<NewProxy> {
  /** They cannot change: they are taken as they are from whoever sends a proxy as it was read. */
  readonly id?: number | undefined;
  readonly proxyUrl?: string | undefined;
}
