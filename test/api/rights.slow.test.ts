import { expect } from 'chai';
import fc from 'fast-check';
import { PRIVILEGES, type Privilege, ROLE_KEYS, ROLES, type RoleKey } from '../../src/accounts/privileges.ts';
import { runs } from '../../suite/effort.ts';
import { type ApiAnswer, type ApiCall, pluck, type StartedApp, startTestApp } from '../support/app.ts';
import { authorizationOf, makeTenants } from './support/tenants.ts';

/** MODEL_RUNS makes it more, MODEL_SEED something else. */
const { MODEL_RUNS, MODEL_SEED } = process.env;
const RUNS = Number(MODEL_RUNS ?? runs(60));
const SEED = MODEL_SEED === undefined ? {} : { seed: Number(MODEL_SEED) };

const MOST_SECRETS = 20;
/** Some that matter here, and one that does not. */
const GIVEN_TO_ROLES: readonly Privilege[] = [
  'manageOrganization',
  'viewOrganizationUsers',
  'editOrganizationUsers',
  'configureRoles',
  'viewAccountUsers',
  'addAccountUsers',
  'editAccountUsers',
  'deleteAccountUsers',
  'viewElements',
];

interface Person {
  readonly id: number;
  readonly account: number;
  readonly roles: Set<RoleKey>;
  /** Those that are valid, the current one first; the others for longer than a run takes. */
  secrets: readonly string[];
  /** All that were valid once. */
  readonly everSecrets: string[];
  email: string;
  isActive: boolean;
  isDeleted: boolean;
}

/** The model of an organization in memory. */
interface Model {
  readonly organizationSecret: string;
  /** Ids of the default account and of another one. */
  readonly accounts: readonly [number, number];
  readonly people: Person[];
  readonly rolePrivileges: Map<RoleKey, ReadonlySet<Privilege>>;
}

/** How a request ends: with a status and, where privileges lack, one of those that the answer must name. */
interface Outcome {
  readonly status: number;
  readonly lacks?: readonly Privilege[];
  /** What the model becomes, from what was answered. */
  readonly apply?: (body: ApiAnswer['body']) => void;
}

interface Step {
  readonly request: ApiCall & { readonly path: string };
  readonly outcome: Outcome;
}

const OK: Outcome = { status: 200 };
const NOT_FOUND: Outcome = { status: 404 };
const CONFLICT: Outcome = { status: 409 };
const lacking = (...lacks: readonly Privilege[]): Outcome => ({ status: 403, lacks });

function ofRoles(model: Model, roles: Iterable<RoleKey>): ReadonlySet<Privilege> {
  return new Set([...roles].flatMap((role) => [...(model.rolePrivileges.get(role) ?? ROLES[role].privileges)]));
}

const ofPerson = (model: Model, { roles }: Person) => ofRoles(model, roles);

function ownerOf({ people }: Model, secret: string): Person | undefined {
  return people.find(({ isActive, isDeleted, secrets }) => isActive && !isDeleted && secrets.includes(secret));
}

const isAdmin = ({ isActive, isDeleted, roles }: Person) => isActive && !isDeleted && roles.has('org-admin');

const isLastAdmin = ({ people }: Model, person: Person) => isAdmin(person) && people.filter(isAdmin).length === 1;

const above = (own: ReadonlySet<Privilege>, other: ReadonlySet<Privilege>) => [...other.difference(own)];

const PLACES = ['users', 'organization', 'account'] as const;

/** Which privileges reach a user by the paths of a place. */
interface Reach {
  readonly ofAccount?: Privilege;
  readonly ofOrganization: Privilege;
  readonly forOneself: boolean;
}

function reachOf(kind: 'view' | 'edit' | 'delete', place: (typeof PLACES)[number], forOneself: boolean): Reach {
  const ofOrganization = `${kind}OrganizationUsers` as const;
  return place === 'organization'
    ? { ofOrganization, forOneself: false }
    : { ofAccount: `${kind}AccountUsers`, ofOrganization, forOneself };
}

