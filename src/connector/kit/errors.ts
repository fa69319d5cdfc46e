import type { Connector, FailureKind, ProviderResponse } from '../contract.ts';

export interface ErrorOptions {
  /** The provider's words, for people. */
  readonly message?: (response: ProviderResponse) => string | undefined;
  /** The provider's code of a failure, where it says more than the status. */
  readonly code?: (response: ProviderResponse) => string | number | undefined;
  /** What the codes mean that the status does not say. Without one the status decides, the same for every provider. */
  readonly kinds?: Readonly<Record<string | number, FailureKind>>;
  /** Whether an answer with a status of success is a failure nevertheless. */
  readonly isFailure?: (response: ProviderResponse) => boolean;
  /** The part of an answer that has a status of its own, e.g. inside a composite answer; undefined where there is none. */
  readonly part?: (response: ProviderResponse) => Pick<ProviderResponse, 'status' | 'body'> | undefined;
}

/** Finds the failure in an answer and its words: `Connector.classify`, from data. */
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
