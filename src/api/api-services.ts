import type { People } from '../accounts/index.ts';
import type { Activity } from '../activity/index.ts';
import type { Bulk } from '../bulk/index.ts';
import type { ConnectRoom } from '../connect/index.ts';
import type { Registry } from '../connector/registry.ts';
import type { FindDemoAccount } from '../connector/simulators/index.ts';
import type { Console } from '../console.ts';
import type { Deliveries } from '../events/deliveries/deliveries.ts';
import type { Endpoints } from '../events/endpoints/endpoints.ts';
import type { EventHistory } from '../events/history/history.ts';
import type { Accepted, FindSource, NewEvent } from '../events/model.ts';
import type { Notifications } from '../events/notifications/notifications.ts';
import type { Subscriptions } from '../events/subscriptions/subscriptions.ts';
import type { WebhookRoom } from '../events/webhooks/index.ts';
import type { Formulas } from '../formulas/index.ts';
import type { TemplateRoom } from '../formulas/templates-room.ts';
import type { Instances } from '../instances/instances.ts';
import type { Authorizations } from '../instances/oauth/authorizations.ts';
import type { Proxies } from '../instances/oauth/proxies/proxies.ts';
import type { Mappings } from '../mappings/index.ts';
import type { Polls } from '../polls/index.ts';
import type { Resources } from '../resources/index.ts';
import type { Schemas } from '../schemas/index.ts';

/** The services behind the API, and the state of the process. */
export interface ApiServices extends People {
  /** Each returns whether a required part of the service can be reached. */
  readonly checks: Readonly<Record<string, (signal: AbortSignal) => Promise<boolean>>>;
  /** Returns whether the process makes no progress any more and should be restarted. */
  readonly isStuck: () => boolean;
  /** Public URL of the service, without a slash at the end. */
  readonly publicUrl: () => string;
  /** The folders of all connectors, whose READMEs are part of the documentation. */
  readonly connectorFolders: readonly string[];
  readonly console: Console;
  readonly activity: Activity;
  readonly connect: ConnectRoom;
  readonly registry: Registry;
  readonly findDemoAccount: FindDemoAccount;
  readonly instances: Instances;
  readonly mappings: Mappings;
  readonly formulas: TemplateRoom;
  readonly formulaRuns: Formulas;
  readonly authorizations: Authorizations;
  readonly proxies: Proxies;
  readonly resources: Resources;
  readonly polls: Polls;
  readonly schemas: Schemas;
  readonly bulk: Bulk;
  readonly subscriptions: Subscriptions;
  readonly endpoints: Endpoints;
  readonly notifications: Notifications;
  readonly deliveries: Deliveries;
  readonly eventHistory: EventHistory;
  readonly findSource: FindSource;
  readonly accept: (events: readonly NewEvent[]) => Promise<Accepted>;
  readonly webhooks: WebhookRoom;
}