/** A request that names a user. */
interface Naming {
  readonly actor: Person;
  readonly id: number;
  readonly place: (typeof PLACES)[number];
  /** Of the path. */
  readonly account: number;
}

/** @returns the user, or how the request ends without */
function reach(model: Model, { actor, id, place, account }: Naming, needs: Reach): Person | Outcome {
  const own = ofPerson(model, actor);
  if (place === 'account' && account !== actor.account && !own.has('manageOrganization')) return NOT_FOUND;
  const found = model.people.find((person) => person.id === id && !person.isDeleted);
  const { ofAccount, ofOrganization, forOneself } = needs;
  const everywhere = own.has(ofOrganization) || (forOneself && found === actor);
  if (!everywhere && !(ofAccount !== undefined && own.has(ofAccount))) return lacking(ofAccount ?? ofOrganization);
  const of = place === 'account' ? account : everywhere ? undefined : actor.account;
  return found === undefined || (of !== undefined && found.account !== of) ? NOT_FOUND : found;
}

const isPerson = (found: Person | Outcome): found is Person => 'roles' in found;

/** What changes a user, where the caller may reach him. */
function changing(model: Model, actor: Person, target: Person, change: () => Outcome): Outcome {
  const more = target === actor ? [] : above(ofPerson(model, actor), ofPerson(model, target));
  return more.length > 0 ? lacking(...more) : change();
}

type Command = (model: Model, actor: Person) => Step;

const anyOf = <Thing>(things: readonly Thing[], at: number): Thing => {
  const thing = things[at % things.length];
  if (thing === undefined) throw new Error('There is nothing to choose from.');
  return thing;
};

/** Somebody of the organization, who may be deleted, or the first user of another one. */
const idAt = ({ people }: Model, at: number) => (at === 0 ? 1 : anyOf(people, at - 1).id);

function pathOf(place: (typeof PLACES)[number], account: number): string {
  return { users: '/users', organization: '/organizations/users', account: `/accounts/${account}/users` }[place];
}

const somebody = fc.nat(8);
const anyPlace = fc.constantFrom(...PLACES);
const anyRole = fc.constantFrom(...ROLE_KEYS);

const add = fc
  .record({
    byOrganization: fc.boolean(),
    which: fc.nat(1),
    email: fc.nat(9),
    roles: fc.oneof(fc.constant(undefined), fc.uniqueArray(anyRole)),
  })
  .map(({ byOrganization, which, email: number, roles: keys }): Command => {
    return (model, actor) => {
      const account = anyOf(model.accounts, which);
      const email = `person-${number}@example.com`;
      const body = {
        email: number % 2 === 0 ? email.toUpperCase() : email,
        firstName: 'A',
        lastName: 'B',
        roles: keys,
      };
      const own = ofPerson(model, actor);
      const roles = keys ?? ['default-user'];
      const judge = (): Outcome => {
        if (!byOrganization && account !== actor.account && !own.has('manageOrganization')) return NOT_FOUND;
        const needed = byOrganization ? 'addOrganizationUsers' : 'addAccountUsers';
        if (!own.has(needed)) return lacking(needed);
        const more = above(own, ofRoles(model, roles));
        if (more.length > 0) return lacking(...more);
        if (model.people.some((other) => !other.isDeleted && other.email === email)) return CONFLICT;
        const apply = ({ id, secret }: ApiAnswer['body']) => {
          const secrets = [secret];
          const person = { id, account, email, roles: new Set(roles), secrets, everSecrets: [secret] };
          model.people.push({ ...person, isActive: true, isDeleted: false });
        };
        return { ...OK, apply };
      };
      const path = byOrganization ? '/organizations/users' : `/accounts/${account}/users`;
      const of = byOrganization ? { accountId: account } : {};
      return { request: { path, method: 'POST', body: { ...body, ...of } }, outcome: judge() };
    };
  });

