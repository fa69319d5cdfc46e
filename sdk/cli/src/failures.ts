/** A command was used in a wrong way. The message says what to write instead. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Nobody is logged in, or no instance is chosen. */
export class NotReadyError extends Error {
  override name = 'NotReadyError';
}

/** The service cannot reach this machine. */
export class UnreachableError extends Error {
  override name = 'UnreachableError';
}

/** An upload has ended, and some of its rows were not written. */
export class RowsFailedError extends Error {
  override name = 'RowsFailedError';
}
