import { type DestinationStream, type Logger as Pino, pino } from 'pino';
import { type Clock, SYSTEM_CLOCK } from './clock.ts';
import type { LogLevel } from './config/index.ts';
import { CENSOR, combineRedactors, isSecretName, NO_SECRETS, type Redactor } from './redaction.ts';
import { currentSpan, currentTrace, type Span, type Trace } from './trace.ts';

/**
 * Writes one line: what it is about, and a message. An error in place of a record is written as `err`. A record may bring the `redactor` of
 * the call that the line is about, which is not written.
 */
type Write = (record: object | string, message?: string) => void;

/**
 * Writes one JSON object per line. It redacts the secrets of the process and of the current call, and values under names of secrets. Lines
 * that are written during a request have its id.
 */
export interface Logger extends Readonly<Record<Level, Write>> {
  /** Returns a logger that adds the bindings to each line. */
  readonly child: (bindings: object) => Logger;
}

type Level = 'debug' | 'info' | 'warn' | 'error' | 'fatal';

interface LoggerOptions {
  readonly level: LogLevel;
  /** Redacts the secrets of the process. */
  readonly redactor?: Redactor;
  /** Stream that lines are written to. Default: standard output. */
  readonly destination?: DestinationStream;
  readonly clock?: Clock;
}

export function createLogger(given: LoggerOptions): Logger {
  const { level, redactor = NO_SECRETS, destination, clock = SYSTEM_CLOCK } = given;
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    // pino would make its own of what is copied here.
    serializers: { err: (copied: unknown) => copied },
  };
  return wrap(pino(options, destination ?? openOutput()), redactor);
}

/** Bytes. */
const LEAST_WRITTEN = 8 * 1024;
/** Maximum time that a line waits for others. */
const FLUSH_MS = 20;

/** Standard output, many lines at a time: a write per line would cost each request a system call. What waits is written at exit and by `fatal`. */
function openOutput(): DestinationStream & { readonly flushSync: () => void } {
  const output = pino.destination({ dest: 1, sync: false, minLength: LEAST_WRITTEN });
  let isDue = false;
  return {
    write: (line) => {
      output.write(line);
      if (isDue) return;
      isDue = true;
      SYSTEM_CLOCK.after(FLUSH_MS, () => {
        isDue = false;
        output.flush();
      });
    },
    flushSync: () => output.flushSync(),
  };
}

/** Before a line is printed, so that it is well-formed JSON whatever a secret is. */
function wrap(log: Pino, ofProcess: Redactor): Logger {
  const write =
    (level: Level): Write =>
    (first, text) => {
      if (!log.isLevelEnabled(level)) return;
      const record: LogFields = typeof first === 'string' ? {} : first instanceof Error ? { err: first } : first;
      const said = typeof first === 'string' ? first : (text ?? messageOf(record.err));
      const trace = currentTrace();
      const known = [ofProcess, trace?.redactor, record.redactor].filter((one) => one !== undefined);
      const copy = createCopy(known.length === 1 ? ofProcess : combineRedactors(known));
      const line = copy.members(record, 0, contextOf(trace, currentSpan()));
      log[level](line, said === undefined ? undefined : copy.text(said));
    };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    fatal: write('fatal'),
    child: (bindings) => wrap(log.child(createCopy(ofProcess).members(bindings, 0, {})), ofProcess),
  };
}

interface LogFields {
  readonly redactor?: Redactor;
  readonly err?: unknown;
}

function messageOf(error: unknown): string | undefined {
  return error instanceof Error ? error.message : undefined;
}

/** Returns the ids of the request and the span during which the line is written. */
function contextOf(trace: Trace | undefined, span: Span | undefined): Record<string, unknown> {
  const context: Record<string, unknown> = {};
  if (trace !== undefined) context.requestId = trace.requestId;
  // As OpenTelemetry calls them in logs that are not its own.
  if (span !== undefined) {
    context.trace_id = span.traceId;
    context.span_id = span.spanId;
  }
  return context;
}

/** Maximum text and number of values in a line. The rest is left out, because a body in an error can have a million values. */
const MAX_CHARACTERS = 32_768;
const MAX_VALUES = 1_000;
const MAX_DEPTH = 8;
const OMITTED = '[…]';

/** OAuth uses the name `code` for a secret. Numbers are kept: they are counts, or the exit code of a process. */
function isSecret(name: string, value: unknown): boolean {
  const isText = typeof value === 'string' || (typeof value === 'object' && value !== null);
  return isText && (isSecretName(name) || /^code$/i.test(name));
}

/** Copies what is to be written, without secrets. */
function createCopy({ redact }: Redactor) {
  let characters = 0;
  let values = 0;

  function copyText(text: string): string {
    const room = MAX_CHARACTERS - characters;
    characters += text.length;
    return text.length > room ? `${redact(text.slice(0, Math.max(0, room)))}…` : redact(text);
  }

  function copyValue(value: unknown, depth: number): unknown {
    values += 1;
    if (values > MAX_VALUES || depth > MAX_DEPTH) return OMITTED;
    if (typeof value === 'string') return copyText(value);
    if (typeof value !== 'object' || value === null) return value;
    if (value instanceof Error) return copyError(value, depth);
    if (Array.isArray(value)) return value.slice(0, MAX_VALUES).map((item) => copyValue(item, depth + 1));
    if ('toJSON' in value && typeof value.toJSON === 'function') return copyValue(value.toJSON(), depth + 1);
    return copyMembers(value, depth);
  }

  /** Adds the members of `value` to the copy. */
  function copyMembers(value: object, depth: number, copy: Record<string, unknown> = {}): Record<string, unknown> {
    let left = MAX_VALUES;
    const members: Readonly<Record<string, unknown>> = Object(value);
    for (const name of Object.keys(members)) {
      if (left-- === 0) break;
      const member = members[name];
      // A redactor is for the line, and in no line. By that one name an assignment would set what the copy inherits from.
      if ((depth === 0 && name === 'redactor') || name === '__proto__') continue;
      copy[name] = isSecret(name, member) ? CENSOR : copyValue(member, depth + 1);
    }
    return copy;
  }

  function copyError(error: Error, depth: number): Record<string, unknown> {
    const { message, stack, cause } = error;
    // An error's `code` is no secret, although OAuth uses this name for one.
    const { code, ...members }: Readonly<Record<string, unknown>> = { ...error };
    return {
      type: error.constructor.name,
      ...copyMembers({ message, stack, ...(cause !== undefined && { cause }), ...members }, depth),
      ...(code !== undefined && { code: copyValue(code, depth + 1) }),
      ...(error instanceof AggregateError && { aggregateErrors: copyValue(error.errors, depth + 1) }),
    };
  }

  return { text: copyText, members: copyMembers };
}
