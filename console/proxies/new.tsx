import { useLocation } from 'preact-iso';
import { api, ask } from '../api.ts';
import { type GivenProxy, ProxyForm } from './form.tsx';

const NOTHING: GivenProxy = { name: '', apiKey: '', apiSecret: '', configuration: '{}' };

export function NewProxy() {
  const { route } = useLocation();
  const create = async (body: GivenProxy) => {
    const { id } = await ask(api.POST('/elements/oauthProxies', { body: { ...body, shared: false } }));
    route(`/console/proxies/${id}`);
  };
  return (
    <div class="stack">
      <a href="/console/proxies">← OAuth proxies</a>
      <h1>New proxy</h1>
      <ProxyForm before={NOTHING} action="Create the proxy" onSave={create}>
        <a class="button" href="/console/proxies">
          Cancel
        </a>
      </ProxyForm>
    </div>
  );
}
