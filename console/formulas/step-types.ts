import type { Step, Trigger } from './flow.ts';

/** The kind of control with which a property is edited. */
export type PropertyKind = 'text' | 'value' | 'code' | 'method' | 'flag' | 'instance' | 'formula' | 'names';

/** A property of a step or a trigger. */
export interface PropertyField {
  readonly name: string;
  readonly title: string;
  readonly kind: PropertyKind;
  readonly isRequired?: true;
  /** Whether the property is folded away until it has a value. */
  readonly isRare?: true;
  readonly hint?: string;
}

/** The description of a type of step or trigger, for the user who chooses one. */
export interface TypeInfo {
  readonly title: string;
  /** A sentence that says what the step does, or what the trigger waits for. */
  readonly does: string;
  readonly fields: readonly PropertyField[];
}

const text = (name: string, title: string, more: Partial<PropertyField> = {}): PropertyField => ({
  ...{ name, title, kind: 'text' },
  ...more,
});
const value = (name: string, title: string, more: Partial<PropertyField> = {}): PropertyField => ({
  ...{ name, title, kind: 'value' },
  ...more,
});
const instance = (name: string, title: string): PropertyField => ({
  ...{ name, title, kind: 'instance', isRequired: true },
  hint: 'A variable such as ${config.crm}, so that each formula instance chooses its own.',
});
const method = (name = 'method', title = 'Method'): PropertyField => ({
  ...{ name, title, kind: 'method', isRequired: true },
});
const script = (hint: string): PropertyField => ({
  ...{ name: 'body', title: 'JavaScript', kind: 'code', isRequired: true },
  hint,
});

const CODES_HINT = 'Codes and ranges, such as 401-405,500.';
const REQUEST: readonly PropertyField[] = [
  value('query', 'Query parameters', { hint: 'A JSON object, or a reference to one.' }),
  value('body', 'Body', { hint: 'JSON, or a reference such as ${steps.build}, which keeps its type.' }),
  value('headers', 'Headers', { isRare: true }),
  value('path', 'Path parameters', { isRare: true, hint: 'An object whose members replace {member} in the path.' }),
  value('form', 'Form parts', { isRare: true, hint: '{ "<part>": { "value": "…", "options": { "filename": "…" } } }' }),
  text('acceptableStatusCodes', 'Accepted status codes', {
    isRare: true,
    hint: `${CODES_HINT} The default is 200-299.`,
  }),
  { name: 'retry', title: 'Retry the request', kind: 'flag', isRare: true },
  text('retryAttempts', 'Retries', { isRare: true, hint: '1 to 5.' }),
  text('retryDelay', 'Delay between retries in milliseconds', { isRare: true }),
  text('retryStatusCodes', 'Status codes that are retried', { isRare: true, hint: CODES_HINT }),
];
const SCRIPT_HINT = 'The body of function (trigger, steps, info, config, done).';

