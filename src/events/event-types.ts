/** Documentation of one event type, for the catalogue of `/docs`. Texts may have `code` and links in Markdown. */
export interface DocumentedEventType {
  /** Name of the schema of the body in the API description. */
  readonly schema: string;
  readonly meaning: string;
  /** When the event is sent. */
  readonly sent: string;
  readonly receivers: string;
  /** The action of the receiver. */
  readonly reaction: string;
  /** Body of the request to a callback URL. */
  readonly example: object;
}

const INSTANCE_URL = 'The callback URL of the instance (`event.notification.callback.url`), if its events are enabled.';
const OPERATIONS_URL =
  '`GET /notifications`, and the URL in the account setting `notification.operational.callback.url`.';
const OPERATIONS_URL_OF_OTHERS = `${OPERATIONS_URL} An event about the subscription of that URL is only listed.`;

function event(type: string, data: object) {
  return { id: 'evt_0193460e2f1c7a0e8d3b5c6f7a8b9c0d', timestamp: '2026-02-02T08:30:53.000Z', type, data };
}

const SOURCE = {
  elementKey: 'bamboohr',
  hub: 'humancapital',
  accountId: 12,
  instance: { id: 427, name: 'BambooHR, payroll', tags: ['payroll'] },
};
const EMPLOYEE = { id: '118', firstName: 'Lea', lastName: 'Moreau' };

/** Event types of records: each is the name of an object, a dot, and one of these. */
export const RECORD_EVENT_TYPES = {
  created: {
    schema: 'RecordEvent',
    meaning: 'A record was created at the provider.',
    sent: 'A poll finds a new record, or the provider reports one. The first poll sends none, unless `event.poller.backfill` is `true`.',
    receivers: INSTANCE_URL,
    reaction:
      'Store the record of `object`. If `object` is absent, read the record by `objectId`. Drop events whose `id` you have seen.',
    example: event('employees.created', { objectName: 'employees', objectId: '118', ...SOURCE, object: EMPLOYEE }),
  },
  updated: {
    schema: 'RecordEvent',
    meaning: 'A record changed at the provider.',
    sent: 'A poll finds a newer version of a record, or the provider reports a change. Several changes between two polls are one event.',
    receivers: INSTANCE_URL,
    reaction:
      'Replace your copy with `object`. If `object` is absent, read the record by `objectId`. Events may overtake each other: compare the times of the records, or use `event.notification.ordered`.',
    example: event('employees.updated', {
      objectName: 'employees',
      objectId: '118',
      ...SOURCE,
      object: EMPLOYEE,
      raw: { type: 'employee.updated', data: { employeeId: '118' } },
    }),
  },
  deleted: {
    schema: 'RecordEvent',
    meaning: 'A record was deleted at the provider.',
    sent: 'The provider reports a deletion. The page of each element says for which objects it does.',
    receivers: INSTANCE_URL,
    reaction: 'Delete your copy. The event has no `object`; `objectId` names the record.',
    example: event('employees.deleted', { objectName: 'employees', objectId: '118', ...SOURCE }),
  },
  unknown: {
    schema: 'RecordEvent',
    meaning: 'Something happened to a record, and the provider does not say what.',
    sent: 'The provider reports a change without its kind.',
    receivers: INSTANCE_URL,
    reaction: 'Read the record by `objectId`. If the response is `NOT_FOUND`, delete your copy; otherwise store it.',
    example: event('Orders.unknown', {
      objectName: 'Orders',
      objectId: 'O-1001',
      elementKey: 'odata',
      hub: 'general',
      accountId: 12,
      instance: { id: 428, name: 'Shop', tags: [] },
      raw: { source: '/shop', subject: 'O-1001' },
    }),
  },
} as const satisfies Readonly<Record<string, DocumentedEventType>>;

/** The change of the record of an event. */
export type RecordAction = keyof typeof RECORD_EVENT_TYPES;

export const RECORD_ACTIONS: readonly RecordAction[] = ['created', 'updated', 'deleted', 'unknown'];

const INSTANCE = { instanceId: 427, name: 'BambooHR, payroll', elementKey: 'bamboohr' } as const;
const POLL = { ...INSTANCE, resource: 'employees' } as const;
const BULK_RECEIVERS =
  'The callback URL of the job. If the job has none: the callback URL of the instance, if its events are enabled.';
const BULK_SOURCE = { objectName: 'employees', objectId: '4711', ...SOURCE };
const BULK_JOB = {
  id: 4711,
  instanceId: 427,
  objectName: 'employees',
  jobDirection: 'DOWNLOAD',
  recordsFailedCount: 0,
  fileFormat: 'csv',
  fileName: 'employees-4711.csv',
  createdDate: '2026-02-02T08:30:00.000Z',
  bulkStartTime: '2026-02-02T08:30:00.120Z',
  bulkFinishTime: '2026-02-02T08:30:53.000Z',
} as const;

