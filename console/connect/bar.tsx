import { useEffect, useState } from 'preact/hooks';
import { useAction } from '../load.ts';
import { shadesOf } from './brand.ts';
import { unlessEnded } from './connecting.ts';
import { Failure, failedOf } from './failure.tsx';
import type { SessionCalls, SessionState } from './session.ts';
import { texts } from './texts.ts';

interface BarProps {
  readonly session: SessionState;
  readonly calls: SessionCalls;
  readonly reload: () => void;
  /** Requests the session again after an action on this page has ended it. */
  readonly onDone: () => void;
}

/** Shows the product's name and the button that leaves the page, at the top of every view. */
export function Bar({ session: { branding = {}, status }, calls, reload, onDone }: BarProps) {
  const { name, logoUrl, color } = branding;
  const [isBroken, setBroken] = useState(false);
  const cancel = useAction(() => unlessEnded(() => calls.cancel().then(onDone), reload));
  useEffect(() => {
    const { style } = document.documentElement;
    for (const [variable, shade] of Object.entries(color === undefined ? {} : shadesOf(color)))
      style.setProperty(variable, shade);
  }, [color]);
  const logo = isBroken ? undefined : logoUrl;
  const isOpen = status === 'open';
  if (name === undefined && logo === undefined && !isOpen) return null;
  return (
    <>
      <header class="row apart beside">
        <span class="row beside strong">
          {logo !== undefined && <img class="logo" src={logo} alt="" onError={() => setBroken(true)} />}
          {name !== undefined && <bdi class="break">{name}</bdi>}
        </span>
        {isOpen && (
          <button type="button" class="plain" disabled={cancel.isRunning} onClick={() => cancel.run()}>
            {texts.form.cancel}
          </button>
        )}
      </header>
      {cancel.error !== undefined && <Failure failed={failedOf(cancel.error)} />}
    </>
  );
}
