import { createByteBudget, type ProviderClient } from '../../src/connector/client/index.ts';
import type {
  Connector,
  ConnectorContext,
  ListInput,
  ListOperation,
  ListPage,
  ObjectSpec,
  ProviderRequest,
  ProviderResponse,
  Translator,
} from '../../src/connector/index.ts';
import type { PlatformKeys } from '../../src/db/platform-keys.ts';
import { AppError } from '../../src/errors.ts';
import type { ConnectedInstance } from '../../src/resources/call.ts';
import { composeResources, type ListRequest, type MappedCalls, type RecordList } from '../../src/resources/index.ts';
import { leastConnector } from '../support/least-connector.ts';
import { createVirtualClock } from '../support/virtual-clock.ts';

/** A filter of the pretended provider: all of these must hold. */
export type FakeFilter = readonly (readonly [field: string, operator: string, value: string])[];

export interface FakeRow {
  readonly id: number;
  readonly [field: string]: unknown;
}

/** Knows `=` and `>=`, and AND between them. */
const translator: Translator<FakeFilter> = {
  and: (operands) => operands.flat(),
  compare: (field, operator, value) => [[field.native, operator, 'text' in value ? value.text : String(value.value)]],
};

/** An object over rows in memory: `id` is filtered and sorted by the provider, `score` as a superset, the rest not at all. */
export function createObject(rows: readonly FakeRow[], options: Partial<ListOperation<FakeFilter>> = {}): ObjectSpec {
  const object: ObjectSpec<FakeFilter> = {
    fields: {
      id: { type: 'integer', nullable: false, sortable: true, filter: { '=': 'exact', '>=': 'exact' } },
      name: { type: 'string' },
      score: { type: 'integer', filter: { '>=': 'superset' } },
      place: { type: 'object' },
      'place.city': { type: 'string' },
    },
    translator,
    list: {
      maxPageSize: 50,
      run: async ({ send }: ConnectorContext, input: ListInput<FakeFilter>) => {
        await send({ path: '/rows', json: input });
        return takePage(rows, input);
      },
      ...options,
    },
  };
  return object as ObjectSpec;
}

/** Returns a page of the rows that match, in the order of their ids. */
export function takePage(
  rows: readonly FakeRow[],
  { filter = [], orderBy, cursor = '0', limit }: ListInput<FakeFilter>,
): ListPage {
  const found = rows.filter((row) => filter.every(([field, operator, value]) => keeps(row[field], operator, value)));
  const descending = orderBy.some(({ direction }) => direction === 'desc');
  const sorted = [...found].sort((a, b) => (descending ? b.id - a.id : a.id - b.id));
  const end = Number(cursor) + limit;
  return {
    records: sorted.slice(Number(cursor), end),
    total: sorted.length,
    ...(end < sorted.length && { next: String(end) }),
  };
}

/** A superset: a score that is a little too low is returned as well. */
function keeps(value: unknown, operator: string, wanted: string): boolean {
  if (operator === '=') return Number(value) === Number(wanted);
  return Number(value) >= Number(wanted) - 1;
}

export type FakeService = ReturnType<typeof createService>;

/** What the pretended provider answers to a call, where that matters. */
export type FakeAnswer = (request: ProviderRequest) => Partial<ProviderResponse>;

/** The normalised calls over a pretended provider; `objects` is static or discovered. Without `mapped`, nothing is mapped. */
export function createService(objects: Connector['objects'], response: FakeAnswer = () => ({}), mapped?: MappedCalls) {
  const sent: unknown[] = [];
  const verdicts: string[] = [];
  let failure: Error | undefined;
  const clock = createVirtualClock();
  const client = createClient(async (request) => {
    sent.push(request);
    if (failure !== undefined) throw failure;
    return response(request);
  });
  const resources = composeResources(
    { clock, keys: createSeal() },
    {
      client,
      budget: createByteBudget(Number.POSITIVE_INFINITY),
      tokensOf: () => undefined,
      noteCredentials: async ({ id }, { kind, work }) => void verdicts.push(`${id} ${kind}: ${work}`),
    },
    mapped,
  );
  const hosts = ['fake.example.com'];
  const connector = leastConnector({
    key: 'fake',
    name: 'Fake',
    baseUrl: () => 'https://fake.example.com',
    hosts,
    objects,
  });
  const createInstance = (changes: Partial<ConnectedInstance> = {}): ConnectedInstance => ({
    accountId: 1,
    id: 7,
    settingsVersion: 1,
    connector,
    config: {},
    disabled: false,
    valid: true,
    refusedCalls: [],
    ...changes,
  });
  const instance = createInstance();
  const list = (request: Partial<ListRequest> = {}, changes?: Partial<ConnectedInstance>): Promise<RecordList> =>
    resources.listRecords(
      {
        instance: changes === undefined ? instance : createInstance(changes),
        objectName: 'rows',
        signal: new AbortController().signal,
      },
      { pageSize: 20, maxProviderCalls: 25, pushdownOnly: false, ...request },
    );
  return {
    resources,
    instance,
    /** Another instance, as good as the first. */
    createInstance,
    /** Bodies of all calls to the provider so far. */
    sent,
    verdicts,
    /** Makes the next calls to the provider fail. */
    failWith: (error: Error | undefined) => {
      failure = error;
    },
    moveClock: clock.advance,
    list,
    /** All rows of a query by its page tokens, and how many answers they took. */
    listAll: async (request: Partial<ListRequest>) => {
      const answers: RecordList[] = [];
      for (let nextPage: string | undefined; ; ) {
        const response = await list({ ...request, nextPage });
        answers.push(response);
        nextPage = response.nextPage;
        if (nextPage === undefined) return { rows: answers.flatMap(({ records }) => records), answers };
      }
    },
  };
}

/** Keeps what it sealed, and gives it back in the same context only. */
function createSeal(): Pick<PlatformKeys, 'seal' | 'open'> {
  const sealed = new Map<string, string>();
  return {
    seal: (plain, context) => {
      const token = `token${sealed.size}`;
      sealed.set(`${token} ${context}`, plain);
      return token;
    },
    open: (token, context) => sealed.get(`${token} ${context}`),
  };
}

/** Counts calls as the real one does, and hears an abort. */
function createClient(onSend: (request: ProviderRequest) => Promise<Partial<ProviderResponse>>): ProviderClient {
  const send: ProviderClient['send'] = async (call, request) => {
    if (call.tally !== undefined) call.tally.providerCalls++;
    const response = await onSend(request);
    call.signal.throwIfAborted();
    return { status: 200, headers: {}, body: undefined, ...response } satisfies ProviderResponse;
  };
  return {
    send,
    sendForFile: () => {
      throw new Error('There are no files here.');
    },
    upload: () => {
      throw new Error('There are no files here.');
    },
    pass: () => {
      throw new Error('Nothing is passed on here.');
    },
    judge: (_call, { status, body }) =>
      new AppError('PROVIDER_REJECTED', `Fake answered ${status}.`, { providerMessage: String(body) }),
    preview: () => {
      throw new Error('Nothing is explained here.');
    },
    execute: async (operation, input, call) => {
      const { config, signal } = call;
      const output =
        'run' in operation
          ? await operation.run({ config, signal, send: (request) => send(call, request) }, input)
          : operation.read(await send(call, operation.request(input, config)), input);
      // As the real one counts what it parses.
      call.hold?.take(JSON.stringify(output ?? null).length);
      return output;
    },
  };
}
