import type { Causeway, ObjectRecord, Page, QueryExplanation } from '@causeway/client';
import { type AddCommands, names, wholeNumber } from '../command.js';
import { UsageError } from '../failures.js';
import { columnsOf } from '../output.js';
import type { Session } from '../session.js';
import { tableText } from '../table.js';
import { counted, printable } from '../texts.js';

interface ExplainOptions {
  readonly where?: string;
  readonly fields?: readonly string[];
  readonly orderBy?: string;
}

interface QueryOptions extends ExplainOptions {
  readonly limit?: number;
  readonly all?: true;
  readonly pageSize?: number;
  readonly pushdownOnly?: true;
}

const DEFAULT_LIMIT = 50;
const LARGEST_PAGE = 5000;
const DEFAULT_PAGE = 200;
const PARTIAL: Readonly<Record<string, string>> = {
  'scan-budget': 'a page ended early, because filling it needs many calls to the provider',
  bytes: 'a page ended early, because its rows are large',
  'result-window': 'the provider returns no more rows for this query, although there may be more: narrow --where',
};

export const addQuery: AddCommands = (program, run) => {
  program
    .command('query <object>')
    .description('print the records of an object')
    .option('-w, --where <filter>', "such as: status = 'Active' AND hireDate >= 2024-01-01")
    .option('-f, --fields <names>', 'separated by commas', names)
    .option('-o, --order-by <order>', 'such as: lastName asc, hireDate desc')
    .option('-n, --limit <rows>', `maximum number of rows (default: ${DEFAULT_LIMIT})`, wholeNumber)
    .option('-a, --all', 'all rows')
    .option('--page-size <rows>', `rows of one request, up to ${LARGEST_PAGE}`, wholeNumber)
    .option('--pushdown-only', 'reject a filter that the provider cannot evaluate completely')
    .action(run(query));
  program
    .command('explain <object>')
    .description('explain which part of a query the provider evaluates, and which part the service checks')
    .option('-w, --where <filter>', 'as for query')
    .option('-f, --fields <names>', 'as for query', names)
    .option('-o, --order-by <order>', 'as for query')
    .action(run(explain));
};

async function query(session: Session, objectName: string, options: QueryOptions): Promise<void> {
  if (options.all && options.limit !== undefined) throw new UsageError('Use either --all or --limit.');
  const account = await session.account();
  const { output } = session;
  const walk = new Walk(account, objectName, options, session.signal);
  const columns = columnsOf(options.fields ?? (await walk.columns(output.format)));
  const count = await output.list(walk.rows(), columns, 'No record matches.');
  if (walk.partial !== undefined) output.note(`Note: ${PARTIAL[walk.partial] ?? walk.partial}.`);
  if (walk.hasMore && options.limit === undefined)
    output.note(`There are more than these ${count} rows. Add --all, or --limit <rows>`);
  else if (output.format === 'table' && count > 0)
    output.note(output.errColors.dim(`${counted(count, 'row')}${pushdownOf(options.where && walk.pushdown)}`));
}

/** A query that is followed page by page until enough rows are read. */
class Walk {
  /** The reason why a page was not full. */
  partial: string | undefined;
  pushdown: string | undefined;
  hasMore = false;
  readonly #account: Causeway;
  readonly #objectName: string;
  readonly #options: QueryOptions;
  readonly #signal: AbortSignal;
  #first: Page<ObjectRecord> | undefined;

  constructor(account: Causeway, objectName: string, options: QueryOptions, signal: AbortSignal) {
    this.#account = account;
    this.#objectName = objectName;
    this.#options = options;
    this.#signal = signal;
  }

