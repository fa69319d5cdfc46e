import { useEffect, useRef, useState } from 'preact/hooks';
import { listen, type Sent } from '../oauth-channel.ts';
import { isWebUrl } from './form-values.ts';

export const CALLBACK_URL = `${location.origin}/oauth/callback`;

const WINDOW = 'popup,width=560,height=720';
const LOOK_MS = 400;

/** The provider, or the user on its page, refused access. */
export class NotAuthorized extends Error {
  override readonly name = 'NotAuthorized';
}

/** The state while the user authorizes in a window of the provider. */
export interface Waiting {
  /** State of the window. `closed` may also mean that the provider's page hides its window from this one, so the wait continues. */
  readonly window: 'open' | 'closed' | 'blocked';
  /** Opens the provider's page again. */
  readonly reopen: () => void;
  readonly cancel: () => void;
}

export interface WindowLogIn {
  readonly waiting: Waiting | undefined;
  /**
   * Opens the window. It must be called during a click, or the browser blocks the window.
   * @param begin returns the address of the provider's page, for a state
   * @throws NotAuthorized; the errors of `begin`
   */
  readonly authorize: (
    name: string,
    begin: (state: string) => Promise<string>,
    stateOf?: (random: string) => string,
  ) => Promise<Sent>;
}

/** Lets the user log in at a provider in a separate window. */
export function useAuthorization(): WindowLogIn {
  const [waiting, setWaiting] = useState<Waiting>();
  const cancel = useRef<(() => void) | undefined>(undefined);
  const isGone = useRef(false);
  useEffect(
    () => () => {
      isGone.current = true;
      cancel.current?.();
    },
    [],
  );

  const authorize: WindowLogIn['authorize'] = async (name, begin, stateOf = (random) => random) => {
    let opened = window.open('', '_blank', WINDOW);
    try {
      const state = stateOf(makeRandom());
      const url = await begin(state);
      if (!isWebUrl(url)) throw new NotAuthorized(`The address of the log-in page of ${name} is not a web address.`);
      if (isGone.current) throw new NotAuthorized('The page was closed.');
      if (opened !== null) opened.location.href = url;
      const sent = await new Promise<Sent>((resolve, reject) => {
        const reopen = () => {
          opened?.close();
          opened = window.open(url, '_blank', WINDOW);
          look();
        };
        const look = () => {
          const next = opened === null ? 'blocked' : opened.closed ? 'closed' : 'open';
          setWaiting((last) => (last?.window === next ? last : { window: next, reopen, cancel: give }));
        };
        const give = () => end(() => reject(new NotAuthorized(`Nobody logged in at ${name}. Nothing was connected.`)));
        const stop = listen(state, (response) => end(() => resolve(response)));
        const timer = setInterval(look, LOOK_MS);
        const end = (settle: () => void) => {
          clearInterval(timer);
          stop();
          settle();
        };
        cancel.current = give;
        look();
      });
      if (sent.error !== undefined) throw new NotAuthorized(sayRefusal(name, sent));
      return sent;
    } finally {
      cancel.current = undefined;
      setWaiting(undefined);
      opened?.close();
    }
  };
  return { waiting, authorize };
}

function sayRefusal(name: string, { error = '', error_description: words }: Sent): string {
  const said = words === undefined || words === '' ? error : `${words} (${error})`;
  return `${name} did not grant access: ${said}. Nothing was connected.`;
}

/** Returns a random state. `crypto.randomUUID` only exists on pages that were loaded over https. */
function makeRandom(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
