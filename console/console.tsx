import { render } from 'preact';
import { useState } from 'preact/hooks';
import { LocationProvider, useLocation } from 'preact-iso';
import { api, ask, type Session, useSession } from './api.ts';
import './design.css';
import { INVITATION_PATH, Invitation } from './invitation.tsx';
import { useLoad } from './load.ts';
import { LogIn } from './log-in.tsx';
import { ErrorNote } from './parts/show.tsx';
import { Shell } from './shell.tsx';

/**
 * Name under which the browser stores that there is a session, because scripts cannot read its cookie. Without the entry there is no
 * session.
 */
const LOGGED_IN = 'logged-in';

/** Shows the shell with the pages to a logged-in user, and otherwise the log-in at the requested address. */
function Console() {
  const [changed, setChanged] = useState<Session | 'none' | 'ended'>();
  const { path, route } = useLocation();
  const isInvited = path === INVITATION_PATH;
  const ways = useLoad(
    async (signal) => (isInvited ? undefined : ask(api.GET('/console/log-in', { signal }))),
    [isInvited],
  );
  const session = changed ?? (ways.value && (ways.value.session ?? withoutSession()));
  const known = typeof session === 'object' ? session : undefined;
  const leave = (next: 'none' | 'ended') => {
    setChanged(next);
    ways.reload();
  };
  useSession(known, () => leave('ended'));
  const logIn = (begun: Session) => {
    localStorage.setItem(LOGGED_IN, 'yes');
    setChanged(begun);
  };
  const logOut = () => {
    localStorage.removeItem(LOGGED_IN);
    leave('none');
  };
  const renew = async () => logIn(await ask(api.GET('/console/session')));
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
  if (session !== undefined) {
    const first = ways.value?.passwordsExist === false ? 'secrets' : 'password';
    return <LogIn key={first} first={first} hasEnded={session === 'ended'} onDone={logIn} />;
  }
  return (
    <div class="centered">
      <ErrorNote error={ways.error} retry={ways.reload} />
    </div>
  );
}

function withoutSession(): 'none' | 'ended' {
  return localStorage.getItem(LOGGED_IN) === null ? 'none' : 'ended';
}

const root = document.querySelector('#page');
if (root !== null)
  render(
    <LocationProvider scope="/console">
      <Console />
    </LocationProvider>,
    root,
  );