/** The types of steps, most used first. */
export const STEP_TYPES: Readonly<Record<Step['type'], TypeInfo>> = {
  elementRequest: {
    title: 'Element request',
    does: 'Sends a request on an element instance.',
    fields: [
      instance('elementInstanceId', 'Element instance'),
      method(),
      text('api', 'Path', { isRequired: true, hint: 'Such as /hubs/crm/contacts/${trigger.event.objectId}' }),
      ...REQUEST,
    ],
  },
  script: {
    title: 'Script',
    does: 'Runs JavaScript. The argument of done() has the values of the step.',
    fields: [script(`${SCRIPT_HINT} Call done(result) at the end.`)],
  },
  filter: {
    title: 'Filter',
    does: 'Decides by JavaScript which step follows.',
    fields: [script(`${SCRIPT_HINT} Call done(true) or done(false).`)],
  },
  loop: {
    title: 'Loop',
    does: 'Runs the steps after it for each entry of a list. The last of them leads back to the loop.',
    fields: [text('list', 'List', { isRequired: true, hint: 'A reference to an array: ${steps.get.response.body}' })],
  },
  httpRequest: {
    title: 'HTTP request',
    does: 'Sends a request to any URL.',
    fields: [method(), text('url', 'URL', { isRequired: true }), ...REQUEST],
  },
  request: {
    title: 'Platform request',
    does: 'Sends a request to the API of this service.',
    fields: [method(), text('api', 'Path', { isRequired: true, hint: 'Such as /instances' }), ...REQUEST],
  },
  elementRequestStream: {
    title: 'Stream of a file',
    does: 'Sends a file from one element instance to another.',
    fields: [
      instance('downloadElementInstanceId', 'Element instance of the download'),
      method('downloadMethod', 'Method of the download'),
      text('downloadApi', 'Path of the download', { isRequired: true }),
      value('downloadQuery', 'Query parameters of the download', { isRare: true }),
      value('downloadHeaders', 'Headers of the download', { isRare: true }),
      instance('uploadElementInstanceId', 'Element instance of the upload'),
      method('uploadMethod', 'Method of the upload'),
      text('uploadApi', 'Path of the upload', { isRequired: true }),
      value('uploadQuery', 'Query parameters of the upload', { isRare: true }),
      value('uploadHeaders', 'Headers of the upload', { isRare: true }),
      value('uploadFormData', 'Other parts of the form', { isRare: true }),
      text('uploadFormDataName', 'Name of the part with the file', { isRare: true }),
    ],
  },
  formula: {
    title: 'Formula',
    does: 'Runs another formula and waits for it.',
    fields: [
      { name: 'formulaId', title: 'Formula', kind: 'formula', isRequired: true },
      value('args', 'Input', { hint: 'The trigger.args of the other formula.' }),
      value('subFormulaConfigs', 'Values of its variables', { isRare: true }),
    ],
  },
  amqpRequest: {
    title: 'AMQP message',
    does: 'Sends a message to a queue.',
    fields: [
      text('url', 'URL', { isRequired: true, hint: 'Put it into a variable, because it contains a password.' }),
      text('queue', 'Queue', { isRequired: true }),
      text('exchange', 'Exchange', { isRare: true }),
      value('body', 'Message', { isRequired: true }),
    ],
  },
  retryFormulaExecution: {
    title: 'Retry of the execution',
    does: 'Ends the execution and plans a new one with the same input, after 3, 7, 20, 55 … minutes.',
    fields: [text('retryAttempts', 'Retries', { hint: '1 to 7. The default is 1.' })],
  },
};

/** The types of triggers. */
export const TRIGGER_TYPES: Readonly<Record<Trigger['type'], TypeInfo>> = {
  event: {
    title: 'Event',
    does: 'Starts for each event of an element instance.',
    fields: [
      instance('elementInstanceId', 'Element instance'),
      { name: 'objectTypes', title: 'Only these objects', kind: 'names', isRare: true, hint: 'Separated by commas.' },
      {
        ...{ name: 'eventTypes', title: 'Only these events', kind: 'names', isRare: true },
        hint: 'CREATED, UPDATED, DELETED, UNKNOWN',
      },
      text('where', 'Only events where', {
        isRare: true,
        hint: 'A filter with the fields objectType, eventType, objectId, elementKey, hubKey and date.',
      }),
    ],
  },
  elementRequest: {
    title: 'Request',
    does: 'Starts after each successful request of a method and path on an element instance.',
    fields: [
      instance('elementInstanceId', 'Element instance'),
      method(),
      text('api', 'Path', { isRequired: true, hint: 'Such as /hubs/crm/contacts' }),
    ],
  },
  scheduled: {
    title: 'Schedule',
    does: 'Starts at scheduled times.',
    fields: [
      text('cron', 'Times', {
        isRequired: true,
        hint: 'A Quartz expression in UTC, seconds first: 0 0 3 * * ? is every day at 3:00.',
      }),
    ],
  },
  manual: {
    title: 'Manual',
    does: 'Starts when a request creates an execution, or when the formula is called.',
    fields: [],
  },
};

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Returns the description of a type of step or trigger. */
export function infoOf(type: Step['type'] | Trigger['type'], isTrigger: boolean): TypeInfo {
  const types: Readonly<Record<string, TypeInfo>> = isTrigger ? TRIGGER_TYPES : STEP_TYPES;
  return types[type] ?? { title: type, does: '', fields: [] };
}

export function isStepType(type: string): type is Step['type'] {
  return Object.hasOwn(STEP_TYPES, type);
}

export function isTriggerType(type: string): type is Trigger['type'] {
  return Object.hasOwn(TRIGGER_TYPES, type);
}
