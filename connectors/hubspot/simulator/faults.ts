import { randomUUID } from 'node:crypto';
import { Fault, json, type SimulatedResponse } from '#connector/simulator';

/** The message of a record or a path that does not exist. */
export const NOT_FOUND = 'resource not found';
/** The beginning of a message with the faults of properties as JSON. */
export const NOT_VALID = 'Property values were not valid: ';
/** The window of the limit of searches. */
export const SEARCH_WINDOW_MS = 1000;

/** Returns the error for a request that HubSpot does not accept. */
export function invalid(message: string, ...fields: readonly string[]): Fault {
  return new Fault(400, 'VALIDATION_ERROR', message, { fields });
}

/** Prints an error as recorded responses have it. */
export function print({ status, code, message, fields, headers }: Fault): SimulatedResponse {
  const envelope = { status: 'error', correlationId: randomUUID() };
  if (status === 429) {
    const [policyName, policy] = message.includes(` ${SEARCH_WINDOW_MS} ms`)
      ? ['SECONDLY', 'secondly']
      : ['TEN_SECONDLY_ROLLING', 'ten_secondly_rolling'];
    const limited = { message: `You have reached your ${policy} limit.`, errorType: 'RATE_LIMIT', policyName };
    return json({ ...envelope, ...limited, category: 'RATE_LIMITS' }, status, headers);
  }
  const faults: readonly Readonly<Record<string, unknown>>[] = message.startsWith(NOT_VALID)
    ? JSON.parse(message.slice(NOT_VALID.length))
    : [];
  const errors = [
    ...faults.map(({ message: text, error: code, name }) => ({
      message: text,
      code,
      context: { propertyName: [name] },
    })),
    ...fields.map((name) => ({ message, in: name })),
  ];
  const category = code === 'OBJECT_NOT_FOUND' ? undefined : code;
  return json({ ...envelope, message, ...(errors.length > 0 && { errors }), category }, status, headers);
}
