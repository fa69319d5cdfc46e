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
    label: 'Client ID',
    type: 'string',
    required: true,
    description: 'The client id (API key) registered with the provider.',
  },
  {
    key: OAUTH_KEYS.clientSecret,
    label: 'Client secret',
    type: 'string',
    required: true,
    secret: true,
    description: 'The client secret registered with the provider.',
  },
  {
    key: OAUTH_KEYS.callbackUrl,
    label: 'Redirect URL',
    type: 'url',
    description: 'The redirect URL registered with the provider, and used for the authorization URL.',
  },
  {
    key: OAUTH_KEYS.scope,
    label: 'Scopes',
    type: 'string',
    description: 'Scopes to request, in place of the default scopes of the element.',
  },
  {
    key: OAUTH_KEYS.refreshToken,
    label: 'Refresh token',
    type: 'string',
    secret: true,
    description:
      'A refresh token that another program obtained, in place of providerData.code. Causeway refreshes it immediately.',
    setup: [
      'Leave it out, unless another program has logged in to the provider as the same application.',
      'Copy the `refresh_token` of the last token response of that program, and stop using it there.',
    ],
  },
  {
    key: OAUTH_KEYS.accessToken,
    label: 'Access token',
    type: 'string',
    secret: true,
    description:
      'An access token that another program obtained, for providers whose tokens do not expire. Not needed with a refresh token.',
    setup: [
      'Leave it out, unless another program has logged in to the provider and its tokens do not expire.',
      'Copy the `access_token` of the last token response of that program.',
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
    description: `${description} The provider returns it, so you can leave it out.`,
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
