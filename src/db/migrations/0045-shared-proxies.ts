/**
 * An OAuth proxy is its account's own unless the organization shares it. Until now all were shared: those that another account has used, by an
 * instance or an open connect session, stay so.
 */
export const STATEMENTS: readonly string[] = [
  'alter table oauth_proxy add column shared boolean not null default false',
  `comment on column oauth_proxy.shared is 'All accounts of the organization see and use it; otherwise its own account alone'`,

  `update oauth_proxy set shared = true from (
    select distinct account_id, substring(configuration->>'oauth.callback.url' from '/oauth/proxy/([A-Za-z0-9_-]{32})$') as key from instance
  ) used join account on account.id = used.account_id
  where oauth_proxy.key = used.key and oauth_proxy.account_id <> used.account_id
    and oauth_proxy.organization_id = account.organization_id`,
  `update oauth_proxy set shared = true from connect_session session join account on account.id = session.account_id
  where oauth_proxy.id = session.proxy_id and oauth_proxy.account_id <> session.account_id and session.status = 'open'
    and oauth_proxy.organization_id = account.organization_id`,

  // One that an account does not see must not keep it from the name.
  'alter table oauth_proxy drop constraint oauth_proxy_organization_id_name_key',
  'alter table oauth_proxy add constraint oauth_proxy_account_id_name_key unique (account_id, name)',
  'create unique index oauth_proxy_shared_name on oauth_proxy (organization_id, name) where shared',
];
