import { expect } from 'chai';
import type {
  ChangesInput,
  ChangesPage,
  Connector,
  FieldSpec,
  ObjectSpec,
  Objects,
  ProviderResponse,
  Translator,
} from '#connector';
import { CHECKS, FULL, type Samples, startSubject } from '#connector/suite';
import bamboohr from '../../connectors/bamboohr/index.ts';
import { createSimulator } from '../../connectors/bamboohr/simulator.ts';

/** BambooHR's simulator ignores case, and takes a missing date for an early one. */
const FIELDS = ['id', 'firstName', 'lastName', 'hireDate', 'status', 'department'];

const SECRET = 'demo-key';

const SAMPLES: Samples = { configuration: { username: SECRET, 'company.name': 'acme' } };
/** The check of filters finds its mistake among the first ones, and paging has its own tests. */
const EFFORT = { ...FULL, pagedListings: 1, sortedFields: 1 };

/** A mistake in a connector, the check that must find it, and what it must say. */
interface Mistake {
  readonly make: (employees: ObjectSpec) => ObjectSpec;
  readonly check: RegExp;
  readonly fault: RegExp;
}

function declaring(field: string, spec: Partial<FieldSpec>): Mistake['make'] {
  return (employees) => {
    const was = employees.fields[field];
    if (was === undefined) throw new Error(`There are no employees with '${field}'.`);
    return { ...employees, fields: { ...employees.fields, [field]: { ...was, ...spec } } };
  };
}

function translating(wrong: (right: Translator<unknown>) => Translator<unknown>): Mistake['make'] {
  return (employees) => ({
    ...employees,
    translator: { ...employees.translator, ...wrong(employees.translator ?? {}) },
  });
}

type ReadFeed = (response: ProviderResponse, input: ChangesInput) => ChangesPage;

function readingFeed(
  wrong: (page: ChangesPage, response: ProviderResponse, input: ChangesInput, read: ReadFeed) => ChangesPage,
): Mistake['make'] {
  return (employees) => {
    const feed = employees.changes?.feed;
    if (feed === undefined || !('read' in feed)) throw new Error('Nothing is read of changes of employees.');
    const read: ReadFeed = (response, input) => wrong(feed.read(response, input), response, input, feed.read);
    return { ...employees, changes: { feed: { ...feed, read } } };
  };
}

const CHANGES = /^reports every change/;
const CLAIMS = /^measures every declared operator/;
const FILTERS = /^returns exactly the rows/;

const WRONG_DECLARATIONS: Readonly<Record<string, Mistake>> = {
  'text equality called exact': {
    make: declaring('firstName', { filter: { '=': 'exact' } }),
    check: CLAIMS,
    fault: /employees where firstName=.*rows do not match/,
  },
  'an earlier date called exact': {
    make: declaring('hireDate', { filter: { '<': 'exact' } }),
    check: CLAIMS,
    fault: /employees where hireDate<.*rows do not match/,
  },
  'an inequality that finds too little': {
    make: declaring('lastName', { filter: { '!=': 'superset' } }),
    check: CLAIMS,
    fault: /employees where lastName!=.*rows are missing/,
  },
  'another collation than the provider has': {
    make: declaring('status', { collation: 'cs', domain: {} }),
    check: CLAIMS,
    fault: /employees where status.*rows do not match/,
  },
  'single records by an endpoint that knows no ids': {
    make: (employees) => ({
      ...employees,
      get: {
        request: () => ({ path: '/api/v1/employees/101', query: { fields: 'id,firstName' } }),
        read: ({ body }) => body,
      },
    }),
    check: /^does not find what does not exist/,
    fault: /GET \/employees\/\w+ returned 200/,
  },
  'pages by position that begin elsewhere': {
    make: (employees) => ({
      ...employees,
      ...(employees.list && { list: { ...employees.list, cursorAt: (offset: number) => String(offset + 1) } }),
    }),
    check: /^returns the same rows in pages of any size/,
    fault: /by page: \d+ rows/,
  },
  'a time of changes that does not move': {
    make: (employees) => ({ ...employees, changes: { updated: 'hireDate' } }),
    check: CHANGES,
    fault: /employees: \d+ was updated, but no poll reports it; polls find its changes by 'hireDate'/,
  },
  'a feed that passes over deletions': {
    make: readingFeed((page) => ({ ...page, changes: page.changes.filter(({ action }) => action !== 'deleted') })),
    check: CHANGES,
    fault: /employees: \d+ was deleted, but no poll reports it/,
  },
  'a feed that has another time for a change each time': {
    make: readingFeed((page) => ({
      ...page,
      changes: page.changes.map((change) => ({ ...change, at: new Date().toISOString() })),
    })),
    check: CHANGES,
    fault: /employees: employees\.\w+ of \d+ is reported again without a change/,
  },
  'a feed that tells of the second that is not over': {
    make: readingFeed((_page, response, input, read) =>
      read({ ...response, headers: { ...response.headers, date: 'Fri, 31 Dec 9999 00:00:00 GMT' } }, input),
    ),
    check: CHANGES,
    fault: /employees: \d+ was updated, but no poll reports it/,
  },
};

