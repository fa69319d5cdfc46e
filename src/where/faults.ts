import { AppError, type ErrorDetail } from '../errors.ts';

/** More faults than anyone reads at once: 16 KB of quotes would otherwise be answered with a megabyte. */
const MAX_DETAILS = 50;

/** One error for all faults of a text; the message is the first one's. */
export function faultyText(
  code: 'WHERE_SYNTAX' | 'WHERE_INVALID',
  faults: readonly ErrorDetail[],
  introduction: (first: ErrorDetail | undefined) => string = () => '',
): AppError {
  const [first] = faults;
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more, see details)` : '';
  return new AppError(code, `${introduction(first)}${first?.message}${more}`, {
    details: faults.slice(0, MAX_DETAILS),
  });
}
