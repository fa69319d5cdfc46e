import { AppError } from '../errors.ts';

/**
 * Builds a provider path and percent-encodes every value, so that an id cannot leave its segment: path`/employees/${id}`.
 * @throws AppError NOT_FOUND for a value of one or two dots: URL parsers remove such a segment even when it is encoded.
 */
export function path(strings: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  return strings.reduce((built, text, index) => built + encodeSegment(values[index - 1]) + text);
}

function encodeSegment(value: string | number | undefined): string {
  const text = String(value);
  if (text === '.' || text === '..') throw new AppError('NOT_FOUND', `There is no record with the id '${text}'.`);
  return encodeURIComponent(text);
}
