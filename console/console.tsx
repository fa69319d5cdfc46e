import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { LocationProvider, useLocation } from 'preact-iso';
import { ApiError, api, ask, type Session, useSession } from './api.ts';
import './design.css';
import { INVITATION_PATH, Invitation } from './invitation.tsx';
import { LogIn } from './log-in.tsx';
import { ErrorNote } from './parts/show.tsx';
import { Shell } from './shell.tsx';

/** Kept by the browser while somebody is logged in, as the cookie is not for scripts: without it nobody was. */
const LOGGED_IN = 'logged-in';

/** The console: who is logged in sees the shell around the pages, and everybody else the log-in, at the address where he was. */
function Console() {
  const [session, setSession] = useState<Session | 'none' | 'ended'>();
  const [error, setError] = useState<unknown>();
  const { path, route } = useLocation();
  const isInvited = path === INVITATION_PATH;
  const known = typeof session === 'object' ? session : undefined;
  useSession(known, () => setSession('ended'));
  const logIn = (begun: Session) => {
    localStorage.setItem(LOGGED_IN, 'yes');
    setSession(begun);
  };
  const logOut = () => {
    localStorage.removeItem(LOGGED_IN);
    setSession('none');
  };
  const renew = async () => logIn(await ask(api.GET('/console/session')));
  useEffect(() => {
    if (isInvited || session !== undefined) return;
    renew().catch((cause: unknown) => {
      if (cause instanceof ApiError && cause.status === 401)
        setSession(localStorage.getItem(LOGGED_IN) === null ? 'none' : 'ended');
      else setError(cause);
    });
  }, [isInvited]);
  if (isInvited)
    return (
      <Invitation
        onDone={(begun) => {
          logIn(begun);
          route('/console', true);
        }}
      />
    );
  if (known !== undefined) return <Shell session={known} onEnded={logOut} renew={renew} />;
  if (session !== undefined) return <LogIn hasEnded={session === 'ended'} onDone={logIn} />;
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
