/**
 * Why a call failed. `refused`: the policy forbids the address. `invalid`: the request cannot be sent. `connect`, `tls`: there was no
 * connection, so nothing was sent. `reset`: the connection broke; the request may have arrived. `protocol`: the response is not HTTP, or
 * cannot be decoded. `no-room`: `takeBytes` of the caller returned false. `aborted`: by the caller's signal, or by `close`.
 */
export type EgressReason =
  | 'refused'
  | 'invalid'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'reset'
  | 'too-large'
  | 'no-room'
  | 'protocol'
  | 'aborted';

/**
 * The error of a call. Its message names only hosts and limits, never a header, a path or a query, so callers may read it. The `cause` is
 * for the log.
 */
export class EgressError extends Error {
  override readonly name = 'EgressError';
  readonly reason: EgressReason;

  constructor(reason: EgressReason, message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}
