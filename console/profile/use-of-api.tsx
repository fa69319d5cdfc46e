import { BASE_PATH } from '../api.ts';
import { Copy } from '../parts/copy.tsx';
import { useWho } from '../who.ts';

interface UseOfApiProps {
  /** The user's secret. Undefined until the user has shown it. */
  readonly user: string | undefined;
  readonly organization: string | undefined;
}

const MASK = '••••••••';

/** Shows the headers that a program sends, to copy. */
export function UseOfApi({ user, organization }: UseOfApiProps) {
  const { session, account } = useWho();
  const isWhole = user !== undefined && organization !== undefined;
  const write = (userSecret: string, organizationSecret: string) => {
    const header = `Authorization: User ${userSecret}, Organization ${organizationSecret}`;
    const inAccount = account.id === session.account.id ? [] : [`  -H 'Elements-Account-Id: ${account.id}'`];
    const curl = [`curl -s ${location.origin}${BASE_PATH}/users/me`, `  -H '${header}'`, ...inAccount].join(' \\\n');
    return { header, curl };
  };
  const seen = write(
    user === undefined ? '<your secret>' : MASK,
    organization === undefined ? '<secret of the organization>' : MASK,
  );
  const copied = write(user ?? '<your secret>', organization ?? '<secret of the organization>');
  return (
    <section class="card stack tight" aria-label="Call the API">
      <h2>Call the API</h2>
      <p class="soft">
        {isWhole
          ? 'The secrets are masked here, and included when you copy the command.'
          : 'Show the secrets above to include them.'}
      </p>
      <Snippet title="Header" seen={seen.header} copied={copied.header} />
      <Snippet title="curl" seen={seen.curl} copied={copied.curl} />
    </section>
  );
}

function Snippet(props: { readonly title: string; readonly seen: string; readonly copied: string }) {
  const { title, seen, copied } = props;
  return (
    <div class="stack tight">
      <div class="row apart">
        <h3>{title}</h3>
        <Copy text={copied} what={title} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <pre tabIndex={0}>{seen}</pre>
    </div>
  );
}