const WRONG_TRANSLATORS: Readonly<Record<string, Mistake>> = {
  'OR written as AND': {
    make: translating(({ and }) => ({ ...(and && { or: and }) })),
    check: FILTERS,
    fault: /rows are missing/,
  },
  'at least written as more than': {
    make: translating(({ compare }) => ({
      ...(compare && {
        compare: (field, operator, value) => compare(field, operator === '>=' ? '>' : operator, value),
      }),
    })),
    check: CLAIMS,
    fault: /employees where hireDate>=.*rows are missing/,
  },
  'only the first of a list': {
    make: translating((right) => ({
      ...(right.in && { in: (field, values, negated) => right.in?.(field, values.slice(0, 1), negated) }),
    })),
    check: CLAIMS,
    fault: /employees where department IN .*rows are missing/,
  },
  'equality written as its opposite': {
    make: translating(({ compare }) => ({
      ...(compare && {
        compare: (field, operator, value) => compare(field, operator === '=' ? '!=' : operator, value),
      }),
    })),
    check: CLAIMS,
    fault: /employees where \w+=.*rows are missing/,
  },
  'quotes that are not escaped': {
    make: translating(({ compare }) => ({
      ...(compare && {
        compare: (field, operator, value) => String(compare(field, operator, value)).replaceAll(/\\'|''(?=.)/g, "'"),
      }),
    })),
    check: CLAIMS,
    fault: /GET \/employees \{"where":.*returned 4\d\d/,
  },
};

/** What is wrong outside of the objects. */
interface Slip {
  readonly make: (connector: Connector) => Connector;
  readonly check: RegExp;
  readonly fault: RegExp;
  readonly samples?: Partial<Samples>;
}

const TROUBLES = /^reports each failure of the provider/;

const SLIPS: Readonly<Record<string, Slip>> = {
  'a refusal of credentials that it takes for one of the request': {
    make: (connector) => ({
      ...connector,
      classify: (response) => (response.status === 401 ? { kind: 'rejected' } : connector.classify?.(response)),
    }),
    check: TROUBLES,
    fault:
      /'401' at a list is reported as PROVIDER_REJECTED instead of INSTANCE_CREDENTIALS_FAILED: .*\n.*wrong credentials at the probe/s,
  },
  'failures that it takes for successes': {
    make: (connector) => ({ ...connector, classify: () => null }),
    check: TROUBLES,
    fault: /'429; retry-after=7' at a list is reported as PROVIDER_PROTOCOL instead of PROVIDER_RATE_LIMITED/,
  },
  'a secret in an address': {
    make: (connector) => ({
      ...connector,
      probe: { ...connector.probe, query: { ...connector.probe.query, key: SECRET } },
    }),
    check: /^leaves no secret/,
    fault: /^the value of 'username' occurs in a URL$/m,
  },
  'a signature that it takes whatever it is': {
    make: (connector) => ({
      ...connector,
      ...(connector.webhooks && {
        webhooks: {
          ...connector.webhooks,
          verify: ({ headers }) => (headers['x-bamboohr-signature'] === undefined ? 'unsigned' : 'genuine'),
        },
      }),
    }),
    check: /^rejects webhooks/,
    fault: /^"{}" under headers of '0' is genuine$/m,
  },
  'a README that is not there': {
    make: (connector) => connector,
    samples: { folder: import.meta.dirname },
    check: /^has a README/,
    fault: /^There is no README\.md in /,
  },
};

describe('a connector that declares what is not so', () => {
  for (const [name, mistake] of Object.entries(WRONG_DECLARATIONS))
    it(`is caught: ${name}`, () => expectCaught(mistake));
});

describe('a connector that is wrong outside of its objects', () => {
  for (const [name, { make, ...finding }] of Object.entries(SLIPS))
    it(`is caught: ${name}`, () => expectFault(make({ ...bamboohr, objects: employeesAlone }), finding));
});

const employeesAlone = async (context: Context) => withEmployees(await original(context), (employees) => employees);

describe('a connector whose translator is wrong', () => {
  for (const [name, mistake] of Object.entries(WRONG_TRANSLATORS))
    it(`is caught: ${name}`, () => expectCaught(mistake));
});

describe('a connector that throws', () => {
  const auth = {
    type: 'custom',
    headers: () => {
      throw new Error("The setting 'apiKey' is not declared.");
    },
  } as const;

  it('fails its suite with what it threw, which callers of the API are not told', async () => {
    const options = { connector: { ...bamboohr, auth }, createSimulator, samples: SAMPLES, effort: EFFORT };
    const error = await startSubject(options).then(() => undefined, String);
    expect(error).to.match(/POST \/instances returned 500: .*"reason":"The setting 'apiKey' is not declared\."/);
  });
});

function expectCaught({ make, ...finding }: Mistake): Promise<void> {
  const objects = async (context: Context) => withEmployees(await original(context), make);
  return expectFault({ ...bamboohr, objects }, finding);
}

async function expectFault(connector: Connector, { check, fault, samples }: Omit<Slip, 'make'>): Promise<void> {
  const subject = await startSubject({
    connector,
    createSimulator,
    samples: { ...SAMPLES, ...samples },
    effort: EFFORT,
  });
  try {
    const found = CHECKS.find(({ name }) => check.test(name));
    const faults = await found?.find(subject).catch((error: Error) => [error.message]);
    expect(faults?.join('\n')).to.match(fault);
  } finally {
    await subject.target.stop();
  }
}

type Context = Parameters<Extract<Connector['objects'], (...given: never) => unknown>>[0];

async function original(context: Context): Promise<Objects> {
  return typeof bamboohr.objects === 'function' ? bamboohr.objects(context) : bamboohr.objects;
}

/** Employees alone, with a few fields. */
function withEmployees({ employees }: Objects, make: Mistake['make']): Objects {
  if (employees === undefined) throw new Error('There are no employees.');
  const { create: _create, update: _update, children: _children, ...rest } = employees;
  const fields = Object.fromEntries(Object.entries(employees.fields).filter(([name]) => FIELDS.includes(name)));
  return { employees: make({ ...rest, fields }) };
}
