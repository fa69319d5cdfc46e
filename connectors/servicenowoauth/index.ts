import { defineConnector } from '#connector';
import { hostOf, INSTANCE } from '../servicenow/config.ts';
import { PROVIDER, TABLE_API } from '../servicenow/provider.ts';
import { WEBHOOK_SECRET } from '../servicenow/webhooks.ts';

/** The connector for ServiceNow with OAuth. It shares everything but the log-in with the connector `servicenow`. */
export default defineConnector({
  ...PROVIDER,
  key: 'servicenowoauth',
  id: 1015,
  name: 'ServiceNow (OAuth)',
  mark: { shape: 'lifebuoy', colour: 'orange' },
  documentation: [
    {
      title: 'OAuth authorization code grant',
      url: 'https://www.servicenow.com/docs/bundle/zurich-platform-security/page/administer/security/concept/c_OAuthAuthorizationCodeFlow.html',
    },
    TABLE_API,
  ],
  auth: {
    type: 'oauth2',
    authorizeUrl: (config) => `https://${hostOf(config)}/oauth_auth.do`,
    tokenUrl: (config) => `https://${hostOf(config)}/oauth_token.do`,
    setup: [
      'In ServiceNow open System OAuth → Application Registry and create an OAuth API endpoint for external clients.',
      'Enter your callback URL as the redirect URL, and save.',
      'The client ID is `oauth.api.key`, the client secret `oauth.api.secret`.',
    ],
    clientAuthentication: 'body',
    // ServiceNow documents PKCE as a replacement of the secret, for clients that cannot keep one.
    pkce: false,
    siteAddressKey: INSTANCE.key,
  },
  configuration: [INSTANCE, WEBHOOK_SECRET],
});
