import type { ComponentType } from 'preact';
import type { PageProps } from '../navigation.ts';
import { Empty } from '../parts/show.tsx';
import { useMay, useWho } from '../who.ts';
import { Accounts } from './accounts.tsx';
import { AuditLog } from './audit-log.tsx';
import { ConnectBranding } from './connect-branding.tsx';
import { ConnectOrigins } from './connect-origins.tsx';
import { General } from './general.tsx';
import { Roles } from './roles.tsx';
import { OrganizationSecrets } from './secrets.tsx';
import { Users } from './users.tsx';

interface Tab {
  /** Segment of the path. The first tab has an empty one. */
  readonly key: string;
  readonly title: string;
  /** Privileges of which the user needs one to see the tab. Undefined: every user sees it. */
  readonly needs?: readonly string[];
  readonly page: ComponentType<PageProps>;
}

const PATH = '/console/organization';

const TABS: readonly Tab[] = [
  { key: '', title: 'General', page: General },
  { key: 'accounts', title: 'Accounts', needs: ['manageOrganization', 'editAccount'], page: Accounts },
  { key: 'users', title: 'Users', needs: ['viewOrganizationUsers', 'viewAccountUsers'], page: Users },
  { key: 'roles', title: 'Roles', needs: ['configureRoles'], page: Roles },
  { key: 'audit', title: 'Audit log', needs: ['viewOrganizationLogs', 'viewAccountLogs'], page: AuditLog },
  { key: 'secrets', title: 'Secrets', needs: ['modifySecurity'], page: () => <OrganizationSecrets /> },
  { key: 'connect-origins', title: 'Connect origins', needs: ['manageOrganization'], page: ConnectOrigins },
  { key: 'connect-branding', title: 'Connect page', needs: ['manageOrganization'], page: ConnectBranding },
];

/** Shows the pages about the organization, such as its accounts, users and audit log. */
export function Organization({ below = '' }: PageProps) {
  const may = useMay();
  const { session } = useWho();
  const [key = '', ...rest] = below.split('/');
  const tabs = TABS.filter(({ needs }) => needs === undefined || may(...needs));
  const Page = tabs.find((tab) => tab.key === key)?.page;
  return (
    <div class="stack">
      <h1 class="break">{session.organization.name}</h1>
      <nav class="tabs" aria-label="Parts of the organization">
        {tabs.map((tab) => (
          <a
            key={tab.key}
            href={tab.key === '' ? PATH : `${PATH}/${tab.key}`}
            aria-current={tab.key === key ? 'page' : undefined}
          >
            {tab.title}
          </a>
        ))}
      </nav>
      {Page === undefined ? (
        <Empty title="This page does not exist, or your roles do not include it.">
          <a href={PATH}>Go to the organization</a>
        </Empty>
      ) : (
        <Page below={rest.length === 0 ? undefined : rest.join('/')} />
      )}
    </div>
  );
}
