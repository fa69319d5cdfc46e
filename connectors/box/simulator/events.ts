import { randomBytes } from 'node:crypto';
import { type Answer, type Call, json, type MovableClock } from '#connector/simulator';
import { type Drive, type ItemChange, isThere, wholeSecond } from './drive.ts';
import { BoxFault, badPage, invalid } from './faults.ts';
import { ME, type Row } from './rows.ts';
import { oneOf } from './search.ts';
import { printTime, standard } from './show.ts';

export type Happening =
  | 'created'
  | 'uploaded'
  | 'moved'
  | 'renamed'
  | 'trashed'
  | 'downloaded'
  | 'tagged'
  | 'described';

/** What a change was, as users see it. What goes into the trash with its folder is not told of. */
export function happeningsOf({ before, after }: ItemChange, drive: Drive): readonly Happening[] {
  if (before === undefined) return ['created'];
  if (isThere(before) && !isThere(after)) return isInTrash(after, drive) ? [] : ['trashed'];
  const all: readonly (readonly [happening: Happening, hasHappened: boolean])[] = [
    ['uploaded', before.version !== after.version],
    ['moved', before.parent !== after.parent],
    ['renamed', before.name !== after.name],
    ['tagged', before.tags !== after.tags],
    ['described', before.description !== after.description],
  ];
  return all.filter(([, hasHappened]) => hasHappened).map(([happening]) => happening);
}

function isInTrash(row: Row, drive: Drive): boolean {
  return drive.pathOf(row).some((folder) => !isThere(folder));
}

interface Event {
  readonly [member: string]: unknown;
  readonly event_type: string;
}

const TYPES: Readonly<Record<Happening, string>> = {
  ...{ created: 'ITEM_CREATE', uploaded: 'ITEM_UPLOAD', moved: 'ITEM_MOVE', renamed: 'ITEM_RENAME' },
  ...{ trashed: 'ITEM_TRASH', downloaded: 'ITEM_DOWNLOAD', tagged: 'TAG_ITEM_CREATE', described: 'ITEM_MODIFY' },
};
/** Not in the stream of what changes the tree. */
const ONLY_IN_ALL = ['ITEM_DOWNLOAD', 'TAG_ITEM_CREATE', 'ITEM_MODIFY'];

/** Of the first event; positions are numbers in the stream of a user. */
const FIRST_POSITION = 5_123_456_789_000_000;
const MOST_EVENTS = 500;

/** The stream of the user: all since the simulator was started, the oldest first. */
export function createEvents(drive: Drive, clock: MovableClock) {
  const events: Event[] = [];

  /** The item is as it was at that time. */
  function add(happening: Happening, row: Row): void {
    const type = happening === 'created' && row.type === 'file' ? 'ITEM_UPLOAD' : TYPES[happening];
    const at = printTime(wholeSecond(clock.now()));
    const event_id = randomBytes(20).toString('hex');
    events.push({
      ...{
        type: 'event',
        event_id,
        created_by: ME,
        created_at: at,
        recorded_at: at,
        event_type: type,
        session_id: null,
      },
      source: standard(drive, row),
    });
  }

  /** The last event of an answer comes twice: Box may tell of one more than once. */
  function list({ query }: Call): Answer {
    const stream =
      oneOf(query, 'stream_type', ['all', 'changes', 'sync', 'admin_logs', 'admin_logs_streaming']) ?? 'all';
    if (stream.startsWith('admin'))
      throw new BoxFault(403, 'access_denied_insufficient_permissions', 'Access denied - insufficient permission');
    const start = readPosition(query.get('stream_position'), events.length);
    const end = Math.min(events.length, start + readLimit(query.get('limit')));
    const told = events
      .slice(start, end)
      .filter(({ event_type }) => stream === 'all' || !ONLY_IN_ALL.includes(event_type));
    const entries = [...told, ...told.slice(-1)];
    return json({ chunk_size: entries.length, next_stream_position: FIRST_POSITION + end, entries });
  }

  return { add, list };
}

function readPosition(text: string | null, latest: number): number {
  if (text === 'now') return latest;
  if (text === null || text === '0' || text === 'null') return 0;
  const position = Number(text) - FIRST_POSITION;
  if (position >= 0 && position <= latest) return position;
  throw invalid('stream_position', `Invalid value '${text}'.`);
}

function readLimit(text: string | null): number {
  if (text === null) return 100;
  if (!/^\d{1,9}$/.test(text)) throw badPage('', 'limit');
  return Math.min(MOST_EVENTS, Number(text));
}