const anyPatch = fc.oneof(
  fc.record({ active: fc.boolean() }),
  fc.record({ email: fc.nat(9).map((number) => `person-${number}@example.com`) }),
);

const patch = fc
  .record({ who: somebody, place: anyPlace, which: fc.nat(1), body: anyPatch })
  .map(({ who, place, which, body }): Command => {
    return (model, actor) => {
      const [id, account] = [idAt(model, who), anyOf(model.accounts, which)];
      const target = reach(model, { actor, id, place, account }, reachOf('edit', place, true));
      const { email, active } = { email: undefined, active: undefined, ...body };
      const judge = (person: Person): Outcome => {
        const isTaken = model.people.some((other) => other !== person && !other.isDeleted && other.email === email);
        if (isTaken || (active === false && isLastAdmin(model, person))) return CONFLICT;
        const apply = () => {
          person.email = email ?? person.email;
          person.isActive = active ?? person.isActive;
        };
        return { ...OK, apply };
      };
      return {
        request: { path: `${pathOf(place, account)}/${id}`, method: 'PATCH', body },
        outcome: isPerson(target) ? changing(model, actor, target, () => judge(target)) : target,
      };
    };
  });

const remove = fc.record({ who: somebody, place: anyPlace, which: fc.nat(1) }).map(({ who, place, which }): Command => {
  return (model, actor) => {
    const [id, account] = [idAt(model, who), anyOf(model.accounts, which)];
    const target = reach(model, { actor, id, place, account }, reachOf('delete', place, false));
    const judge = (person: Person): Outcome => {
      if (isLastAdmin(model, person)) return CONFLICT;
      const apply = () => {
        person.isDeleted = true;
      };
      return { ...OK, apply };
    };
    return {
      request: { path: `${pathOf(place, account)}/${id}`, method: 'DELETE' },
      outcome: isPerson(target) ? changing(model, actor, target, () => judge(target)) : target,
    };
  };
});

const changeRole = fc
  .record({ who: somebody, role: anyRole, gives: fc.boolean() })
  .map(({ who, role, gives }): Command => {
    return (model, actor) => {
      const id = idAt(model, who);
      const naming = { actor, id, place: 'users', account: actor.account } as const;
      const target = reach(model, naming, reachOf('edit', 'users', false));
      const judge = (person: Person): Outcome => {
        if (person === actor) return { status: 403, lacks: [] };
        return changing(model, actor, person, () => {
          const more = above(ofPerson(model, actor), ofRoles(model, [role]));
          if (more.length > 0) return lacking(...more);
          if (gives) return { ...OK, apply: () => void person.roles.add(role) };
          if (!person.roles.has(role)) return NOT_FOUND;
          if (role === 'org-admin' && isLastAdmin(model, person)) return CONFLICT;
          return { ...OK, apply: () => void person.roles.delete(role) };
        });
      };
      return {
        request: { path: `/users/${id}/roles/${role}`, method: gives ? 'PUT' : 'DELETE' },
        outcome: isPerson(target) ? judge(target) : target,
      };
    };
  });

const configureRole = fc
  .record({ role: anyRole, privileges: fc.subarray([...GIVEN_TO_ROLES]) })
  .map(({ role, privileges }): Command => {
    return (model, actor) => {
      const own = ofPerson(model, actor);
      const before = ofRoles(model, [role]);
      // The others stay, so that there is something left to do.
      const kept = [...before].filter((privilege) => !GIVEN_TO_ROLES.includes(privilege));
      const wanted = new Set([...kept, ...privileges]);
      const judge = (): Outcome => {
        if (!own.has('configureRoles')) return lacking('configureRoles');
        if (role === 'org-admin') return CONFLICT;
        const more = above(own, before.symmetricDifference(wanted));
        if (more.length > 0) return lacking(...more);
        return { ...OK, apply: () => void model.rolePrivileges.set(role, wanted) };
      };
      const body = { privileges: [...wanted] };
      return { request: { path: `/organizations/roles/${role}`, method: 'PUT', body }, outcome: judge() };
    };
  });

