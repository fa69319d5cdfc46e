import { toUnreadable } from '../connector/client/index.ts';
import { json, type NativeIngest, type NativeJob, type NativeStates } from '../connector/index.ts';
import { type AppError, cutText, isAppError } from '../errors.ts';
import type { InstanceCall } from './call.ts';

/** What the core does with every job of a provider, whatever it is for. */

type JobStates = NativeStates & Partial<Pick<NativeIngest['states'], 'open'>>;

/** What a provider says of its job. */
export interface JobLook {
  readonly meaning: keyof JobStates;
  /** In the provider's words. */
  readonly state: string;
  /** Why it failed. */
  readonly said?: string;
}

/** @throws AppError as calls do; PROVIDER_PROTOCOL for a state that the connector does not name */
export async function lookAtJob(
  call: InstanceCall,
  { status, state: place, states, message }: NativeJob | NativeIngest,
  id: string,
): Promise<JobLook> {
  const { body } = await call.send(status(id, call.instance.config));
  const state = readAs(call, () => json.text(json.at(body, ...place), 'the state of the job'));
  const said = message === undefined ? undefined : json.findText(json.at(body, ...message));
  return { meaning: readAs(call, () => meaningOf(states, state)), state, ...(said !== undefined && { said }) };
}

/** Only jobs that write are open first. */
function meaningOf({ open = [], running, done, failed }: JobStates, state: string): JobLook['meaning'] {
  if (open.includes(state)) return 'open';
  if (running.includes(state)) return 'running';
  if (done.includes(state)) return 'done';
  if (failed.includes(state)) return 'failed';
  throw new Error(`Nobody knows what it means that the job is ${cutText(state)}.`);
}

/** Of what the answer to a start says. @throws AppError PROVIDER_PROTOCOL without one */
export function jobIdIn(call: InstanceCall, { id }: Pick<NativeJob, 'id'>, body: unknown): string {
  return readAs(call, () => json.key(json.at(body, ...id), 'the id of the job'));
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

/** Until the next look: twice as long each time. @param looks so far */
export function waitForJobMs(looks: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** Math.min(looks, 10), LONGEST_WAIT_MS);
}

/** Lets the provider forget a job; one that may be at work is broken off first. @throws what calls of the provider do */
export async function endJob(
  call: InstanceCall,
  { abort, remove }: Pick<NativeJob, 'abort' | 'remove'>,
  end: NativeEnd,
): Promise<void> {
  const { config } = call.instance;
  if (!end.isDone && abort !== undefined) await passOver(call.send(abort(end.id, config)));
  if (remove !== undefined && end.isKept !== true) await passOver(call.send(remove(end.id, config)));
}

export interface NativeEnd {
  readonly id: string;
  /** It was read to its end. */
  readonly isDone: boolean;
  /** Somebody may still ask what it did. */
  readonly isKept?: boolean;
}

/** It has ended already, or is not there any more. */
export async function passOver(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isAppError(error, 'PROVIDER_REJECTED', 'NOT_FOUND', 'CONFLICT')) throw error;
  }
}

/** @throws AppError PROVIDER_PROTOCOL where the answer is not what the connector says of it */
export function readAs<Read>(call: InstanceCall, read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    throw unreadable(call, error);
  }
}

export function unreadable({ instance }: InstanceCall, error: unknown): AppError {
  return toUnreadable(instance, error);
}
