import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { isFramed, reportRefused } from './connect/host.ts';
import { type ConnectFailure, UNREGISTERED } from './connect/messages.ts';
import { direction, language, texts } from './connect/texts.ts';
import { Title } from './connect/words.tsx';
import './design.css';

/**
 * The page that is served in place of the connect page where that must not be shown, or where there is no session. Any page may frame it,
 * so it must never read the end of its address, which is the key of the session.
 */
const NONE = 'null';
const { origin: encoded, registrable } = document.documentElement.dataset;
/** Origin that is not allowed to show the connect page. Undefined if there is no such session. */
const origin = encoded === undefined ? undefined : decodeURIComponent(encoded);
const CALL = 'PUT /organizations/me/connect-origins';
const { refused, ended } = texts;

/** Returns the reason for the developers of the page around this one. */
function reasonFor(refusedOrigin: string): string {
  if (registrable === 'true') return refused.register(refusedOrigin);
  return refusedOrigin === NONE ? refused.none : refused.serve(refusedOrigin);
}

/** Returns the failure for the script of the page around this one. */
function failureOf(reason: string | undefined): ConnectFailure {
  if (reason === undefined) return { code: 'ended', message: ended.unknown.message };
  return { code: UNREGISTERED, message: registrable === 'true' ? `${reason} ${CALL}` : reason };
}

function Refused() {
  const reason = origin === undefined ? undefined : reasonFor(origin);
  useEffect(() => {
    reportRefused({ type: 'error', error: failureOf(reason) }, origin);
    reportRefused({ type: 'resize', height: document.documentElement.offsetHeight }, origin);
  }, []);
  const leave = () => {
    reportRefused({ type: 'closed' }, origin);
    window.close();
  };
  return (
    <main class={isFramed ? 'connect framed' : 'connect'}>
      <div class="stack">
        <Title text={reason === undefined ? ended.unknown.title : refused.title} />
        <p>{reason === undefined ? ended.unknown.message : refused.user}</p>
        <p>
          <button type="button" class="main" onClick={leave}>
            {refused.close}
          </button>
        </p>
        {reason !== undefined && (
          <section class="note small" aria-label={refused.makers}>
            <p class="strong">{refused.makers}</p>
            <p>{reason}</p>
            {registrable === 'true' && (
              <>
                <p>
                  <code>{CALL}</code>
                </p>
                <p>{refused.console}</p>
              </>
            )}
          </section>
        )}
      </div>
    </main>
  );
}

document.documentElement.lang = language;
document.documentElement.dir = direction;
const root = document.querySelector('#page');
if (root !== null) render(<Refused />, root);
