import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { LocationProvider } from 'preact-iso';
import { ApiError, api, ask, type Session, useSession } from './api.ts';
import './design.css';
import { LogIn } from './log-in.tsx';
import { ErrorNote } from './parts/show.tsx';
import { Shell } from './shell.tsx';

/** The console: who is logged in sees the shell around the pages, and everybody else the log-in. */
function Console() {
  const [session, setSession] = useState<Session | 'none'>();
  const [error, setError] = useState<unknown>();
  useSession(session === 'none' ? undefined : session, () => setSession('none'));
  const renew = async () => setSession(await ask(api.GET('/console/session')));
  useEffect(() => {
    renew().catch((cause: unknown) => {
      if (cause instanceof ApiError && cause.status === 401) setSession('none');
      else setError(cause);
    });
  }, []);
  if (session === 'none') return <LogIn onDone={setSession} />;
  if (session !== undefined) return <Shell session={session} onEnded={() => setSession('none')} renew={renew} />;
  return (
    <div class="centered">{error !== undefined && <ErrorNote error={error} retry={() => location.reload()} />}</div>
  );
}

const place = document.querySelector('#page');
if (place !== null)
  render(
    <LocationProvider scope="/console">
      <Console />
    </LocationProvider>,
    place,
  );
