import { expect } from 'chai';
import pg from 'pg';
import { OPERATIONS, type OperationId } from '../../generated/operations.ts';
import { type Privilege, ROLES, type RoleKey } from '../../src/accounts/privileges.ts';
import { ACCESS, type Access } from '../../src/api/access.ts';
import { ASIDE } from '../../src/db/database.ts';
import { type ApiAnswer, type ApiCall, useApp } from '../support/app.ts';
import { type AskedOperationId, RECIPES } from './support/access-recipes.ts';
import { expectProblem } from './support/expect-problem.ts';
import { createPlace, fillFirstPlace, type Place, startIdsAt, type Thing, unique } from './support/places.ts';
import { withoutLastCall } from './support/shape.ts';
import { authorizationOf, createUser, type Tenant } from './support/tenants.ts';

/*
 * Every operation by everybody everywhere. Who calls is always of the first account; what is called about is there (own), in another account
 * of the organization (sibling), or in another organization (stranger), and really is there: a 404 means "not yours".
 */

const IS_SLOW_RUN = ['thorough', 'full'].includes(process.env.CONFORMANCE ?? '');
/** Another one comes first from run to run. */
const FIRST_TURN = Number(process.env.CONFORMANCE_SEED ?? Date.now()) % 1000;

const ROLE_NAMES = [...(Object.keys(ROLES) as RoleKey[]), 'nobody'] as const;
type RoleName = (typeof ROLE_NAMES)[number];

const PLACES = ['own', 'sibling', 'stranger'] as const;
type PlaceName = (typeof PLACES)[number];

/** How a call says what it is about: by the header, by an account in its path, or by nothing but an id or a token. */
type Naming = 'header' | 'path' | 'nothing';

interface Way {
  readonly place: PlaceName;
  readonly naming: Naming;
}

const ids = (Object.keys(OPERATIONS) as OperationId[]).filter(isAsked);

/** The others are outside of the base path, or for a page with a key of its own, and nobody is asked who he is. */
function isAsked(id: OperationId): id is AskedOperationId {
  const scopes: readonly string[] = OPERATIONS[id].scopes;
  const isOfNobody = scopes.includes('root') || scopes.includes('connect') || scopes.join() === 'public';
  return OPERATIONS[id].tag !== undefined && !isOfNobody;
}

/** What is passed to the provider is for everybody. */
function accessOf(id: AskedOperationId): Access {
  const table: Readonly<Record<string, Access>> = ACCESS;
  return table[id] ?? {};
}

/** Whoever has neither of two privileges is told of the first; whoever lacks only the other one, of that. */
function privilegeOf(id: AskedOperationId, role: RoleName): Privilege | undefined {
  const { privilege, also, user } = accessOf(id);
  if (also !== undefined && privilege !== undefined && holds(role, privilege)) return also;
  return [privilege ?? []].flat()[0] ?? user?.ofAccount ?? user?.ofOrganization;
}

/** It is about an instance that a token names. */
function takesToken(id: AskedOperationId): boolean {
  return !(OPERATIONS[id].scopes as readonly string[]).includes('platform');
}

function waysOf(id: AskedOperationId): readonly Way[] {
  const { of } = RECIPES[id];
  // The path to an account that is taken away is the one to that account.
  const isNamedByItself = (of !== undefined && of !== 'spareAccount') || takesToken(id);
  const namings: readonly Naming[] = [
    'header',
    ...(accessOf(id).account === undefined ? [] : (['path'] as const)),
    ...(isNamedByItself ? (['nothing'] as const) : []),
  ];
  const others = (['sibling', 'stranger'] as const).flatMap((place) => namings.map((naming) => ({ place, naming })));
  return [{ place: 'own', naming: 'nothing' }, { place: 'own', naming: 'header' }, ...others];
}

/** One of several is enough. */
function holds(role: RoleName, privilege: Privilege | readonly Privilege[]): boolean {
  const held: readonly Privilege[] = role === 'nobody' ? [] : ROLES[role].privileges;
  return [privilege].flat().some((one) => held.includes(one));
}

function isAllowed(id: AskedOperationId, role: RoleName): boolean {
  const { privilege, also, user } = accessOf(id);
  if (privilege !== undefined && !holds(role, privilege)) return false;
  if (also !== undefined && !holds(role, also)) return false;
  const { ofAccount, ofOrganization } = user ?? {};
  if (ofOrganization === undefined || holds(role, ofOrganization)) return true;
  return ofAccount !== undefined && holds(role, ofAccount);
}

