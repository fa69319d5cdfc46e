import { AppError, type ErrorDetail, listFaults, summarise } from '../errors.ts';

/** One error for all faults of a text; the message is the first one's. */
export function faultyText(
  code: 'WHERE_SYNTAX' | 'WHERE_INVALID',
  faults: readonly ErrorDetail[],
  introduction: (first: ErrorDetail | undefined) => string = () => '',
): AppError {
  return new AppError(code, `${introduction(faults[0])}${summarise(faults)}`, { details: listFaults(faults) });
}
