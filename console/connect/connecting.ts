import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../api.ts';
import { useAction } from '../load.ts';
import { findFaults, givenOf, initialValues } from './check.ts';
import { type Failed, failedOf, faultsOf } from './failure.tsx';
import { isReported } from './host.ts';
import { openWindow } from './provider-window.ts';
import type { OfferedElement, SessionCalls, SessionState, Values } from './session.ts';

/** The steps for connecting one account: its values, the action in progress and the outcome. */

type Faults = Readonly<Record<string, string>>;

/** A provider's window is open, or should be. */
export interface Away {
  /** The session as it was known before. */
  readonly since: SessionState;
  readonly isBlocked: boolean;
}

export interface ConnectingProps {
  readonly session: SessionState;
  readonly element: OfferedElement;
  readonly calls: SessionCalls;
  /** Whether this window comes back from a provider. */
  readonly isReturned: boolean;
  /** Requests the session again. */
  readonly reload: () => void;
  readonly isAsking: boolean;
  /** The same: if the session has ended now, it was by what was done here. */
  readonly onDone: () => void;
}

export function useConnecting({ session, element, calls, isReturned, reload, onDone }: ConnectingProps) {
  const { key: elementKey, fields, authorizes } = element;
  const [values, setValues] = useState(() => initialValues(fields));
  const [faults, setFaults] = useState<Faults>({});
  const [away, setAway] = useState<Away>();
  const [ofLastTry, setOfLastTry] = useState<Failed | undefined>(isReturned ? session.error : undefined);

  const attempt = async () => {
    setOfLastTry(undefined);
    const given = { elementKey, configuration: givenOf(fields, values) };
    if (!authorizes) return calls.connect(given).then(onDone);
    // A page that opened this one loses sight of it at some providers: there it stays, and they have a window of their own.
    if (!isReported) return location.assign(await calls.authorize({ ...given, opener: 'page' }));
    const isOpen = await openWindow(() => calls.authorize({ ...given, opener: 'popup' }));
    setAway({ since: session, isBlocked: !isOpen });
    onDone();
  };
  const send = useAction(() => unlessEnded(attempt, reload));

  // The outcome of a provider's window appears in the session, sooner or later.
  useEffect(() => {
    if (away === undefined || session === away.since || session.error === undefined) return;
    setOfLastTry(session.error);
    setAway(undefined);
  }, [away, session]);
  useEffect(() => setFaults(faultsOf(send.error)), [send.error]);

  return {
    values,
    faults,
    away,
    isBusy: send.isRunning,
    failed: send.error === undefined ? ofLastTry : failedOf(send.error),
    setValue: (key: string, value: Values[string]) => {
      setValues((before) => ({ ...before, [key]: value }));
      setFaults(({ [key]: _, ...others }) => others);
    },
    /** @returns the key of the first field that has a fault, and then sends nothing */
    submit: (): string | undefined => {
      const found = findFaults(fields, values);
      setFaults(found);
      const [first] = Object.keys(found);
      if (first === undefined) send.run();
      return first;
    },
    openAgain: () => send.run(),
    goBack: () => setAway(undefined),
  };
}

/** A session that has ended meanwhile says so itself. */
export async function unlessEnded(work: () => Promise<void>, reload: () => void): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'CONFLICT') throw error;
    reload();
  }
}
