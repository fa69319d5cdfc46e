import type { Config, ConfigField, Connector, OAuth2Auth } from '../../connector/contract.ts';

/** A connector whose authentication is OAuth. */
export type OAuthConnector = Connector & { readonly auth: OAuth2Auth };

/** The configuration keys of OAuth (the contract's), in one place because many parts read them. */
export const OAUTH_KEYS = {
  clientId: 'oauth.api.key',
  clientSecret: 'oauth.api.secret',
  callbackUrl: 'oauth.callback.url',
  scope: 'oauth.scope',
  refreshToken: 'oauth.user.refresh_token',
  accessToken: 'oauth.user.token',
  authenticationType: 'authentication.type',
} as const;

const FIELDS: readonly ConfigField[] = [
  {
    key: OAUTH_KEYS.clientId,
    type: 'string',
    required: true,
    description: 'The client id (API key) registered with the provider.',
  },
  {
    key: OAUTH_KEYS.clientSecret,
    type: 'string',
    required: true,
    secret: true,
    description: 'The client secret registered with the provider.',
  },
  {
    key: OAUTH_KEYS.callbackUrl,
    type: 'url',
    description: 'The redirect URL registered with the provider: the one that the authorization URL was made with.',
  },
  { key: OAUTH_KEYS.scope, type: 'string', description: 'What to ask for, in place of what the element asks for.' },
  {
    key: OAUTH_KEYS.refreshToken,
    type: 'string',
    secret: true,
    description:
      'A refresh token that was obtained elsewhere, in place of providerData.code. It is refreshed once at once.',
    setup: [
      'Leave it out, unless another program has logged in to the provider as the same application.',
      'Take the `refresh_token` of that program’s last token answer, and stop using it there.',
    ],
  },
  {
    key: OAUTH_KEYS.accessToken,
    type: 'string',
    secret: true,
    description:
      'An access token that was obtained elsewhere, for providers whose tokens last. Not needed beside a refresh token.',
    setup: [
      'Leave it out, unless another program has logged in to the provider and its tokens last.',
      'Take the `access_token` of that program’s last token answer.',
    ],
  },
  {
    key: OAUTH_KEYS.authenticationType,
    type: 'string',
    pattern: /oauth2/,
    example: 'oauth2',
    description: 'How the instance authenticates: oauth2.',
  },
];

/** The values that a registration with the provider results in. */
const REGISTERED: ReadonlySet<string> = new Set([OAUTH_KEYS.clientId, OAUTH_KEYS.clientSecret]);

/** Keys of tokens. They are stored with the tokens, and never in the configuration. */
export const TOKEN_KEYS: readonly string[] = [OAUTH_KEYS.refreshToken, OAUTH_KEYS.accessToken];

export function isOAuthConnector(connector: Connector): connector is OAuthConnector {
  return connector.auth.type === 'oauth2';
}

/** Returns the configuration keys that the platform adds for a connector with OAuth. */
export function oauthFields(connector: Connector): readonly ConfigField[] {
  if (!isOAuthConnector(connector)) return [];
  const values = Object.entries(connector.auth.values ?? {}).map(([key, { type, description, pattern }]) => ({
    key,
    type,
    description: `${description} The provider tells it; it need not be given.`,
    ...(pattern !== undefined && { pattern }),
  }));
  const { setup } = connector.auth;
  const fields = FIELDS.map((field) =>
    setup !== undefined && REGISTERED.has(field.key) ? { ...field, setup } : field,
  );
  return [...fields, ...values];
}

/** Returns the scope to request (RFC 6749, section 3.3); undefined leaves the choice to the provider. */
export function scopeOf({ auth }: OAuthConnector, config: Config): string | undefined {
  const given = config[OAUTH_KEYS.scope];
  if (typeof given === 'string' && given !== '') return given;
  return auth.scopes?.join(auth.scopeSeparator ?? ' ');
}
