import { getHeapStatistics } from 'node:v8';
import { sleep } from '../../clock.ts';
import type { Egress } from '../../egress/index.ts';
import { AppError, isAppError } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';
import type { Operation, ProviderRequest, ProviderResponse, UploadInput, UploadOperation } from '../contract.ts';
import { detailsOf } from '../define.ts';
import { createBindings, prepareOutgoing } from './binding.ts';
import { type ByteBudget, createByteBudget } from './byte-budget.ts';
import {
  type AccessTokens,
  DEFAULT_TIMEOUT_MS,
  type ExchangePorts,
  exchange,
  type PreparedRequest,
  type ProviderCall,
} from './exchange.ts';
import {
  describeFailure,
  type FailedCall,
  isIdempotent,
  type JudgedFailure,
  judgeResponse,
  planRetry,
} from './failure.ts';
import { type PassedRequest, pass } from './passthrough.ts';
import { logProviderCalls, measureBudget, measureProviderCalls, type ReportRequest } from './reporting.ts';
import { sendFile } from './upload.ts';
import { followLink, resolveTarget } from './url.ts';

export { type ByteBudget, createByteBudget, type Hold } from './byte-budget.ts';
export type { AccessTokens, CallTally, ProviderCall } from './exchange.ts';
export type { PassedRequest, PassedResponse } from './passthrough.ts';

export type ProviderClient = ReturnType<typeof createProviderClient>;

