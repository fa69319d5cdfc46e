import { signWebhook, type WebhookDelivery } from '#connector/simulator';
import { REALM_ID } from './login.ts';

/** Verifier token of the application, from its webhooks page. It signs the events of all companies. */
export const VERIFIER_TOKEN = 'demo-verifier-token';

export interface ChangeEvent {
  /** Name of the entity, such as `Invoice`. */
  readonly entity: string;
  readonly id: string;
  readonly operation: 'Create' | 'Update' | 'Delete' | 'Merge' | 'Void' | 'Emailed';
  readonly atMs: number;
  /** Id of the record that was merged into the other one, for `Merge`. */
  readonly deletedId?: string;
}

const DONE = {
  ...{ Create: 'created', Update: 'updated', Delete: 'deleted', Merge: 'merged', Void: 'voided', Emailed: 'emailed' },
} as const;

/**
 * Returns the webhook for some changes: CloudEvents, which the provider sends since 2026, or the earlier form. The token of the application
 * signs the unchanged body.
 */
export function deliver(
  events: readonly ChangeEvent[],
  form: 'CloudEvents' | 'eventNotifications' = 'CloudEvents',
  verifierToken = VERIFIER_TOKEN,
): WebhookDelivery {
  const body = form === 'CloudEvents' ? events.map(cloudEventOf) : { eventNotifications: [notificationOf(events)] };
  const signature = { secret: verifierToken, header: 'intuit-signature', encoding: 'base64' } as const;
  return signWebhook(signature, body, { nowMs: 0 });
}

function cloudEventOf({ entity, id, operation, atMs, deletedId }: ChangeEvent) {
  return {
    specversion: '1.0',
    id: `88cd52aa-33b6-4351-9aa4-${atMs}-${entity}-${id}`,
    source: 'intuit.dsnBgbseACLLRZNxo2dfc4evmEJdxde58xeeYcZliOU=',
    type: `qbo.${entity.toLowerCase()}.${DONE[operation]}.v1`,
    datacontenttype: 'application/json',
    time: new Date(atMs).toISOString(),
    intuitentityid: id,
    intuitaccountid: REALM_ID,
    data: deletedId === undefined ? {} : { deletedid: deletedId },
  };
}

function notificationOf(events: readonly ChangeEvent[]) {
  const entities = events.map(({ entity, id, operation, atMs, deletedId }) => ({
    ...{ name: entity, id, operation, deletedId },
    lastUpdated: new Date(atMs).toISOString(),
  }));
  return { realmId: REALM_ID, dataChangeEvent: { entities } };
}
