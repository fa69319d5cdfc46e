import { randomUUID } from 'node:crypto';
import {
  type Call,
  escapeMarkup,
  type Fault,
  json,
  type SimulatedResponse,
  type TableRow,
  xml,
} from '#connector/simulator';

/**
 * Prints JSON for clients that accept it, and XML for all others.
 * @param nouns the names of the XML elements: the element around all, and the element around each item of a list
 */
export function print(
  { headers }: Call,
  nouns: readonly [all: string, one?: string],
  content: TableRow,
): SimulatedResponse {
  if (/\bjson\b/i.test(headers.accept ?? '')) return json(content);
  return xml(`<?xml version="1.0" encoding="utf-8"?>${elementOf(nouns[0], content, nouns[1])}`);
}

function elementOf(name: string, value: unknown, one = ''): string {
  if (value == null) return `<${name} xsi:nil="true" />`;
  if (typeof value !== 'object') return `<${name}>${escapeMarkup(String(value))}</${name}>`;
  const inner = Array.isArray(value)
    ? value.map((each) => elementOf(one, each))
    : Object.entries(value).map(([member, each]) => elementOf(member, each, one));
  return `<${name} xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">${inner.join('')}</${name}>`;
}

const MESSAGES: Readonly<Record<number, string>> = {
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

/** Prints an error in the form of version 3, and for the log-in in the form of OAuth with a number. */
export function printFault(fault: Fault, path: string, nowMs: number): SimulatedResponse {
  const { status, headers } = fault;
  const message = MESSAGES[status] ?? fault.message;
  if (path.startsWith('/oauth2/')) {
    return json({ code: status, error: 'invalid_request', error_description: message }, status, headers);
  }
  const time = new Date(nowMs).toISOString().slice(0, 19);
  const error = { Message: message, 'Server-Time': time, Id: randomUUID().toUpperCase() };
  return json({ Error: error }, status, headers);
}
