import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { isFramed, tellRefused } from './connect/host.ts';
import { UNREGISTERED } from './connect/messages.ts';
import { direction, language, texts } from './connect/texts.ts';
import { Title } from './connect/words.tsx';
import './design.css';

/**
 * What stands in the place of the connect page for a page that may not show it. Any page may have it in a frame, so it must never read the end
 * of its address, which is the key of the session.
 */
const NONE = 'null';
const { origin: encoded = NONE, registrable } = document.documentElement.dataset;
const origin = decodeURIComponent(encoded);
const CALL = 'PUT /organizations/me/connect-origins';

function Refused() {
  const { title, user, makers, console, close } = texts.refused;
  const canRegister = registrable === 'true';
  const reason = canRegister
    ? texts.refused.register(origin)
    : origin === NONE
      ? texts.refused.none
      : texts.refused.serve(origin);
  useEffect(() => {
    const message = canRegister ? `${reason} ${CALL}` : reason;
    tellRefused({ type: 'error', error: { code: UNREGISTERED, message } }, origin);
    tellRefused({ type: 'resize', height: document.documentElement.offsetHeight }, origin);
  }, []);
  const leave = () => {
    tellRefused({ type: 'closed' }, origin);
    window.close();
  };
  return (
    <main class={isFramed ? 'connect framed' : 'connect'}>
      <div class="stack">
        <Title text={title} />
        <p>{user}</p>
        <p>
          <button type="button" class="main" onClick={leave}>
            {close}
          </button>
        </p>
        <section class="note small" aria-label={makers}>
          <p class="strong">{makers}</p>
          <p>{reason}</p>
          {canRegister && (
            <>
              <p>
                <code>{CALL}</code>
              </p>
              <p>{console}</p>
            </>
          )}
        </section>
      </div>
    </main>
  );
}

document.documentElement.lang = language;
document.documentElement.dir = direction;
const place = document.querySelector('#page');
if (place !== null) render(<Refused />, place);