const SCHEMA_CHANGE = {
  added: ['shirtSize'],
  removed: ['nickname'],
  changed: [{ field: 'costCenter', from: { type: 'number' }, to: { type: 'string' } }],
} as const;

/** Event types of instances that are about no record of the provider. */
export const INSTANCE_EVENT_TYPES = {
  'bulk.completed': {
    schema: 'BulkEvent',
    meaning: 'A bulk job ended, and its file is ready.',
    sent: 'The job ends with the status `COMPLETED`. A cancelled or deleted job sends no event.',
    receivers: BULK_RECEIVERS,
    reaction:
      'Download the file with `GET /bulk/{id}/{objectName}`. If `recordsFailedCount` is not 0, read `GET /bulk/{id}/errors`.',
    example: event('bulk.completed', {
      ...BULK_SOURCE,
      object: {
        ...BULK_JOB,
        status: 'COMPLETED',
        recordsCount: 240,
        fileSize: 8065,
        progress: { rows: 240, providerCalls: 3, way: 'paging' },
      },
    }),
  },
  'bulk.failed': {
    schema: 'BulkEvent',
    meaning: 'A bulk job failed.',
    sent: 'The job ends with the status `FAILED`.',
    receivers: BULK_RECEIVERS,
    reaction:
      'Read `code` and `message` of `object`, correct the cause and start a new job. `GET /bulk/{id}/errors` lists the failed rows of an upload.',
    example: event('bulk.failed', {
      ...BULK_SOURCE,
      object: {
        ...BULK_JOB,
        status: 'FAILED',
        recordsCount: 80,
        fileSize: 2688,
        code: 'INSTANCE_CREDENTIALS_FAILED',
        message:
          'BambooHR returned 401: it rejects the credentials of this instance. Correct them in the configuration of the instance.',
        progress: { rows: 80, providerCalls: 2, way: 'paging' },
      },
    }),
  },
  'schema.changed': {
    schema: 'SchemaChangedEvent',
    meaning: 'The fields of a watched object changed at the provider.',
    sent: 'A reading of the watched objects finds a difference. A reading that fails sends nothing. See [watch schemas](../how-to/watch-schemas.md).',
    receivers: `${INSTANCE_URL} Formulas whose trigger names \`schema.changed\` in \`eventTypes\`.`,
    reaction:
      'Compare `removed` and `changed` with the fields that you use. `GET /instances/{id}/schema-changes` also lists what the change breaks.',
    example: event('schema.changed', {
      objectName: 'employees',
      ...SOURCE,
      object: { objectName: 'employees', ...SCHEMA_CHANGE },
    }),
  },
} as const satisfies Readonly<Record<string, DocumentedEventType>>;

const FORMULA = {
  formulaId: 4711,
  formulaName: 'Contacts to the other CRM',
  formulaInstanceId: 88,
  formulaInstanceName: 'Acme',
} as const;
/** Event types of formulas, which go to the URLs of the formula instance and are not listed as notifications. */
export const FORMULA_EVENT_TYPES = {
  'formula.execution.failed': {
    schema: 'FormulaExecutionFailedEvent',
    meaning: 'An execution of a formula failed.',
    sent: 'An execution ends with the status `failed`, or it is not run because of a limit.',
    receivers: 'The URLs in the setting `notification.webhook.url` of the formula instance.',
    reaction:
      'Read the failed steps with `GET /formulas/instances/executions/{executionId}/errors`, and correct the cause. Then run the execution again with `PUT /formulas/instances/executions/{executionId}/retries`.',
    example: event('formula.execution.failed', {
      ...FORMULA,
      executionId: 61,
      status: 'failed',
      createdDate: '2026-02-02T08:30:52.000Z',
      error: { stepName: 'post', message: 'The response has the status 500.' },
      accountId: 12,
    }),
  },
} as const satisfies Readonly<Record<string, DocumentedEventType>>;

const POLL_RECEIVERS = `${OPERATIONS_URL} The callback URL of the instance gets it, too. If both are the same URL, it gets one event, that of the instance.`;

