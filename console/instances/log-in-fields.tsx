import { api, askPage, type Schemas } from '../api.ts';
import { useLoad } from '../load.ts';
import { Copy } from '../parts/copy.tsx';
import { ErrorNote } from '../parts/show.tsx';
import { CALLBACK_URL } from './authorization.ts';
import type { Given } from './grant.ts';

interface LogInFieldsProps {
  readonly given: Given;
  readonly onChange: (change: (last: Given) => Given) => void;
}

/** Shows the fields of the OAuth client that requests access, and of the address to which the provider redirects the browser. */
export function LogInFields({ given: { proxy, isSimulated }, onChange }: LogInFieldsProps) {
  const { value, error } = useLoad(
    (signal) => askPage<Schemas['OAuthProxy']>(api.GET('/elements/oauthProxies', { signal })),
    [],
  );
  const proxies = value?.rows ?? [];
  const choose = (name: string) => onChange((last) => ({ ...last, proxy: proxies.find((each) => each.name === name) }));
  return (
    <>
      <ErrorNote error={error} />
      {proxies.length > 0 && (
        <label>
          Application
          <select value={proxy?.name ?? ''} onChange={({ currentTarget }) => choose(currentTarget.value)}>
            <option value="">Key and secret below</option>
            {proxies.map(({ name }) => (
              <option key={name} value={name}>
                Proxy {name}
              </option>
            ))}
          </select>
        </label>
      )}
      {!isSimulated && proxy === undefined && (
        <p class="small soft break">
          Register this redirect URL at the provider: <code>{CALLBACK_URL}</code>{' '}
          <Copy text={CALLBACK_URL} what="the redirect URL" />
        </p>
      )}
    </>
  );
}
