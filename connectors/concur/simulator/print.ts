import { randomUUID } from 'node:crypto';
import { type Answer, type Call, escapeMarkup, type Fault, json, xml } from '#connector/simulator';

/** JSON for those who accept it, and XML for all others. @param root of the XML */
export function print({ headers }: Call, root: string, content: Readonly<Record<string, unknown>>): Answer {
  if (/\bjson\b/i.test(headers.accept ?? '')) return json(content);
  return xml(`<?xml version="1.0" encoding="utf-8"?>${elementOf(root, content, root, SPACES)}`);
}

const SPACES = ' xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
const SINGULARS: Readonly<Record<string, string>> = { Reports: 'Report', Entries: 'Entry' };

/** Identifiers stand first in XML, and last in JSON. */
function elementOf(name: string, value: unknown, root: string, attributes = ''): string {
  if (value === null || value === undefined) return `<${name} xsi:nil="true" />`;
  if (typeof value !== 'object') return `<${name}>${escapeMarkup(String(value))}</${name}>`;
  const inner = Array.isArray(value)
    ? value.map((each) => elementOf(SINGULARS[root] ?? root, each, root))
    : membersOf(value).map(([member, each]) => elementOf(member, each, root));
  return inner.length === 0 ? `<${name}${attributes} />` : `<${name}${attributes}>${inner.join('')}</${name}>`;
}

function membersOf(value: object): readonly (readonly [string, unknown])[] {
  const isFirst = (name: string) => Number(name === 'ID' || name === 'URI');
  return Object.entries(value).toSorted(([a], [b]) => isFirst(b) - isFirst(a));
}

const MESSAGES: Readonly<Record<number, string>> = {
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

/** The form of version 3, and below the login that of OAuth with a number. */
export function printFault(fault: Fault, path: string, nowMs: number): Answer {
  const { status, headers } = fault;
  const message = MESSAGES[status] ?? fault.message;
  if (path.startsWith('/oauth2/')) {
    return json({ code: status, error: 'invalid_request', error_description: message }, status, headers);
  }
  const time = new Date(nowMs).toISOString().slice(0, 19);
  const error = { Message: message, 'Server-Time': time, Id: randomUUID().toUpperCase() };
  return json({ Error: error }, status, headers);
}
