/** A command was used incorrectly. The message says what to write instead. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** The user is not logged in, or has chosen no instance. */
export class NotReadyError extends Error {
  override name = 'NotReadyError';
}

/** The service cannot reach this machine. */
export class UnreachableError extends Error {
  override name = 'UnreachableError';
}

/** An upload has ended, and the service could not write some of its rows. */
export class RowsFailedError extends Error {
  override name = 'RowsFailedError';
}

/** No resource has the name on the command line. */
export class NamedNothingError extends Error {
  override name = 'NamedNothingError';
}

/** The formulas on the service differ from their files. */
export class DifferentError extends Error {
  override name = 'DifferentError';
}

/** An execution of a formula ended without success. */
export class ExecutionFailedError extends Error {
  override name = 'ExecutionFailedError';
}
