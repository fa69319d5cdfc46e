import { AppError, type ErrorDetail, listFaults, summarise } from '../errors.ts';

/**
 * Returns one error for all faults of a text, each in `details`. Its message is that of the first fault.
 * @param introduction returns a text in front of the message
 */
export function faultyText(
  code: 'WHERE_SYNTAX' | 'WHERE_INVALID',
  faults: readonly ErrorDetail[],
  introduction: (first: ErrorDetail | undefined) => string = () => '',
): AppError {
  return new AppError(code, `${introduction(faults[0])}${summarise(faults)}`, { details: listFaults(faults) });
}
