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

/** The state while the provider's window is open, or was blocked. */
export interface Away {
  /** The session as it was before the window opened. A later version has the outcome. */
  readonly since: SessionState;
  readonly isBlocked: boolean;
}

export interface ConnectingProps {
  readonly session: SessionState;
  readonly element: OfferedElement;
  readonly calls: SessionCalls;
  /** Whether a provider has redirected the browser to this page. */
  readonly isReturned: boolean;
  /** Requests the session again. */
  readonly reload: () => void;
  readonly isAsking: boolean;
  /** Requests the session again. If it has ended now, an action on this page ended it. */
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
    // In a pop-up window or a frame, this page must stay open to report to the page that shows it. Some providers cut the link between the
    // two, so that the provider gets a window of its own.
    if (!isReported) return location.assign(await calls.authorize({ ...given, opener: 'page' }));
    const isOpen = await openWindow(() => calls.authorize({ ...given, opener: 'popup' }));
    setAway({ since: session, isBlocked: !isOpen });
    onDone();
  };
  const send = useAction(() => unlessEnded(attempt, reload));

  // The outcome of the provider's window appears in the session after some time.
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
    /** Sends the values if none has a fault. @returns the key of the first field with a fault */
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

/** Runs the work. If the session has ended meanwhile, it reloads the session, which shows the outcome. */
export async function unlessEnded(work: () => Promise<void>, reload: () => void): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'CONFLICT') throw error;
    reload();
  }
}
