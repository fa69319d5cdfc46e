import { BAD_BODY, Fault, json, type SimulatedResponse } from '#connector/simulator';

/** Returns an error with Fortnox's code and message, from its page on errors or from recorded responses. */
export function refused(code: number, message: string): Fault {
  return new Fault(400, String(code), message);
}

/** Returns the error for a parameter, or a value of one, that the list does not have. */
export const badParameter = () => refused(2_000_588, 'Ogiltig parameter i anropet.');
export const badData = () => refused(2_001_392, 'Ingen eller felaktig typ av data.');
export const badLogin = () => new Fault(403, '2000310', 'Ogiltig inloggning');

const OWN_CODE = /^\d+$/;
/** The codes and messages for the errors that the kit throws. */
const KNOWN: Readonly<Record<number | string, readonly [number, string]>> = {
  [BAD_BODY]: [2_002_115, 'Error deserializing JSON: JSON_ERROR_SYNTAX'],
  404: [2_000_729, 'A valid identifier was not provided.'],
  405: [2_000_729, 'A valid identifier was not provided.'],
};

/**
 * Prints an error. Errors of Fortnox's own code have an `ErrorInformation`. Its members are in lower case for a bad request, and
 * capitalized for a missing log-in or record. The gateway in front of it sends 401 and 429 with only a `message`.
 */
export function print({ status, code, message, headers }: Fault): SimulatedResponse {
  if (status === 401 || status === 429) {
    return json({ message: status === 401 ? 'unauthorized' : 'Too Many Requests' }, status, headers);
  }
  const [number, text] = OWN_CODE.test(code)
    ? [Number(code), message]
    : (KNOWN[code] ?? KNOWN[status] ?? [1_000_003, 'System exception']);
  const isLarge = status === 403 || status === 404;
  const information = isLarge ? { Error: 1, Message: text, Code: number } : { error: 1, message: text, code: number };
  return json({ ErrorInformation: information }, status, headers);
}