/** Event types of the platform itself, which it also lists as notifications. */
export const OPERATIONAL_EVENT_TYPES = {
  'subscription.deactivated': {
    schema: 'SubscriptionEvent',
    meaning: 'A callback URL gets no events any more. Its events are queued.',
    sent: 'The last retry of a delivery to the URL failed, or a user deactivated the subscription.',
    receivers: OPERATIONS_URL_OF_OTHERS,
    reaction:
      'Repair the receiver. Then release the queue with `PUT /notifications/subscriptions/deliveries`, or set `state` to `active` with `PATCH /notifications/subscriptions/{id}`.',
    example: event('subscription.deactivated', {
      subscriptionId: 31,
      reason: 'Every retry of delivery 981 failed. Last error: status: The receiver returned 503.',
      accountId: 12,
    }),
  },
  'subscription.reactivated': {
    schema: 'SubscriptionEvent',
    meaning: 'A deactivated callback URL gets events again.',
    sent: 'A user released the queue, or set the `state` of the subscription to `active`.',
    receivers: OPERATIONS_URL_OF_OTHERS,
    reaction: 'Nothing. The queued events follow, the oldest first.',
    example: event('subscription.reactivated', {
      subscriptionId: 31,
      url: 'https://app.example.com/events',
      accountId: 12,
    }),
  },
  'delivery.exhausted': {
    schema: 'DeliveryExhaustedEvent',
    meaning: 'Every retry of a delivery failed. The delivery is queued.',
    sent: 'The last retry failed. `subscription.deactivated` follows if the subscription was active.',
    receivers: OPERATIONS_URL_OF_OTHERS,
    reaction:
      'Read the attempts with `GET /notifications/subscriptions/deliveries/{id}`, and repair the receiver. The delivery stays queued until you release or acknowledge it.',
    example: event('delivery.exhausted', {
      deliveryId: 981,
      subscriptionId: 31,
      attempts: 6,
      lastError: 'status: The receiver returned 503.',
      accountId: 12,
    }),
  },
  'instance.credentials.refused': {
    schema: 'InstanceFaultEvent',
    meaning: 'The provider rejects the credentials of an instance. Its polls stop.',
    sent: 'The provider rejected a call for the first time since the credentials last worked.',
    receivers: OPERATIONS_URL,
    reaction:
      'Replace the credentials with `PATCH /instances/{id}`. For OAuth, let the owner authorize the instance again, for example in a connect session.',
    example: event('instance.credentials.refused', {
      ...INSTANCE,
      reason: "The provider refuses the credentials for 'list employees'.",
      accountId: 12,
    }),
  },
  'instance.webhook.failed': {
    schema: 'InstanceFaultEvent',
    meaning: 'The service cannot register its event URL at the provider, or cannot remove it there.',
    sent: 'The registration or its removal failed for a new reason. The service tries again after at most six hours, unless the instance is deleted.',
    receivers: OPERATIONS_URL,
    reaction:
      'Correct the cause that `reason` names, such as a missing right of the account or a `PUBLIC_URL` that is not https. A change of the configuration starts the next try at once.',
    example: event('instance.webhook.failed', {
      ...INSTANCE,
      reason:
        'BambooHR cannot send events here: http://127.0.0.1:8080 is not https. Set PUBLIC_URL to the https address of this service, or event.vendor.type to polling.',
      accountId: 12,
    }),
  },
  'instance.connected': {
    schema: 'InstanceConnectedEvent',
    meaning: 'A user connected an account on the page of a connect session.',
    sent: 'The session ends with the status `completed`.',
    receivers: OPERATIONS_URL,
    reaction:
      'Store `token` as a secret: with it you call the API for this instance. Only the request to your URL has the token. Otherwise read it with `GET /connect/sessions/{id}`.',
    example: event('instance.connected', {
      sessionId: 57,
      instanceId: 427,
      elementKey: 'bamboohr',
      name: 'BambooHR, payroll',
      reauthenticated: false,
      accountId: 12,
      token: '5nLzWq8Yv0dXk2bRj7HsTm4uEoGfPc1iAaQx9Zt3VyB',
    }),
  },
  'poll.failing': {
    schema: 'PollEvent',
    meaning:
      'A poll of an instance failed three times in a row, or was stopped because the mapping of its object was deleted.',
    sent: 'The third consecutive run fails, or the mapping is missing. Later failures send no further event.',
    receivers: POLL_RECEIVERS,
    reaction:
      'Read `code` and `message`, and correct the cause. No change is lost: the next successful run reads all changes since the last one.',
    example: event('poll.failing', {
      objectName: 'employees',
      ...SOURCE,
      object: {
        ...POLL,
        failures: 3,
        code: 'PROVIDER_UNAVAILABLE',
        message: 'BambooHR returned 500: it cannot serve the request at the moment. Try again later.',
      },
    }),
  },
  'poll.recovered': {
    schema: 'PollEvent',
    meaning: 'A poll that was reported as failing works again.',
    sent: 'The first run without a failure after `poll.failing` ends.',
    receivers: POLL_RECEIVERS,
    reaction: 'Nothing. The events of the missed changes follow.',
    example: event('poll.recovered', {
      objectName: 'employees',
      ...SOURCE,
      object: {
        ...POLL,
        failures: 5,
        failingSince: '2026-02-02T07:45:00.000Z',
      },
    }),
  },
  'poll.restarted': {
    schema: 'PollEvent',
    meaning:
      'The provider has forgotten the position in its log of changes from which a poll continues, so the poll began again.',
    sent: 'A run finds that the position is not accepted any more, for example because the poll was stopped for longer than the provider keeps it.',
    receivers: POLL_RECEIVERS,
    reaction:
      'Compare your copy with the records of the provider. Changes since `missingSince` that only the log shows, such as deletions, can be missing. Changes that show in a field of the record are not.',
    example: event('poll.restarted', {
      objectName: 'contact',
      ...SOURCE,
      elementKey: 'dynamics',
      hub: 'crm',
      object: {
        ...{ ...POLL, elementKey: 'dynamics', name: 'Dynamics 365, sales', resource: 'contact' },
        failures: 0,
        missingSince: '2026-01-24T07:45:00.000Z',
      },
    }),
  },
  'schema.broken': {
    schema: 'SchemaBrokenEvent',
    meaning: 'A change of a watched object breaks a mapping, a poll or a formula.',
    sent: 'A reading of the watched objects finds that a field was removed or changed which one of them uses. `schema.changed` of the instance reports the same change.',
    receivers: OPERATIONS_URL,
    reaction:
      'Correct what `breaks` names: map another field, change the configuration of the poll, or change the formula. If the account only lost a right at the provider, restore it.',
    example: event('schema.broken', {
      ...INSTANCE,
      objectName: 'employees',
      ...SCHEMA_CHANGE,
      breaks: {
        mappings: [{ objectName: 'people', fields: ['nickname'], mappedFields: ['shortName'] }],
        polls: [],
        formulas: [],
      },
      accountId: 12,
    }),
  },
  'formula.instance.failing': {
    schema: 'FormulaInstanceEvent',
    meaning: 'Fifty executions of a formula instance failed in a row.',
    sent: 'The fiftieth consecutive execution fails. Later failures send no further event until one succeeds.',
    receivers: OPERATIONS_URL,
    reaction:
      'Read the failures with `GET /formulas/instances/{instanceId}/executions/errors`, and correct the cause. After more than 100 failures in a row the instance is deactivated.',
    example: event('formula.instance.failing', { ...FORMULA, failures: 50, accountId: 12 }),
  },
  'formula.instance.deactivated': {
    schema: 'FormulaInstanceEvent',
    meaning: 'A formula instance was deactivated, because more than 100 of its executions failed in a row.',
    sent: 'The hundred and first consecutive execution fails.',
    receivers: OPERATIONS_URL,
    reaction:
      'Correct the cause, and activate the instance with `PUT /formulas/{id}/instances/{instanceId}/active`. What happened in between starts nothing.',
    example: event('formula.instance.deactivated', {
      ...FORMULA,
      failures: 101,
      reason: 'Deactivated, because more than 100 executions failed in a row.',
      accountId: 12,
    }),
  },
  'email.pending': {
    schema: 'EmailPendingEvent',
    meaning: 'A mail of a formula was not sent.',
    sent: 'A formula sends a mail, and the service has no `SMTP_URL`; or every try to send it failed.',
    receivers: OPERATIONS_URL,
    reaction: 'Send the mail yourself, or ask the operator of the service to set `SMTP_URL`.',
    example: event('email.pending', {
      formulaInstanceId: 88,
      to: 'ops@example.com',
      subject: 'Execution 61 of formula Contacts to the other CRM failed',
      body: 'Formula: Contacts to the other CRM',
      reason: 'The service has no server for outgoing mail (SMTP_URL).',
      accountId: 12,
    }),
  },
} as const satisfies Readonly<Record<string, DocumentedEventType>>;

/** Event type of formulas, see `FORMULA_EVENT_TYPES`. */
export type FormulaEventType = keyof typeof FORMULA_EVENT_TYPES;

/** Event type of the platform itself, see `OPERATIONAL_EVENT_TYPES`. */
export type OperationalType = keyof typeof OPERATIONAL_EVENT_TYPES;

/** Every event type. One without an entry in the catalogue does not compile. */
export type EventType =
  | `${string}.${RecordAction}`
  | keyof typeof INSTANCE_EVENT_TYPES
  | FormulaEventType
  | OperationalType;
