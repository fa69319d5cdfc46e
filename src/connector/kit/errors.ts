import type { Connector, FailureKind, ProviderResponse } from '../contract.ts';

/** A description of a provider's error responses. */
export interface ErrorOptions {
  /** Returns the provider's own words about a failure. */
  readonly message?: (response: ProviderResponse) => string | undefined;
  /** Returns the provider's code of a failure, where it says more than the status. */
  readonly code?: (response: ProviderResponse) => string | number | undefined;
  /** The kinds of failure by code, where a code says more than the status. For any other code the status decides, as for every provider. */
  readonly kinds?: Readonly<Record<string | number, FailureKind>>;
  /** Returns whether a response with a status of success is a failure. */
  readonly isFailure?: (response: ProviderResponse) => boolean;
  /** Returns the part of a response that has its own status, such as one response of a batch; undefined where there is none. */
  readonly part?: (response: ProviderResponse) => Pick<ProviderResponse, 'status' | 'body'> | undefined;
}

/** Returns a `Connector.classify` that finds the failure and its words in a response. */
export function errors({
  message,
  code,
  kinds = {},
  isFailure,
  part,
}: ErrorOptions): NonNullable<Connector['classify']> {
  const kindByCode = new Map<string, FailureKind>(Object.entries(kinds));
  return (response) => {
    const found = part?.(response);
    const judged = { ...response, ...found };
    if (judged.status < 300 && isFailure?.(judged) !== true) return undefined;
    return {
      kind: kindByCode.get(String(code?.(judged))),
      ...(found !== undefined && { status: found.status }),
      message: message?.(judged),
    };
  };
}