const rotate = fc.constantFrom(0, 3600).map((overlapSeconds): Command => {
  return (_, actor) => {
    const kept = overlapSeconds === 0 ? [] : actor.secrets;
    const apply = ({ secret }: ApiAnswer['body']) => {
      actor.secrets = [secret, ...kept];
      actor.everSecrets.push(secret);
    };
    const outcome = kept.length >= MOST_SECRETS ? CONFLICT : { ...OK, apply };
    return { request: { path: '/users/me/secrets', method: 'POST', body: { overlapSeconds } }, outcome };
  };
});

const look = fc
  .record({ who: somebody, place: anyPlace, which: fc.nat(1), end: fc.constantFrom('', '/roles') })
  .map(({ who, place, which, end }): Command => {
    return (model, actor) => {
      // Roles have one path.
      const at = end === '' ? place : 'users';
      const [id, account] = [idAt(model, who), anyOf(model.accounts, which)];
      const target = reach(model, { actor, id, place: at, account }, reachOf('view', at, true));
      const path = `${pathOf(at, account)}/${id}${end}`;
      return { request: { path }, outcome: isPerson(target) ? OK : target };
    };
  });

const COMMANDS = fc.oneof(
  { weight: 4, arbitrary: add },
  { weight: 3, arbitrary: patch },
  { weight: 2, arbitrary: remove },
  { weight: 5, arbitrary: changeRole },
  { weight: 3, arbitrary: configureRole },
  { weight: 3, arbitrary: rotate },
  { weight: 4, arbitrary: look },
);

/** Who calls, mostly by the current secret, at times by any that he ever had, and what. */
interface Call {
  readonly actor: number;
  readonly secret: number;
  readonly command: Command;
}

const anyCall: fc.Arbitrary<Call> = fc.record({ actor: fc.nat(5), secret: fc.nat(7), command: COMMANDS });

