import { type Egress, EgressError } from '../../egress/index.ts';
import type { StepValue } from '../executions/model.ts';
import { toText } from '../references.ts';
import { errorValue, fail, type PerformStep, StepFault, succeed } from './outcome.ts';
import { readProperties } from './properties.ts';

interface AmqpRequestPorts {
  readonly egress: Pick<Egress, 'guard'>;
}

const CONNECT_MS = 10_000;
/** Maximum time until the broker has confirmed the message, in milliseconds. */
const CONFIRM_MS = 30_000;
const MASK = '********';

/** Sends a message to a queue and waits until the broker has confirmed it: the steps `amqpRequest`. */
export function createAmqpRequest({ egress }: AmqpRequestPorts): PerformStep {
  return async ({ step, context, signal }) => {
    const properties = readProperties(step.properties, context);
    const url = URL.parse(properties.text('url'));
    if (url === null || !/^amqps?:$/.test(url.protocol))
      throw new StepFault("The property 'url' must be an amqp or amqps URL.");
    const [queue, exchange] = [properties.text('queue'), toText(properties.value('exchange'))];
    const body = properties.value('body');
    const shown: readonly StepValue[] = [
      [['request', 'url'], withoutPassword(url)],
      [['request', 'queue'], queue],
      ...(exchange === '' ? [] : [[['request', 'exchange'], exchange] as const]),
      [['request', 'body'], body ?? null],
    ];
    try {
      const { lookup } = await egress.guard(url.href);
      await publish({ url, lookup, queue, exchange, content: Buffer.from(toText(body)), signal });
      return succeed(shown);
    } catch (error) {
      signal.throwIfAborted();
      const reason =
        error instanceof EgressError ? error.message : `The broker did not accept the message: ${redact(error, url)}`;
      return fail([...shown, errorValue(reason)]);
    }
  };
}

interface Message {
  readonly url: URL;
  readonly lookup: Awaited<ReturnType<Egress['guard']>>['lookup'];
  readonly queue: string;
  /** Empty: the queue is named directly. */
  readonly exchange: string;
  readonly content: Buffer;
  readonly signal: AbortSignal;
}

async function publish({ url, lookup, queue, exchange, content, signal }: Message): Promise<void> {
  // Loaded with the first message: most processes send none.
  const { connect } = await import('amqplib');
  const isLate = AbortSignal.any([signal, AbortSignal.timeout(CONFIRM_MS)]);
  // The signal is one of Node's sockets: it ends the connection, whatever the broker does.
  const options = { lookup, timeout: CONNECT_MS, servername: url.hostname, signal: isLate };
  const connection = await connect(url.href, options);
  // Errors of the connection reject what waits for it.
  const broken = new Promise<never>((_, reject) => connection.on('error', reject));
  const late = new Promise<never>((_, reject) => {
    isLate.addEventListener('abort', () => reject(isLate.reason), { once: true });
  });
  try {
    await Promise.race([broken, late, send()]);
  } finally {
    // A broker that is silent never confirms it.
    await Promise.race([connection.close(), late]).catch(() => undefined);
  }

  async function send(): Promise<void> {
    const channel = await connection.createConfirmChannel();
    const returned = new Promise<never>((_, reject) => {
      channel.on('return', () => reject(new Error(`There is no queue '${queue}'.`)));
      channel.on('error', reject);
    });
    channel.publish(exchange, queue, content, { contentType: 'application/json', persistent: true, mandatory: true });
    await Promise.race([returned, channel.waitForConfirms()]);
  }
}

function withoutPassword(url: URL): string {
  const shown = new URL(url);
  if (shown.password !== '') shown.password = MASK;
  return shown.href;
}

function redact(error: unknown, { password }: URL): string {
  const text = error instanceof Error ? error.message : String(error);
  return password === '' ? text : text.replaceAll(decodeURIComponent(password), MASK).replaceAll(password, MASK);
}
