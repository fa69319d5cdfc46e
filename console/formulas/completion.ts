import {
  type Content,
  listEarlier,
  type NodeKey,
  type Predecessor,
  readFlow,
  type Step,
  TRIGGER_KEY,
  type Trigger,
} from './flow.ts';

/** A reference that the user can write in a property of a step. */
export interface Completion {
  /** The reference without `${` and `}`. */
  readonly text: string;
  readonly detail: string;
}

/** A reference that is half written before the cursor. */
export interface Beginning {
  readonly start: number;
  readonly typed: string;
}

const MOST_SHOWN = 12;
const RESPONSE = ['response.body', 'response.code', 'response.headers', 'request.body', 'request.query'];
const MEMBERS: Readonly<Record<Step['type'], readonly string[]>> = {
  elementRequest: RESPONSE,
  request: RESPONSE,
  httpRequest: RESPONSE,
  filter: ['continue'],
  script: [],
  loop: ['entry', 'index'],
  formula: [],
  retryFormulaExecution: ['attempt'],
  elementRequestStream: ['upload.response.body', 'upload.response.code', 'download.response.code'],
  amqpRequest: ['request.body'],
};
const TRIGGER_MEMBERS: Readonly<Record<Trigger['type'], readonly string[]>> = {
  event: [
    ...['event.objectType', 'event.objectId', 'event.eventType', 'event.date', 'event.elementKey', 'event.hubKey'],
    ...['body.message.raw', 'body', 'instanceId', 'eventId'],
  ],
  elementRequest: [
    ...['request.method', 'request.path', 'request.query', 'request.headers', 'request.body'],
    ...['response.code', 'response.headers', 'response.body'],
  ],
  scheduled: ['type'],
  manual: ['args'],
};
const INFO = [
  ...['formulaId', 'formulaName', 'formulaInstanceId', 'formulaInstanceName'],
  ...['formulaExecutionId', 'formulaStartTime'],
];

/** Returns the references that a step can use: the trigger, variables, the steps before it, and facts of the execution. */
export function listCompletions(content: Content, key: NodeKey, isCode: boolean): readonly Completion[] {
  const member = (head: string, name: string) => {
    const isPlain = isCode ? /^[A-Za-z_$][\w$]*$/.test(name) : /^[\w.-]+$/.test(name);
    return isPlain ? `${head}.${name}` : `${head}['${name.replaceAll("'", "\\'")}']`;
  };
  const [trigger] = content.triggers;
  const steps = listUsable(content, key);
  return [
    ...content.configuration.map((variable) => ({
      text: member('config', variable.key),
      detail: variable.name ?? 'variable',
    })),
    ...steps.flatMap(({ name, type }) =>
      [...MEMBERS[type].map((each) => `.${each}`), ''].map((rest) => ({
        text: member('steps', name) + rest,
        detail: rest === '' ? `all values of the ${type}` : type,
      })),
    ),
    ...(trigger === undefined || key === 0 ? [] : TRIGGER_MEMBERS[trigger.type]).map((each) => ({
      text: `trigger.${each}`,
      detail: 'trigger',
    })),
    ...INFO.map((each) => ({ text: `info.${each}`, detail: 'execution' })),
  ];
}

/** Returns the steps that run before a step. If no arrow leads to the step yet, these are all other steps. */
function listUsable(content: Content, key: NodeKey): readonly Step[] {
  const earlier = listEarlier(readFlow(content), key);
  if (earlier.length === 0 && key !== TRIGGER_KEY) return content.steps.filter((_, index) => index + 1 !== key);
  return earlier.flatMap((at) => content.steps[at - 1] ?? []);
}

/** Returns the content with a step that is being added, so that the steps before it can be found. */
export function withNewStep(content: Content, after: Predecessor | undefined): Content {
  const name = '\u0000new';
  const follow = <Node extends Trigger | Step>(node: Node, isIt: boolean): Node =>
    isIt && after !== undefined ? { ...node, [after.member]: [...node[after.member], name] } : node;
  return {
    ...content,
    triggers: content.triggers.map((trigger) => follow(trigger, after?.stepName === undefined)),
    steps: [
      ...content.steps.map((step) => follow(step, step.name === after?.stepName)),
      { id: 0, name, type: 'script', onSuccess: [], onFailure: [], properties: {} },
    ],
  };
}

/** Finds a reference that is being typed: after `${` or, in a script, after one of the four names. */
export function findBeginning(text: string, cursor: number, isCode: boolean): Beginning | undefined {
  const before = text.slice(0, cursor);
  const found = isCode
    ? /(?<![\w.$])(?:config|steps|trigger|info)[.[][\w.\-'"[\]]*$/.exec(before)
    : /(?<=\$\{)[^{}\s]*$/.exec(before);
  return found === null ? undefined : { start: found.index, typed: found[0] };
}

/** Returns the completions that match. Those that begin with the typed text come first. */
export function matchCompletions(all: readonly Completion[], { typed }: Beginning): readonly Completion[] {
  const wanted = typed.toLowerCase();
  const matching = all.filter(({ text }) => text.toLowerCase().includes(wanted));
  const isFirst = ({ text }: Completion) => text.toLowerCase().startsWith(wanted);
  return [...matching.filter(isFirst), ...matching.filter((each) => !isFirst(each))].slice(0, MOST_SHOWN);
}

/** Returns the text with the completion in it, and the cursor position after it. */
export function complete(
  text: string,
  cursor: number,
  { start }: Beginning,
  completion: Completion,
  isCode: boolean,
): { readonly text: string; readonly cursor: number } {
  const rest = text.slice(cursor);
  const closing = isCode ? '' : '}';
  const isClosed = closing !== '' && rest.startsWith(closing);
  return {
    text: text.slice(0, start) + completion.text + (isClosed ? '' : closing) + rest,
    cursor: start + completion.text.length + closing.length,
  };
}