/**
 * The rules. An account is within reach of its own people, and of those who manage its organization; out of reach it is not there. Without a
 * privilege nothing is done, wherever. A token is one of the account that is worked in, or none; an id too. A user
 * is found in the account that the call names, and where it names none by whoever has the privilege for the organization in all of its accounts. A
 * formula is seen so, too, and changed in its account only.
 */
function expectedOf(id: AskedOperationId, role: RoleName, { place, naming }: Way): number {
  const { account, user } = accessOf(id);
  const { success = 200, of, showsAllTo, isShownTo, isReservedUnless } = RECIPES[id];
  const isManager = holds(role, 'manageOrganization');
  const isWithinReach = place === 'own' || (place === 'sibling' && isManager);
  if (naming !== 'nothing' && !isWithinReach) return 404;
  if (of === 'spareAccount' && !isManager) return 404;
  const isForeign = place !== 'own' && naming === 'nothing';
  if (isForeign && takesToken(id)) return 401;
  if (!isAllowed(id, role)) return 403;
  if (isReservedUnless !== undefined && !holds(role, isReservedUnless)) return 404;
  if (!isForeign) return success;
  if (isShownTo !== undefined && place === 'sibling' && holds(role, isShownTo)) return 403;
  const ofAll = account === undefined ? (user?.ofOrganization ?? showsAllTo) : undefined;
  const isWide = ofAll !== undefined && holds(role, ofAll);
  return place === 'sibling' && isWide ? success : 404;
}

const CODES: Readonly<Record<number, 'UNAUTHENTICATED' | 'FORBIDDEN' | 'NOT_FOUND'>> = {
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
};

const FIRST_IDS: Readonly<Record<PlaceName, number>> = { own: 1, sibling: 7_100_000_000, stranger: 7_200_000_000 };
/** What is made later. */
const LATER_IDS = 1_000_000;
const NOWHERE_IDS = 7_300_000_000;

/**
 * Statements on the database at this URL: services of other suites may work in this process, too. The end of a transaction that
 * failed may come after the answer, and does not count.
 */
async function countStatements(databaseUrl: string, work: () => Promise<void>): Promise<number> {
  const database = new URL(databaseUrl).pathname.slice(1);
  const { query } = pg.Client.prototype;
  let count = 0;
  const counting = function counting(this: pg.Client, ...input: unknown[]) {
    const [asked] = input;
    const text: unknown = typeof asked === 'string' ? asked : Object(asked).text;
    const name: unknown = Reflect.get(Object(Reflect.get(this, 'connectionParameters')), 'application_name');
    // What is written behind the answers comes when it comes.
    const isMeant = this.database === database && name !== ASIDE && !String(text).startsWith('ROLLBACK');
    if (isMeant) count += 1;
    return Reflect.apply(query, this, input);
  };
  Object.assign(pg.Client.prototype, { query: counting });
  try {
    await work();
  } finally {
    Object.assign(pg.Client.prototype, { query });
  }
  return count;
}

/** Everybody in the slow run, or else one by turns, so that over its ways each operation is tried by all. */
function rolesOf(turn: number): readonly RoleName[] {
  if (IS_SLOW_RUN) return ROLE_NAMES;
  const role = ROLE_NAMES[(FIRST_TURN + turn) % ROLE_NAMES.length];
  return role === undefined ? [] : [role];
}

interface Question {
  readonly path: string;
  readonly call: ApiCall;
}

