import { BAD_BODY, Fault, json, type SimulatedResponse } from '#connector/simulator';
import { printMoment } from './time.ts';

/** The provider's error numbers and their messages. The detail is the fault's own message. */
const MESSAGES: Readonly<Record<string, string>> = {
  500: 'Unsupported Operation',
  610: 'Object Not Found',
  2010: 'Request has invalid or unsupported property',
  2020: 'Required param missing, need to supply the required value for the API',
  2030: 'Invalid ID',
  2050: 'String length is either shorter or longer than supported by specification',
  2500: 'Invalid Reference Id',
  4000: 'Error parsing query',
  4001: 'Invalid query',
  5010: 'Stale Object Error',
  6000: 'A business validation error has occurred while processing your request',
  6240: 'Duplicate Name Exists Error',
};

/**
 * Returns the error 400.
 * @param code one of the provider's numbers
 * @param element the member with the error
 */
export function invalid(code: number, detail: string, element?: string): Fault {
  return new Fault(400, String(code), detail, element === undefined ? {} : { fields: [element] });
}

export const unparsable = (detail: string) => invalid(4000, `QueryParserError: ${detail}`);
export const invalidQuery = (detail: string) => invalid(4001, `QueryValidationError: ${detail}`);
export const unsupported = (operation: string) => invalid(500, `Operation ${operation} is not supported.`);

/** Returns the error for a missing record. Its capitalization is that of recorded responses. */
export const notFound = () =>
  invalid(
    610,
    "Object Not Found : Something you're trying to use has been made inactive. Check the fields with accounts, customers, items, vendors or employees.",
  );

/** Errors of the gateway in front of the API. They have a form of their own, in lower case. */
const GATEWAY: Readonly<Record<number, readonly [word: string, code: string, type: string]>> = {
  401: ['AuthenticationFailed', '003200', 'AUTHENTICATION'],
  403: ['ApplicationAuthorizationFailed', '003100', 'SERVICE'],
  429: ['ThrottleExceeded', '003001', 'SERVICE'],
};

/**
 * Prints an error.
 * @param nowMs the current time of the provider
 */
export function printFault(fault: Fault, nowMs: number): SimulatedResponse {
  const { status, message, headers } = fault;
  const gateway = GATEWAY[status];
  if (gateway !== undefined) return json(gatewayFault(status, message, gateway, nowMs), status, headers);
  const [code, detail] = codeOf(fault);
  const [element] = fault.fields;
  const error = { Message: messageOf(code), Detail: detail, code, ...(element !== undefined && { element }) };
  const type = status < 500 ? 'ValidationFault' : 'SystemFault';
  const sentStatus = status === 405 ? 400 : status;
  return json({ Fault: { Error: [error], type }, time: printMoment(nowMs) }, sentStatus, headers);
}

function messageOf(code: string): string {
  return MESSAGES[code] ?? 'An application error has occurred while processing your request';
}

/** Returns the provider's number and the detail for an error of the kit. */
function codeOf({ status, code, message }: Fault): readonly [code: string, detail: string] {
  if (Object.hasOwn(MESSAGES, code)) return [code, message];
  if (code === BAD_BODY) {
    const property = 'failed to parse json object; a property specified is unsupported or invalid';
    return ['2010', `Property Name:${property} specified is unsupported or invalid`];
  }
  return status === 404 || status === 405 ? ['500', message] : ['10000', message];
}

function gatewayFault(
  status: number,
  message: string,
  [word, number, type]: readonly [string, string, string],
  nowMs: number,
) {
  const error = {
    message: `message=${word}; errorCode=${number}; statusCode=${status}`,
    detail: status === 401 ? message : null,
    code: String(Number(number)),
    element: null,
  };
  return {
    ...{ warnings: null, intuitObject: null, fault: { error: [error], type }, report: null, queryResponse: null },
    ...{ batchItemResponse: [], attachableResponse: [], syncErrorResponse: null, requestId: null, time: nowMs },
    ...{ status: null, cdcresponse: [] },
  };
}