describe('what somebody may do', function rights() {
  this.timeout(Math.max(60_000, RUNS * 15_000));
  let services: readonly StartedApp[] = [];
  let requests = 0;
  let organizations = 0;

  before(async () => {
    // In production no answer is checked against the spec: to prepare that would take longer than the runs.
    const environment = {
      NODE_ENV: 'production',
      TRUST_PROXY: '127.0.0.1,::1',
      RATE_LIMIT_USER: 'off',
      RATE_LIMIT_ACCOUNT: 'off',
    };
    const first = await startTestApp(environment);
    services = [first, await startTestApp({ ...environment, DATABASE_URL: first.databaseUrl })];
  });

  after(async () => {
    for (const service of services.toReversed()) await service.stop();
  });

  async function createModel(): Promise<Model> {
    return makeTenants(anyOf(services, 0), async (make) => {
      const { organizationId, secret: organizationSecret } = await make.organization(`Model ${organizations++}`);
      const accounts = [
        await make.account(organizationId, 'One', true),
        await make.account(organizationId, 'Two', false),
      ] as const;
      const people: Person[] = [];
      const first: readonly (readonly [number, RoleKey])[] = [
        [accounts[0], 'org-admin'],
        [accounts[1], 'admin'],
        [accounts[0], 'default-user'],
      ];
      for (const [account, role] of first) {
        const { id, userSecret } = await make.user({ organizationId, accountId: account }, `first-${role}`, role);
        const secrets = [userSecret];
        const person = { id, account, email: `first-${role}@example.com`, roles: new Set([role]), secrets };
        people.push({ ...person, everSecrets: [userSecret], isActive: true, isDeleted: false });
      }
      return { organizationSecret, accounts, people, rolePrivileges: new Map() };
    });
  }

  /** By the two processes in turns. Wrong secrets of one address would be refused after a while. */
  function send({ organizationSecret }: Model, userSecret: string, { path, ...call }: Step['request']) {
    requests++;
    const address = `10.${(requests >> 16) & 255}.${(requests >> 8) & 255}.${requests & 255}`;
    const authorization = authorizationOf({ organizationSecret, userSecret, accountId: 0 });
    const headers = { ...authorization, 'x-forwarded-for': address };
    return anyOf(services, requests).call(path, { ...call, headers });
  }

  async function expectOutcome(model: Model, secret: string, { request, outcome }: Step): Promise<ApiAnswer['body']> {
    const { status, body } = await send(model, secret, request);
    const what = `${request.method ?? 'GET'} ${request.path} ${JSON.stringify(request.body)}: ${JSON.stringify(body)}`;
    expect(status, what).to.equal(outcome.status);
    const named = outcome.lacks?.map((privilege) => `the privilege ${privilege} (${PRIVILEGES[privilege][0]})`);
    if (named !== undefined && named.length > 0)
      expect(
        named.some((text) => body.message.includes(text)),
        what,
      ).to.equal(true);
    return body;
  }

  /** Of everybody whom the change may concern, on the other process first: whether he is known, and whom he sees. */
  async function expectAllAsModel(model: Model, concerned: readonly Person[]): Promise<void> {
    for (const person of concerned) {
      for (const secret of person.everSecrets) {
        const isKnown = ownerOf(model, secret) === person;
        const me = await send(model, secret, { path: '/users/me' });
        expect(me.status, `user ${person.id}, ${JSON.stringify(me.body)}`).to.equal(isKnown ? 200 : 401);
        if (!isKnown) continue;
        const own = ofPerson(model, person);
        const seen = await send(model, secret, { path: '/users' });
        const visible = model.people.filter(
          (other) =>
            !other.isDeleted &&
            (own.has('viewOrganizationUsers') ||
              (own.has('viewAccountUsers') && other.account === person.account) ||
              other === person),
        );
        expect(pluck(seen.body, 'id')).to.deep.equal(visible.map(({ id }) => id));
        const roles = ROLE_KEYS.filter((role) => person.roles.has(role));
        expect(me.body).to.deep.include({ id: person.id, accountId: person.account, roles });
      }
    }
  }

  async function live(model: Model, { actor, secret: which, command }: Call, history: string[]): Promise<void> {
    const person = anyOf(model.people, actor);
    const secret = which > 5 ? anyOf(person.everSecrets, which) : anyOf(person.secrets, 0);
    const { request, outcome: ifKnown } = command(model, person);
    const outcome = ownerOf(model, secret) === person ? ifKnown : { status: 401 };
    history.push(
      `${person.id} (${secret}) ${request.method ?? 'GET'} ${request.path} ${JSON.stringify(request.body)} ${outcome.status}`,
    );
    const body = await expectOutcome(model, secret, { request, outcome });
    if (outcome.apply === undefined) return;
    outcome.apply(body);
    const isOfAll = request.path.startsWith('/organizations/roles/');
    const target = Number(/\/users\/(\d+)/.exec(request.path)?.[1] ?? body.id);
    const concerned = model.people.filter(({ id }) => isOfAll || id === target || id === person.id);
    await expectAllAsModel(model, concerned.slice(-4));
  }

  it('is on every process what the changes until now say, right after the answer of each', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyCall, { minLength: 15, maxLength: 40 }), async (calls) => {
        const model = await createModel();
        const history: string[] = [];
        try {
          for (const call of calls) await live(model, call, history);
        } catch (error) {
          throw new Error(`Not as the model says, at the end of:\n${history.join('\n')}`, { cause: error });
        }
      }),
      { numRuns: RUNS, ...SEED, endOnFailure: true },
    );
  });
});