describe(`the matrix of access (CONFORMANCE_SEED=${FIRST_TURN})`, function matrix() {
  this.timeout(120_000);
  // Nothing works in the background: what is there changes by what is asked for, and by nothing else.
  const service = useApp({
    ROLE: 'api',
    RATE_LIMIT_USER: 'off',
    RATE_LIMIT_ACCOUNT: 'off',
    // Checking each answer against the specification costs as much as all the rest.
    NODE_ENV: IS_SLOW_RUN ? 'test' : 'production',
  });
  let places: Readonly<Record<PlaceName, Place>>;
  let callers: Readonly<Record<RoleName, Tenant>>;
  let alone: ReadonlyMap<AskedOperationId, unknown>;
  let amongOthers: ReadonlyMap<AskedOperationId, unknown>;

  before('three places, and a caller of each role', async () => {
    const own = await fillFirstPlace(service, 'own-place');
    places = { own, sibling: own, stranger: own };
    const { accountId } = service;
    callers = {
      'org-admin': service,
      admin: await createUser(service, { accountId, name: 'own-admin', role: 'admin' }),
      'default-user': await createUser(service, { accountId, name: 'own-user', role: 'default-user' }),
      nobody: await createUser(service, { accountId, name: 'own-nobody' }),
    };
    alone = await readAll();
    const sibling = await createPlace(service, { mark: 'sibling-place', firstId: FIRST_IDS.sibling });
    const isOfAnotherOrganization = true;
    const stranger = await createPlace(service, {
      mark: 'stranger-place',
      firstId: FIRST_IDS.stranger,
      isOfAnotherOrganization,
    });
    places = { own, sibling, stranger };
    await startIdsAt(service, LATER_IDS);
    amongOthers = await readAll();
  });

  async function questionOf(
    id: AskedOperationId,
    caller: Tenant,
    place: Pick<Place, 'accountId' | 'find'>,
    naming: Naming,
  ): Promise<Question> {
    const { of, path = {}, query = {}, headers = {}, body } = RECIPES[id];
    const thing: Thing = of === undefined ? { id: 0 } : await place.find(of);
    const { account } = accessOf(id);
    const params: Readonly<Record<string, string>> = {
      id: String(thing.id),
      // A path always names an account; where that says nothing of the place, it is the caller's.
      ...(account !== undefined && { [account]: String(naming === 'nothing' ? caller.accountId : place.accountId) }),
      ...(typeof path === 'function' ? path(thing) : path),
    };
    const token = takesToken(id) ? (thing.token ?? (await place.find('instance')).token) : undefined;
    const { method, path: template } = OPERATIONS[id];
    return {
      path: template.replace(/\{(\w+)\}/g, (_, param) => encodeURIComponent(params[param] ?? '')),
      call: {
        method: method.toUpperCase(),
        query,
        headers: {
          ...headers,
          ...authorizationOf(caller, token),
          ...(naming === 'header' && { 'elements-account-id': String(place.accountId) }),
        },
        ...(body !== undefined && { body: body(thing) }),
      },
    };
  }

  async function ask(id: AskedOperationId, role: RoleName, way: Way): Promise<ApiAnswer> {
    const { path, call } = await questionOf(id, callers[role], places[way.place], way.naming);
    const response = await service.call(path, call);
    expectNoLeak(response, { path, call }, shownBy(id, role, way, response), RECIPES[id].isLog === true);
    if (isGranted(id, response)) {
      const { of, spends } = RECIPES[id];
      if (spends === true && of !== undefined) places[way.place].take(of);
    }
    return response;
  }

  function isGranted(id: AskedOperationId, { status }: ApiAnswer): boolean {
    return status === (RECIPES[id].success ?? 200);
  }

  /** Whose things the answer may have. */
  function shownBy(
    id: AskedOperationId,
    role: RoleName,
    { place, naming }: Way,
    response: ApiAnswer,
  ): readonly PlaceName[] {
    const { isNarrowed, isShownTo, showsAllTo = isShownTo } = RECIPES[id];
    const isNarrow = isNarrowed === true && naming !== 'nothing';
    if (showsAllTo !== undefined && !isNarrow && holds(role, showsAllTo)) return [place, 'sibling'];
    return isGranted(id, response) ? [place] : [];
  }

  /** Nothing of another place stands in an answer but what the caller sent himself. */
  function expectNoLeak(
    { body, headers }: ApiAnswer,
    { path, call }: Question,
    seen: readonly PlaceName[],
    isLog = false,
  ): void {
    if (isLog && Array.isArray(body)) expectRowsOf(body, seen);
    const sent = JSON.stringify([path, call.body ?? '', call.headers]).match(/[\w-]{5,}/g) ?? [];
    const text = sent.reduce((rest, word) => rest.replaceAll(word, ''), JSON.stringify([body, [...headers]]));
    for (const name of PLACES) {
      if (name === 'own' || seen.includes(name)) continue;
      const { mark, secrets } = places[name];
      const idsOf = String(FIRST_IDS[name]).slice(0, -2);
      // A log tells what its own people asked for, also where that was not theirs.
      const traces = isLog ? secrets : [mark, idsOf, ...secrets];
      // A million comparisons, for which assertions need more time than the service for all requests.
      const shown = traces.filter((trace) => text.includes(trace));
      if (shown.length > 0) expect.fail(`${call.method} ${path} shows ${shown.join(', ')} of the ${name}: ${text}`);
    }
  }

  function expectRowsOf(rows: readonly object[], seen: readonly PlaceName[]): void {
    const others = PLACES.filter((name) => name !== 'own' && !seen.includes(name));
    const unseen = others.map((name) => places[name].accountId);
    for (const row of rows) {
      const accountId: unknown = Reflect.get(row, 'accountId') ?? Reflect.get(row, 'account_id');
      expect(unseen, JSON.stringify(row)).to.not.include(accountId);
    }
  }

  it('has a recipe for every operation that asks who calls', () => {
    expect(Object.keys(RECIPES).toSorted()).to.deep.equal(ids.toSorted());
    for (const id of ids) expect(accessOf(id), id).to.be.an('object');
  });

  for (const [index, id] of ids.entries()) {
    it(id, async () => {
      for (const [at, way] of waysOf(id).entries()) {
        for (const role of rolesOf(index + at)) await expectCell(id, role, way);
      }
    });
  }

  it('is the same for an account that goes by its external id', async () => {
    for (const role of ROLE_NAMES) {
      for (const place of PLACES) {
        const headers = { ...authorizationOf(callers[role]), 'elements-account-id': places[place].mark };
        const { status } = await service.call('/accounts/settings', { headers });
        const expected = expectedOf('getOwnAccountSettings', role, { place, naming: 'header' });
        expect(status, `${role}, ${place}`).to.equal(expected);
      }
    }
  });

  async function expectCell(id: AskedOperationId, role: RoleName, way: Way): Promise<void> {
    const status = expectedOf(id, role, way);
    const response = await ask(id, role, way);
    const what = `${role}, ${way.place} by ${way.naming}: ${JSON.stringify(response.body)}`;
    expect(response.status, what).to.equal(status);
    const code = CODES[status];
    if (code === undefined || isGranted(id, response)) return;
    expectProblem(response, code);
    if (status === 403 && !isAllowed(id, role))
      expect(response.body.message, what).to.contain(` ${privilegeOf(id, role)} `);
  }

  it('leaves what is read in an account as it is, whatever there is in others', () => {
    expect(alone.size).to.be.above(40);
    for (const [id, read] of alone) {
      const { showsAllTo, isOfTheMoment } = RECIPES[id];
      const isOfAccount = showsAllTo === undefined;
      if (isOfAccount && isOfTheMoment !== true) expect(amongOthers.get(id), id).to.deep.equal(read);
    }
  });

  describe('gives page tokens', () => {
    for (const id of ids.filter((each) => OPERATIONS[each].method === 'get' && OPERATIONS[each].list)) {
      // To both administrators of an organization it is the same listing.
      const otherName = RECIPES[id].showsAllTo === undefined ? 'own' : 'stranger';
      it(`that are worth nothing elsewhere: ${id}`, async function tokens() {
        const { sibling, [otherName]: other } = places;
        const first = await askForPage(id, sibling.owner, sibling, { pageSize: 1 });
        if (first.status === 400 || first.status === RECIPES[id].success) return this.skip();
        const nextPage = first.headers.get('elements-next-page-token') ?? '';
        if (RECIPES[id].isLog === true && nextPage === '') return this.skip();
        expect(nextPage, JSON.stringify(first.body)).to.not.equal('');
        const query = { pageSize: 1, nextPage };
        expect((await askForPage(id, sibling.owner, sibling, query)).status).to.equal(200);
        expectProblem(await askForPage(id, other.owner, other, query), 'REQUEST_INVALID');
      });
    }
  });

  async function askForPage(id: AskedOperationId, caller: Tenant, place: Place, query: ApiCall['query']) {
    const { path, call } = await questionOf(id, caller, place, 'nothing');
    return service.call(path, { ...call, query: { ...call.query, ...query } });
  }

  describe('keeps idempotent answers', () => {
    for (const id of ids.filter((each) => OPERATIONS[each].method === 'post')) {
      it(`to those who asked, in the account they asked about: ${id}`, async () => {
        const headers = { 'idempotency-key': unique('key') };
        const { sibling, own, stranger } = places;
        const answers: ApiAnswer[] = [];
        for (const [caller, place, naming] of [
          [sibling.owner, sibling, 'nothing'],
          [stranger.owner, stranger, 'nothing'],
          [service, own, 'nothing'],
          [service, sibling, 'header'],
        ] as const) {
          const { path, call } = await questionOf(id, caller, place, naming);
          const response = await service.call(path, { ...call, headers: { ...call.headers, ...headers } });
          expect(response.status, JSON.stringify(response.body)).to.equal(RECIPES[id].success ?? 200);
          const [name] = PLACES.filter((each) => places[each] === place);
          expectNoLeak(response, { path, call }, [...(name === undefined ? [] : [name])]);
          if (RECIPES[id].spends === true) place.take(RECIPES[id].of ?? 'spareInstance');
          answers.push(response);
        }
        const made = answers.flatMap(({ body }) => (id.startsWith('create') ? (body.id ?? body.Code ?? []) : []));
        expect(new Set(made)).to.have.property('size', made.length);
      });
    }
  });

  describe('asks the database as often for what is not yours as for what is not there', () => {
    it('and the statements are counted', async () => {
      const users = () => service.call('/users', { headers: authorizationOf(service) });
      expect(await countStatements(service.databaseUrl, async () => void (await users()))).to.be.above(0);
    });

    const looked = ids.filter((id, index) => OPERATIONS[id].method === 'get' && rolesOf(index).includes('admin'));
    for (const id of looked) {
      for (const { place: name, naming } of waysOf(id).filter(({ place }) => place !== 'own')) {
        for (const role of ['org-admin', 'admin'] as const) {
          const status = expectedOf(id, role, { place: name, naming });
          if (status === RECIPES[id].success || ![401, 404].includes(status)) continue;
          it(`${id}, ${role}, ${name} by ${naming}`, async () => {
            const place = places[name];
            await expectShown(id, name);
            const theirs: Counts[] = [];
            const nobodys: Counts[] = [];
            // There is a heartbeat now and then, so that what differs is counted again.
            while (theirs.length === 0 || (theirs.length < 4 && String(least(theirs)) !== String(least(nobodys)))) {
              theirs.push(await statementsOf(id, role, naming, withUntriedToken(id, place)));
              nobodys.push(await statementsOf(id, role, naming, nowhere()));
            }
            expect(least(theirs)).to.deep.equal(least(nobodys));
          });
        }
      }
    }

    const shown = new Set<string>();

    /** To its owner. Nothing that is asked for here changes that, so each thing is looked at once. */
    async function expectShown(id: AskedOperationId, name: PlaceName): Promise<void> {
      if (shown.has(`${id} ${name}`)) return;
      const place = places[name];
      const { path, call } = await questionOf(id, place.owner, place, 'nothing');
      expect((await service.call(path, call)).status, 'to its owner').to.equal(RECIPES[id].success ?? 200);
      shown.add(`${id} ${name}`);
    }

    type Counts = readonly [first: number, second: number];
    type Somewhere = Pick<Place, 'accountId' | 'find'>;
    let nextNowhere = NOWHERE_IDS;

    function nowhere(): Somewhere {
      nextNowhere += 1;
      const thing = { id: nextNowhere, token: unique('token-of-nothing') };
      return { accountId: nextNowhere, find: async () => thing };
    }

    /** What was not there is remembered for a moment. */
    function withUntriedToken(id: AskedOperationId, place: Place): Somewhere {
      if (!takesToken(id)) return place;
      place.take('spareInstance');
      return { accountId: place.accountId, find: () => place.find('spareInstance') };
    }

    /** The second time of one and the same thing counts by itself. */
    async function statementsOf(
      id: AskedOperationId,
      role: RoleName,
      naming: Naming,
      there: Somewhere,
    ): Promise<Counts> {
      const { path, call } = await questionOf(id, callers[role], there, naming);
      const count = () => countStatements(service.databaseUrl, async () => void (await service.call(path, call)));
      return [await count(), await count()];
    }

    function least(tries: readonly Counts[]): Counts {
      return [Math.min(...tries.map(([first]) => first)), Math.min(...tries.map(([, second]) => second))];
    }
  });

  /** What the organization's administrator reads in his account. */
  async function readAll(): Promise<ReadonlyMap<AskedOperationId, unknown>> {
    const read = new Map<AskedOperationId, unknown>();
    for (const id of ids.filter((each) => OPERATIONS[each].method === 'get')) {
      const { path, call } = await questionOf(id, service, places.own, 'nothing');
      const { status, headers, body } = await service.call(path, call);
      const counts = ['elements-returned-count', 'elements-total-count'].map((name) => headers.get(name));
      // What differs from one read to the next: of problems the id, of instances the last call.
      const steady = [body]
        .flat()
        .map((entry) => (entry === Object(entry) ? withoutLastCall({ ...entry, requestId: undefined }) : entry));
      read.set(id, [status, counts, Array.isArray(body), steady]);
    }
    return read;
  }
});