export interface ProviderFile {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

/** A request for people to read. */
export interface RequestPreview {
  readonly method: string;
  /** At the provider, also when a simulator would answer. */
  readonly url: string;
  readonly body?: string;
}

export interface ClientPorts extends ExchangePorts {
  readonly random: { readonly fraction: () => number };
  /** For the responses of calls that have no `hold`. Default: no bound. */
  readonly budget?: ByteBudget;
  /** Where the simulators run; without it an instance with `simulator: true` is refused. */
  readonly simulatorsUrl?: string | undefined;
}

/** What of the platform the client stands on, which this level of the house must not know by name. */
type Ground = Pick<ClientPorts, 'clock' | 'random'> & {
  readonly egress: Egress;
  readonly metrics: Metrics;
  readonly log: Logger;
};

export interface ProviderClientSettings {
  readonly simulatorsUrl: string | undefined;
  /** For the responses of providers. Default: a third of the memory of the process. */
  readonly memoryBytes: number | undefined;
  /** A line for every request. */
  readonly logsCalls: boolean;
}

const MEMORY_SHARE = 1 / 3;

/** The client, and the memory that its responses are counted in. */
export function composeProviderClient(
  ground: Ground,
  { simulatorsUrl, memoryBytes, logsCalls }: ProviderClientSettings,
): { readonly client: ProviderClient; readonly budget: ByteBudget } {
  const { metrics, log } = ground;
  const budget = createByteBudget(memoryBytes ?? getHeapStatistics().heap_size_limit * MEMORY_SHARE);
  measureBudget(budget, metrics);
  const measure = measureProviderCalls(metrics);
  const logCall = logProviderCalls(log);
  const report: ReportRequest = (request) => {
    measure(request);
    if (logsCalls) logCall(request);
  };
  return { client: createProviderClient({ ...ground, report, budget, simulatorsUrl }), budget };
}

const MAX_REDIRECTS = 3;
/** What the provider calls a failure is one, whatever the connector makes of its words. */
const REJECTED: JudgedFailure = { kind: 'rejected', status: 400, mayPass: false };

export function createProviderClient(ports: ClientPorts) {
  const { clock, budget = createByteBudget(Number.POSITIVE_INFINITY) } = ports;
  const bind = createBindings(ports.simulatorsUrl);

  /**
   * One request on its way: over at most three redirects, with retries where they do no harm, and once more with another access token. A refused
   * token was not enough to have anything done, so that with another one the same is sent again, whatever its method.
   */
  async function send(
    call: ProviderCall,
    request: ProviderRequest,
    expects: PreparedRequest['expects'] = 'record',
  ): Promise<ProviderResponse> {
    const { connector, config, signal } = call;
    const target = resolveTarget(bind(connector, config), request);
    const tokens = connector.auth.type === 'oauth2' && request.anonymous !== true ? tokensOf(call) : undefined;
    const hold = call.hold ?? budget.open(call.accountId);
    const setOut = (accessToken: string | undefined): PreparedRequest => {
      const binding = bind(connector, config, accessToken);
      const deadlineMs = clock.steady() + (connector.timeoutMs ?? DEFAULT_TIMEOUT_MS);
      return { binding, call, request, expects, hold, target, deadlineMs, outgoing: prepareOutgoing(binding, request) };
    };
    try {
      // Until it is replaced.
      let held = tokens && { tokens, token: await tokens.current(signal) };
      let prepared = setOut(held?.token);
      let url = target;
      for (let redirects = 0, retries = 0, resends = 0; ; resends++) {
        const outcome = await exchange(ports, prepared, { url, resends });
        if (outcome.kind === 'answered') return outcome.response;
        if (outcome.kind === 'redirected') {
          if (redirects++ === MAX_REDIRECTS) throw tooManyRedirects(connector.name);
          url = followLink(prepared.binding, outcome.location, url.href);
          continue;
        }
        const { failed } = outcome;
        if (held !== undefined && isAppError(failed.error, 'INSTANCE_CREDENTIALS_FAILED')) {
          const another = await held.tokens.replace(held.token, signal);
          if (another === held.token) throw failed.error;
          held = undefined;
          prepared = setOut(another);
          retries = 0;
        } else {
          await waitToRetry(prepared, failed, retries++);
        }
        url = target;
        redirects = 0;
      }
    } finally {
      if (call.hold === undefined) hold.close();
    }
  }

  /** @throws the failure when there is to be no other try; the reason of the signal */
  async function waitToRetry({ call, request, deadlineMs }: PreparedRequest, failed: FailedCall, retries: number) {
    const remainingMs = deadlineMs - clock.steady();
    const waitMs = planRetry(ports.random, { failed, retries, remainingMs, idempotent: isIdempotent(request) });
    if (waitMs === undefined || call.retry === false) throw failed.error;
    await sleep(clock, waitMs, call.signal);
  }

  return {
    /** @returns what the connector or a 2xx status calls a success. @throws AppError for the rest; the reason of `signal` when it aborts. */
    send: (call: ProviderCall, request: ProviderRequest): Promise<ProviderResponse> => send(call, request),

    /** As `send`, for a response that is passed on byte for byte, whatever it is. */
    sendForFile: async (call: ProviderCall, request: ProviderRequest): Promise<ProviderFile> => {
      const { headers, body } = await send(call, request, 'file');
      if (!Buffer.isBuffer(body)) throw new Error('The client read a file as something else');
      return { headers, bytes: body };
    },

    /** Passes a request on as it is, but for the authentication. @returns what the provider says, whatever that is. @throws AppError where it says nothing */
    pass: async (call: ProviderCall, request: PassedRequest) => {
      const tokens = call.connector.auth.type === 'oauth2' ? tokensOf(call) : undefined;
      return pass(ports, { call, tokens, bind }, request);
    },

    /**
     * Sends a file as it comes, once: nothing of it is kept to be sent again. Where the provider refuses an access token, the next call has another.
     * @throws as `execute`; PROVIDER_UNAVAILABLE where an access token was refused; what reading the bytes throws
     */
    upload: async <Input extends UploadInput>(
      operation: UploadOperation<Input>,
      { input, bytes }: { readonly input: Input; readonly bytes: AsyncIterable<Buffer> },
      call: ProviderCall,
    ) => {
      const tokens = call.connector.auth.type === 'oauth2' ? tokensOf(call) : undefined;
      const hold = call.hold ?? budget.open(call.accountId);
      try {
        const request = operation.request(input, call.config);
        const response = await sendFile(ports, { call, tokens, bind, hold }, request, { ...input.file, bytes });
        return readAs(call, () => operation.read(response, input));
      } finally {
        if (call.hold === undefined) hold.close();
      }
    },

    /** What `send` would send first, with every secret masked; nothing is sent. */
    preview: (
      { connector, config }: Pick<ProviderCall, 'connector' | 'config'>,
      request: ProviderRequest,
    ): RequestPreview => {
      const binding = bind(connector, config);
      const { method, body } = prepareOutgoing(binding, request);
      const { redact } = binding.redactor;
      const url = redact(resolveTarget(binding, request).href);
      return { method, url, ...(body !== undefined && { body: redact(body) }) };
    },

    /** The error that a call would have failed with, had the provider answered so. */
    judge: ({ connector, config }: ProviderCall, answer: Pick<ProviderResponse, 'status' | 'body'>) => {
      const response = { headers: {}, ...answer };
      const said = connector.classify?.(response);
      const failure = judgeResponse(said ?? undefined, answer.status, 'POST') ?? REJECTED;
      return describeFailure(clock, { binding: bind(connector, config), response, failure, quotable: true }).error;
    },

    /** @throws as `send`, and AppError PROVIDER_PROTOCOL when the connector cannot read the response */
    execute: async <Input, Output>(operation: Operation<Input, Output>, input: Input, call: ProviderCall) => {
      const { config, signal } = call;
      if ('run' in operation) {
        try {
          return await operation.run({ config, signal, send: send.bind(undefined, call) }, input);
        } catch (error) {
          signal.throwIfAborted();
          throw toUnreadable(call, error);
        }
      }
      const response = await send(call, operation.request(input, config));
      return readAs(call, () => operation.read(response, input));
    },
  };
}

/** @throws AppError PROVIDER_PROTOCOL where the connector cannot read the response */
function readAs<Output>(call: ProviderCall, read: () => Output): Output {
  try {
    return read();
  } catch (error) {
    throw toUnreadable(call, error);
  }
}

function tokensOf({ tokens, connector }: ProviderCall): AccessTokens {
  if (tokens === undefined) throw new Error(`A call to ${connector.name} needs the access tokens of its instance`);
  return tokens;
}

function tooManyRedirects(name: string): AppError {
  return new AppError('PROVIDER_PROTOCOL', `${name} redirected more than ${MAX_REDIRECTS} times.`);
}

/** A response of another shape than documented shows as an AnswerError of the kit or as a TypeError in the connector. Log and activity have the cause. */
export function toUnreadable({ connector }: Pick<ProviderCall, 'connector'>, error: unknown): AppError {
  if (isAppError(error)) return error;
  return new AppError('PROVIDER_PROTOCOL', `Causeway does not understand the response of ${connector.name}.`, {
    details: detailsOf(error),
    cause: error instanceof SyntaxError ? withoutQuote(error) : error,
  });
}

/** A parser quotes a few characters of what it cannot read: the beginning of a secret there is too short to be known. */
function withoutQuote(error: SyntaxError): SyntaxError {
  const bare = new SyntaxError(error.message.replace(/["'`].*["'`]/su, '…'));
  const frames = error.stack?.slice(error.stack.indexOf('\n    at ')) ?? '';
  bare.stack = `${bare.name}: ${bare.message}${frames}`;
  return bare;
}
