import type { Causeway, Element } from '@causeway/client';
import { type AddCommands, wholeNumber } from '../command.js';
import { CAUSEWAY } from '../command-name.js';
import { authorize } from '../oauth.js';
import type { Session } from '../session.js';
import { askMissing, readSettings, type Settings } from '../settings.js';
import { printable } from '../texts.js';
import { withoutSecrets } from './instances.js';

interface ConnectOptions {
  readonly name?: string;
  readonly set: readonly string[];
  readonly setFile: readonly string[];
  readonly simulator?: true;
  readonly askAll?: true;
  readonly tags?: readonly string[];
  readonly browser: boolean;
  readonly port: number;
  readonly callbackUrl?: string;
  readonly siteAddress?: string;
  readonly sandbox?: true;
  readonly showToken?: true;
}

/** Providers compare the whole callback URL with the one that was registered, so it is always the same. */
const DEFAULT_PORT = 18976;

export const addConnect: AddCommands = (program, run) => {
  program
    .command('elements')
    .description('list the providers that can be connected')
    .option('--where <filter>', "such as: hub = 'crm'")
    .action(run(elements));
  program
    .command('connect <element>')
    .description('connect an account at a provider and choose it; asks for the required settings')
    .option('--name <name>', 'name name of the instance (default: the name of the provider)')
    .option('--set <key=value>', 'a configuration key; can be repeated', collect, [])
    .option('--set-file <key=file>', 'a configuration key from a file, for secrets; can be repeated', collect, [])
    .option('--simulator', 'use the simulator of the service in place of the provider')
    .option('--ask-all', 'ask for optional settings, too')
    .option('--no-browser', 'only print the URL of the page where the user logs in')
    .option('--port <port>', 'port for the OAuth callback', wholeNumber, DEFAULT_PORT)
    .option(
      '--callback-url <url>',
      'callback URL registered at the provider (default: http://127.0.0.1:<port>/oauth/callback)',
    )
    .option('--site-address <url>', 'your address at the provider, for providers with a host per customer')
    .option('--sandbox', 'use the sandbox of the provider, for OAuth')
    .option('--show-token', 'print the token of the instance in place of ********')
    .action(run(connect));
};

async function elements(session: Session, { where }: { readonly where?: string }): Promise<void> {
  const platform = await session.platform();
  const query = where === undefined ? {} : { where };
  const list = platform.all((page) =>
    platform.elements.listElementsRaw({ ...query, ...page }, { signal: session.signal }),
  );
  await session.output.list(list, {
    element: ({ key }) => key,
    name: ({ name }) => name,
    hub: ({ hub }) => hub,
    by: ({ authentication }) => authentication.type,
    description: ({ description }) => description,
  });
}

async function connect(session: Session, elementKey: string, options: ConnectOptions): Promise<void> {
  const platform = await session.platform();
  const { signal, output, asker } = session;
  const element = await platform.elements.getElement({ keyOrId: elementKey }, { signal });
  const fields = await platform.elements.getElementConfiguration({ keyOrId: elementKey }, { signal });
  const set = options.simulator ? [...options.set, 'simulator=true'] : options.set;
  const given = await readSettings(fields, set, options.setFile);
  const asked = fields.filter(({ key, required }) => required || (options.askAll && key !== 'oauth.callback.url'));
  const settings = await askMissing(asker, asked, given, (line) => output.note(line));
  for (const { key, secret } of fields) if (secret && settings[key] !== undefined) session.keep(String(settings[key]));

  const grant = needsAuthorization(element, settings)
    ? await authorized(session, platform, element, settings, options)
    : undefined;
  const instance = await platform.instances.createInstance(
    {
      instanceCreate: {
        element: { key: element.key },
        name: options.name ?? element.name,
        configuration: { ...settings, ...grant?.settings },
        ...(grant && { providerData: grant.providerData }),
      },
    },
    { signal },
  );
  const { id, name, token, warnings = [] } = instance;
  if (session.keepsChoices) await session.choose({ id, name, elementKey: element.key, token });
  for (const warning of warnings) output.note(`Note: ${printable(warning)}`);
  await output.one(options.showToken ? instance : withoutSecrets(instance), () =>
    [
      `Connected ${printable(name)} (${element.key}) as the instance ${id}.`,
      ...(options.showToken ? [`Its token is ${token}`] : []),
      session.keepsChoices
        ? `Commands now use it. List its objects: ${CAUSEWAY} objects`
        : `List its objects: ${CAUSEWAY} objects --instance ${id}`,
    ].join('\n'),
  );
}

/** Returns whether the provider's page must be opened. It need not if the user passes tokens from elsewhere. */
function needsAuthorization({ typeOauth }: Element, settings: Settings): boolean {
  return typeOauth && settings['oauth.user.refresh_token'] === undefined && settings['oauth.user.token'] === undefined;
}

async function authorized(
  session: Session,
  platform: Causeway,
  element: Element,
  settings: Settings,
  options: ConnectOptions,
) {
  const { output, signal } = session;
  const { port, siteAddress, sandbox, browser } = options;
  const registered = options.callbackUrl ?? settings['oauth.callback.url'];
  const way = { port, signal, ...(typeof registered === 'string' && { callbackUrl: registered }) };
  const { code, state, callbackUrl } = await authorize(way, async (callback, newState) => {
    const { oauthUrl } = await platform.elements.beginOAuth(
      {
        keyOrId: element.key,
        oAuthUrlRequest: {
          ...textOf(settings, 'oauth.api.key', 'apiKey'),
          ...textOf(settings, 'oauth.api.secret', 'apiSecret'),
          ...textOf(settings, 'oauth.scope', 'scope'),
          ...textOf(settings, 'site.address', 'siteAddress'),
          ...(siteAddress !== undefined && { siteAddress }),
          ...(sandbox && { sandbox }),
          ...(settings.simulator === true && { simulator: true }),
          callbackUrl: callback,
          state: newState,
        },
      },
      { signal },
    );
    output.note(`Log in at ${printable(element.name)} on this page, then return here:\n\n  ${printable(oauthUrl)}\n`);
    if (browser && /^https?:/.test(oauthUrl)) await openInBrowser(oauthUrl, session);
    output.progress(`Waiting for the browser to return to ${callback} …`);
  });
  output.done();
  return { providerData: { code, state }, settings: { 'oauth.callback.url': callbackUrl } };
}

async function openInBrowser(url: string, { output }: Session): Promise<void> {
  const { default: open } = await import('open');
  try {
    const browser = await open(url);
    browser.on('error', () => output.note('No browser opened. Open the page yourself.'));
  } catch {
    output.note('No browser opened. Open the page yourself.');
  }
}

function textOf(settings: Settings, key: string, member: string): Readonly<Record<string, string>> {
  const value = settings[key];
  return typeof value === 'string' ? { [member]: value } : {};
}

function collect(value: string, values: readonly string[]): readonly string[] {
  return [...values, value];
}
