import type { Knex } from 'knex';
import { cutText } from '../errors.ts';
import type { Redactor } from '../redaction.ts';
import type { AuditEntry, AuditSection } from '../trace.ts';
import { json } from './json.ts';

/** Maximum number of characters of the changes in a row, as JSON; of one text in it; and of a path. */
const MAX_CHANGES = 16_384;
const MAX_TEXT = 1_000;
const MAX_PATH = 2_048;
/** The member that stands for others without room. */
const LEFT_OUT = '…';

/** Writes an audit entry. A repeated call, with another status or with more changes, updates the same row. */
export async function writeEntry(via: Knex, entry: AuditEntry, status: number): Promise<void> {
  const { changes, targetId } = entry;
  const { redact } = entry.redactor;
  await via('audit_log')
    .insert({
      at: entry.at,
      request_id: entry.requestId,
      organization_id: entry.organizationId,
      account_id: entry.accountId,
      user_id: entry.userId,
      instance_id: entry.instanceId ?? null,
      method: entry.method,
      resource_uri: cut(redact(entry.resourceUri), MAX_PATH),
      action: entry.action,
      target: entry.target,
      section: sectionOf(entry, status) ?? null,
      target_id: targetId === undefined ? null : cutText(storable(redact(targetId))),
      ip_address: entry.ipAddress ?? null,
      status,
      changes: changes === undefined ? null : json(via, bounded(redacted(changes, redact))),
    })
    .onConflict(['account_id', 'at', 'request_id'])
    .merge(['status', 'action', 'section', 'target_id', 'instance_id', 'changes']);
}

const OF_AUTHENTICATION: readonly string[] = ['login', 'logout', 'show', 'rotate'];
const REFUSED = [401, 403];

function sectionOf({ action, section }: AuditEntry, status: number): AuditSection | undefined {
  return OF_AUTHENTICATION.includes(action) || REFUSED.includes(status) ? 'authentication' : section;
}

type AuditMembers = Readonly<Record<string, unknown>>;

/** Text by text: over a whole JSON a secret could break it. */
function redacted(members: AuditMembers, redact: Redactor['redact']): AuditMembers {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [redactedText(name, redact), redactedValue(value, redact)]),
  );
}

function redactedValue(value: unknown, redact: Redactor['redact']): unknown {
  if (typeof value === 'string') return redactedText(value, redact);
  if (Array.isArray(value)) return value.map((each) => redactedValue(each, redact));
  // A value that has another form in JSON, such as a date, has no members of its own.
  return isPlain(value) ? redacted(value, redact) : value;
}

function isPlain(value: unknown): value is AuditMembers {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function redactedText(text: string, redact: Redactor['redact']): string {
  return cut(storable(redact(text)), MAX_TEXT);
}

/** PostgreSQL accepts every character except NUL, and no half of a surrogate pair. */
function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text;
}

/** Keeps as many members as fit, and counts the rest. */
function bounded(members: AuditMembers): AuditMembers {
  const entries = Object.entries(members);
  let room = MAX_CHANGES;
  const kept = entries.filter(([name, value]) => {
    const size = JSON.stringify([name, value]).length;
    if (size > room) return false;
    room -= size;
    return true;
  });
  const left = entries.length - kept.length;
  return left === 0 ? members : { ...Object.fromEntries(kept), [LEFT_OUT]: `${left} more, too long to be kept` };
}
