import { useState } from 'preact/hooks';
import { api, ask, type Session } from './api.ts';
import { useAction } from './load.ts';
import { ErrorNote } from './parts/show.tsx';

export type Way = 'password' | 'secrets';

interface Secrets {
  readonly userSecret: string;
  readonly organizationSecret: string;
}

interface LogInProps {
  /** The way to log in that is shown first. The other way is one click away. */
  readonly first: Way;
  /** Whether a session existed here that the user did not end. */
  readonly hasEnded: boolean;
  readonly onDone: (session: Session) => void;
}

/** Logs in with a password, or with the secrets of the API, which a new service writes to a file. */
export function LogIn({ first, hasEnded, onDone }: LogInProps) {
  const [way, setWay] = useState(first);
  const { run, isRunning, error, forget } = useAction(async (form: FormData) =>
    onDone(await (way === 'password' ? byPassword(form) : bySecrets(readSecrets(form)))),
  );
  const fromFile = useAction(async (file: File) => onDone(await bySecrets(await readFile(file))));
  const choose = (next: Way) => {
    forget();
    fromFile.forget();
    setWay(next);
  };
  return (
    <main class="centered">
      <form
        class="card stack"
        onSubmit={(event) => {
          event.preventDefault();
          run(new FormData(event.currentTarget));
        }}
      >
        <h1>Log in to Causeway</h1>
        {hasEnded && (
          <p class="note warn" role="status">
            Your session ended. Log in again.
          </p>
        )}
        {way === 'password' ? <PasswordFields /> : <SecretFields onFile={fromFile.run} />}
        <ErrorNote error={error ?? fromFile.error} />
        <button type="submit" class="main" disabled={isRunning || fromFile.isRunning}>
          Log in
        </button>
        <p class="small soft">
          {way === 'password' ? 'No password? ' : 'You have a password? '}
          <button type="button" class="plain" onClick={() => choose(way === 'password' ? 'secrets' : 'password')}>
            {way === 'password' ? 'Log in with your secrets' : 'Log in with your password'}
          </button>
        </p>
      </form>
    </main>
  );
}

function PasswordFields() {
  return (
    <>
      <label>
        E-mail address
        <input name="email" type="email" autocomplete="username" required autofocus />
      </label>
      <label>
        Password
        <input name="password" type="password" autocomplete="current-password" required />
      </label>
      <details>
        <summary class="small soft">Several organizations?</summary>
        <label>
          Organization id
          <input name="organizationId" inputMode="numeric" pattern="[0-9]+" />
        </label>
      </details>
    </>
  );
}

function SecretFields({ onFile }: { readonly onFile: (file: File) => void }) {
  return (
    <>
      <div class="stack tight">
        <p>
          A new service writes your secrets to <code>credentials.json</code>. It prints the path when it starts, usually{' '}
          <code>.data/credentials.json</code>.
        </p>
        <label>
          The file credentials.json
          <input
            type="file"
            accept=".json,application/json"
            onChange={({ currentTarget: { files } }) => files?.[0] !== undefined && onFile(files[0])}
          />
        </label>
        <p class="soft">Or enter both secrets:</p>
      </div>
      <label>
        User secret
        <input name="userSecret" type="password" autocomplete="off" required />
      </label>
      <label>
        Organization secret
        <input name="organizationSecret" type="password" autocomplete="off" required />
      </label>
    </>
  );
}

function byPassword(form: FormData): Promise<Session> {
  const organizationId = String(form.get('organizationId') ?? '');
  const body = {
    email: String(form.get('email')),
    password: String(form.get('password')),
    ...(organizationId !== '' && { organizationId: Number(organizationId) }),
  };
  return ask(api.POST('/console/session', { body }));
}

function bySecrets({ userSecret, organizationSecret }: Secrets): Promise<Session> {
  const headers = { Authorization: `User ${userSecret}, Organization ${organizationSecret}` };
  return ask(api.POST('/console/session', { headers, body: {} }));
}

function readSecrets(form: FormData): Secrets {
  return {
    userSecret: String(form.get('userSecret')).trim(),
    organizationSecret: String(form.get('organizationSecret')).trim(),
  };
}

/** Reads the secrets from a file of credentials. @throws Error for a file without them */
async function readFile(file: File): Promise<Secrets> {
  const { userSecret, organizationSecret } = parse(await file.text());
  if (typeof userSecret === 'string' && typeof organizationSecret === 'string')
    return { userSecret, organizationSecret };
  throw new Error(`${file.name} has no userSecret and organizationSecret. Choose credentials.json.`);
}

function parse(text: string): { readonly userSecret?: unknown; readonly organizationSecret?: unknown } {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
