import { judgeResponse } from '../src/connector/client/failure.ts';
import type { Connector, Failure, FailureKind, ProviderResponse } from '../src/connector/contract.ts';

/** Returns the provider client's judgement of a response, including that of the connector. Undefined for a success. */
export function judge(
  { classify }: Pick<Connector, 'classify'>,
  response: ProviderResponse,
  method = 'GET',
): (Failure & { readonly kind: FailureKind }) | undefined {
  const said = classify?.(response);
  if (said === null) return undefined;
  const judged = judgeResponse(said, response.status, method);
  if (judged === undefined) return undefined;
  const { kind, message } = judged;
  return message === undefined ? { kind } : { kind, message };
}