  /** Returns the columns. A table shows the fields of the first rows. In CSV each field has a column, whatever the rows contain. */
  async columns(format: string): Promise<readonly string[]> {
    if (format === 'json' || format === 'ndjson') return [];
    if (format === 'table') return [...new Set((await this.#firstPage()).rows.flatMap((row) => Object.keys(row)))];
    const about = { objectName: this.#objectName };
    const { fields } = await this.#account.objects.getObjectMetadata(about, { signal: this.#signal });
    return fields.filter(({ unlisted }) => unlisted !== true).map(({ name }) => name);
  }

  async *rows(): AsyncGenerator<ObjectRecord, void> {
    const { all, limit = DEFAULT_LIMIT } = this.#options;
    let left = all ? Number.POSITIVE_INFINITY : limit;
    for (let page = await this.#firstPage(); ; page = await this.#page(page.nextPage)) {
      this.partial = page.headers.get('Elements-Partial-Result') ?? this.partial;
      this.pushdown ??= page.headers.get('Elements-Query-Pushdown') ?? undefined;
      yield* page.rows.slice(0, left);
      this.hasMore = page.nextPage !== undefined || page.rows.length > left;
      left -= page.rows.length;
      if (left <= 0 || page.nextPage === undefined) return;
    }
  }

  async #firstPage(): Promise<Page<ObjectRecord>> {
    this.#first ??= await this.#page();
    return this.#first;
  }

  #page(nextPage?: string): Promise<Page<ObjectRecord>> {
    const { where, fields, orderBy, all, limit = DEFAULT_LIMIT, pageSize, pushdownOnly } = this.#options;
    const size = pageSize ?? (all ? DEFAULT_PAGE : Math.min(limit, DEFAULT_PAGE));
    return this.#account.records(this.#objectName).list(
      {
        pageSize: size,
        ...(where !== undefined && { where }),
        ...(fields !== undefined && { fields }),
        ...(orderBy !== undefined && { orderBy }),
        ...(pushdownOnly && { mode: 'pushdown-only' as const }),
        ...(nextPage !== undefined && { nextPage }),
      },
      { signal: this.#signal },
    );
  }
}

function pushdownOf(pushdown: string | undefined): string {
  const words: Readonly<Record<string, string>> = {
    full: '; the provider evaluated the whole filter',
    partial: '; the provider evaluated a part of the filter, and the service checked the rest',
    none: '; the service checked the filter',
  };
  return words[pushdown ?? ''] ?? '';
}

async function explain(
  session: Session,
  objectName: string,
  { where, fields, orderBy }: ExplainOptions,
): Promise<void> {
  const account = await session.account();
  const queryExplain = {
    objectName,
    ...(where !== undefined && { where }),
    ...(fields !== undefined && { fields: fields.join(',') }),
    ...(orderBy !== undefined && { orderBy }),
  };
  const explanation = await account.query.explainQuery({ queryExplain }, { signal: session.signal });
  await session.output.one(explanation, () => explanationText(explanation, where, session));
}

const TAKES: Readonly<Record<string, string>> = {
  full: 'The provider evaluates the whole filter.',
  partial: 'The provider evaluates a part of the filter. The service checks the rest, row by row.',
  none: 'The provider evaluates nothing of the filter. The service checks it, row by row.',
};
const HOLDS: Readonly<Record<string, string>> = { never: 'no row can match', always: 'every row matches' };

function explanationText(explanation: QueryExplanation, where: string | undefined, { output }: Session): string {
  const { colors } = output;
  const { predicates, pushed, residual, pushdown, holds, sort, request, estimatedProviderCalls: calls } = explanation;
  const table = tableText(
    predicates,
    {
      predicate: ({ predicate }) => predicate,
      'evaluated by': (predicate) =>
        predicate.pushed ? 'provider' : predicate.holds === undefined ? 'service' : 'nobody',
      exactness: ({ exactness }) => (exactness === 'none' ? '' : exactness),
      why: ({ reason, holds: held }) => reason ?? HOLDS[held ?? ''],
    },
    colors,
  );
  const facts = {
    'the provider': pushed,
    'the service': residual,
    'sorted by':
      sort.orderBy === undefined
        ? undefined
        : `${sort.pushed ? 'the provider' : 'the service, which fetches all rows for it'}: ${sort.orderBy}`,
    calls: residual === undefined ? `${calls} for the first page` : `${calls} for the first page, or more`,
    request: request && [`${request.method} ${decoded(request.url)}`, request.body].filter(Boolean).join('\n'),
  };
  const width = Math.max(...Object.keys(facts).map((name) => name.length));
  return [
    where === undefined ? 'There is no filter.' : (TAKES[pushdown] ?? pushdown),
    ...(holds === undefined ? [] : [`Because of the values that its fields can have, ${HOLDS[holds] ?? holds}.`]),
    ...(predicates.length > 0 ? ['', table.text] : []),
    '',
    ...Object.entries(facts).flatMap(([name, fact]) => (fact === undefined ? [] : [line(name, fact)])),
  ].join('\n');

  function line(name: string, fact: string): string {
    const [head = '', ...rest] = fact.split('\n').map(printable);
    return [`${colors.bold(name.padEnd(width))}  ${head}`, ...rest.map((text) => `${' '.repeat(width)}  ${text}`)].join(
      '\n',
    );
  }
}

/** Returns a URL with its parameters decoded, for people. */
function decoded(url: string): string {
  try {
    return decodeURIComponent(url.replaceAll('+', ' '));
  } catch {
    return url;
  }
}
