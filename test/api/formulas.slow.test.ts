import { expect } from 'chai';
import { bodyOf, pluck, useSharedApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { expectProblem, faultsOf } from './support/expect-problem.ts';
import { SHOP } from './support/simulated.ts';
import { authorizationOf, createUser, useTenants } from './support/tenants.ts';

const SCRIPT = 'done({ n: 1 });';

const step = (name: string, onSuccess: readonly string[] = [], more: object = {}) => ({
  name,
  type: 'script',
  properties: { body: SCRIPT },
  onSuccess,
  ...more,
});
const request = (properties: object) => ({ name: 'get', type: 'elementRequest', properties });

describe('formulas', () => {
  const service = useSharedApp();
  const { get, send, change } = service;
  const tenants = useTenants(service);

  const create = (body: object) => change('POST', '/formulas', body);
  const refused = async (body: object) => faultsOf(await send('POST', '/formulas', { name: 'refused', ...body }));
  const versionsOf = async (id: number) => pluck(await get(`/formulas/${id}/versions`), 'version');

  describe('as templates', () => {
    it('need a name alone', async () => {
      const { id, createdDate, updatedDate, ...formula } = await create({ name: 'empty' });
      expect(formula).to.deep.equal({
        name: 'empty',
        userId: service.userId,
        accountId: service.accountId,
        active: true,
        singleThreaded: false,
        debugLoggingEnabled: true,
        engine: 'v3',
        configuration: [],
        triggers: [],
        steps: [],
      });
      expect(new Date(createdDate).toISOString()).to.equal(createdDate);
      expect(updatedDate).to.equal(createdDate);
      expect(await get(`/formulas/${id}`)).to.deep.equal({ id, createdDate, updatedDate, ...formula });
    });

    it('are built part by part', async () => {
      const { id } = await create({ name: 'built' });
      const variable = { key: 'crm', name: 'CRM', type: 'elementInstance', required: true };
      const { id: variableId, ...created } = await change('POST', `/formulas/${id}/configuration`, variable);
      expect(created).to.deep.equal(variable);
      expectProblem(
        await send('POST', `/formulas/${id}/configuration`, variable),
        'CONFLICT',
        "body.key is 'crm', which another variable of the formula has. Choose another key.",
      );
      const cron = { type: 'scheduled', properties: { cron: '0 0/15 * 1/1 * ? *' }, onSuccess: ['first'] };
      const trigger = await change('POST', `/formulas/${id}/triggers`, cron);
      expect(trigger).to.deep.equal({ id: trigger.id, name: 'trigger', async: true, onFailure: [], ...cron });
      expectProblem(
        await send('POST', `/formulas/${id}/triggers`, { type: 'manual' }),
        'CONFLICT',
        `Formula ${id} has a trigger already. Change it with PUT /formulas/${id}/triggers/${trigger.id}.`,
      );
      const first = {
        name: 'first',
        type: 'elementRequest',
        properties: {
          elementInstanceId: `\${config.crm}`,
          method: 'GET',
          api: '/hubs/crm/contacts',
          query: `\${config.query}`,
          retry: 'true',
          retryAttempts: '3',
          retryDelay: '200',
          retryStatusCodes: '429,500-503',
          acceptableStatusCodes: '200',
        },
        onSuccess: ['each'],
      };
      const made = await change('POST', `/formulas/${id}/steps`, first);
      expect(made).to.deep.equal({ id: made.id, onFailure: [], ...first });
      expect(await get(`/formulas/${id}/steps`)).to.deep.equal([made]);
      expect(await get(`/formulas/${id}/steps/${made.id}`)).to.deep.equal(made);
      expect(await get(`/formulas/${id}/triggers/${trigger.id}`)).to.deep.equal(trigger);
      expect(await get(`/formulas/${id}/configuration/${variableId}`)).to.deep.equal({ id: variableId, ...variable });

      const renamed = { key: 'source', name: 'Source', type: 'elementInstance', required: false };
      const path = `/formulas/${id}/configuration/${variableId}`;
      expect(await change('PUT', path, renamed)).to.deep.equal({ id: variableId, ...renamed });
      const [after] = await get(`/formulas/${id}/steps`);
      expect(after.properties.elementInstanceId).to.equal(`\${config.source}`);

      expect(await change('DELETE', `/formulas/${id}/steps/${made.id}`)).to.deep.equal({ id: made.id });
      expect(await get(`/formulas/${id}/triggers/${trigger.id}`)).to.deep.include({ onSuccess: [] });
      expect(await change('DELETE', path)).to.deep.equal({ id: variableId });
      expect(await change('DELETE', `/formulas/${id}/triggers/${trigger.id}`)).to.deep.equal({ id: trigger.id });
      expect(await get(`/formulas/${id}`)).to.deep.include({ configuration: [], triggers: [], steps: [] });
      for (const part of [`steps/${made.id}`, `triggers/${trigger.id}`, `configuration/${variableId}`])
        expectProblem(await service.call(`/formulas/${id}/${part}`), 'NOT_FOUND');
    });

    it('take the new name of a step into the lists of steps that follow', async () => {
      const { id, steps } = await create({
        name: 'renaming',
        triggers: [{ type: 'manual', onSuccess: ['one'] }],
        steps: [step('one', ['two']), step('two', [], { onFailure: ['three'] }), step('three')],
      });
      const [one, , three] = steps;
      await change('PUT', `/formulas/${id}/steps/${one.id}`, { ...one, name: 'first' });
      await change('PUT', `/formulas/${id}/steps/${three.id}`, { ...three, name: 'third' });
      const formula = await get(`/formulas/${id}`);
      expect(formula.triggers[0].onSuccess).to.deep.equal(['first']);
      expect(formula.steps[1].onFailure).to.deep.equal(['third']);
      expect(pluck(formula.steps, 'id')).to.deep.equal(pluck(steps, 'id'));
      const taken = await send('PUT', `/formulas/${id}/steps/${three.id}`, { ...three, name: 'two' });
      expect(faultsOf(taken)).to.deep.equal({
        'body.name': "body.name is 'two', which another step has. Names of steps are unique.",
      });
    });

    it('keep the ids of parts that keep their names', async () => {
      const body = {
        name: 'ids',
        configuration: [{ key: 'a' }, { key: 'b' }],
        triggers: [{ type: 'manual', onSuccess: ['one'] }],
        steps: [step('one'), step('two')],
      };
      const before = await create(body);
      const after = await change('PUT', `/formulas/${before.id}`, {
        ...body,
        configuration: [{ key: 'c' }, { key: 'a' }],
        triggers: [{ type: 'event', onSuccess: ['two'] }],
        steps: [step('two'), step('new')],
      });
      expect(after.triggers[0].id).to.equal(before.triggers[0].id);
      expect(after.steps[0].id).to.equal(before.steps[1].id);
      expect(after.configuration[1].id).to.equal(before.configuration[0].id);
      const old = pluck([...before.steps, ...before.configuration], 'id');
      expect(old).not.to.include.members([after.steps[1].id, after.configuration[0].id]);
    });

    it('are versioned with every change of their content', async () => {
      const before = await create({ name: 'versions', steps: [step('one')] });
      const path = `/formulas/${before.id}`;
      expect(await versionsOf(before.id)).to.deep.equal([1]);
      await change('PATCH', path, { name: 'renamed', active: false });
      await change('PUT', path, { ...before, name: 'as it was' });
      expect(await versionsOf(before.id)).to.deep.equal([1]);
      await change('POST', `${path}/steps`, step('two'));
      await change('PUT', path, { name: 'no steps' });
      expect(await versionsOf(before.id)).to.deep.equal([3, 2, 1]);
      const second = await get(`${path}/versions/2`);
      expect(pluck(second.steps, 'name')).to.deep.equal(['one', 'two']);
      expect(second).to.include({ version: 2, userId: service.userId });
      expect(await get(`${path}/versions/3`)).to.deep.include({ steps: [], triggers: [], configuration: [] });
      const message = `There is no version 4 of formula ${before.id}.`;
      expectProblem(await service.call(`${path}/versions/4`), 'NOT_FOUND', message);
      const page = await service.call(`${path}/versions`, { query: { pageSize: 2 } });
      const nextPage = page.headers.get('elements-next-page-token') ?? '';
      const rest = await service.call(`${path}/versions`, { query: { pageSize: 2, nextPage } });
      expect([...page.body, ...rest.body].map(({ version }) => version)).to.deep.equal([3, 2, 1]);
    });

    it('are changed by PATCH, and taken back as they were read', async () => {
      const before = await create({ name: 'patched', description: 'first', triggers: [{ type: 'manual' }] });
      const path = `/formulas/${before.id}`;
      const changes = { name: 'other', active: false, singleThreaded: true, debugLoggingEnabled: false };
      const after = await change('PATCH', path, { ...before, ...changes, method: 'POST', uri: '/patched' });
      expect(after).to.deep.include({ ...changes, description: 'first', method: 'POST', uri: '/patched' });
      const ended = await change('PATCH', path, { method: null, uri: null, description: null });
      expect(ended).not.to.have.any.keys('method', 'uri', 'description');
      expect(
        faultsOf(await send('PATCH', path, { accountId: before.accountId + 1, steps: [step('x')], color: 'red' })),
      ).to.deep.equal({
        'body.accountId': "'accountId' cannot be changed. Leave it out, or send it as it was read.",
        'body.steps': "'steps' cannot be changed. Leave it out, or send it as it was read.",
        'body.color': "Unknown member 'color'.",
      });
      expect(faultsOf(await send('PUT', path, { ...before, id: before.id + 1 }))).to.deep.equal({
        'body.id': `body.id must be ${before.id}, as in the path. Or leave it out.`,
      });
      expect((await change('PUT', path, { name: 'defaults' })).active).to.equal(true);
    });

    it('are deleted with their versions', async () => {
      const { id } = await create({ name: 'deleted' });
      expect(await change('DELETE', `/formulas/${id}`)).to.deep.equal({ id });
      expectProblem(await service.call(`/formulas/${id}`), 'NOT_FOUND', `There is no formula ${id}.`);
      expectProblem(await send('DELETE', `/formulas/${id}`), 'NOT_FOUND');
    });
  });

  describe('in a list', () => {
    const listed: number[] = [];
    const idsOf = (body: readonly { readonly id: number }[]) => body.map(({ id }) => id);

    before(async () => {
      for (const name of ['listed one', 'listed two', 'listed three'])
        listed.push((await create({ name, active: name !== 'listed two', steps: [step('s')] })).id);
    });

    it('are filtered, paged, and abridged', async () => {
      const where = "name LIKE 'listed%'";
      const first = await service.call('/formulas', { query: { where, pageSize: 2 } });
      const nextPage = first.headers.get('elements-next-page-token') ?? '';
      const second = await service.call('/formulas', { query: { where, pageSize: 2, nextPage } });
      expect([...idsOf(bodyOf(first)), ...idsOf(bodyOf(second))]).to.deep.equal(listed);
      expect(first.headers.get('elements-returned-count')).to.equal('2');
      expect(second.headers.get('elements-next-page-token')).to.equal(null);
      expect(first.body[0].steps).to.have.lengthOf(1);
      const abridged = await service.get('/formulas', { query: { where, abridged: 'true' } });
      expect(idsOf(abridged)).to.deep.equal(listed);
      for (const formula of abridged) expect(formula).not.to.have.property('steps');
      const inactive = await service.get('/formulas', { query: { where: `${where} AND active = FALSE` } });
      expect(idsOf(inactive)).to.deep.equal([listed[1]]);
      const own = await service.get('/formulas', { query: { where: `${where} AND accountId = ${service.accountId}` } });
      expect(idsOf(own)).to.deep.equal(listed);
      expectProblem(await service.call('/formulas', { query: { where: "steps = 'x'" } }), 'WHERE_INVALID');
    });

    it('end a page early when they are large', async () => {
      // A comment of 2 MB in 40 scripts of 50 kB each.
      const body = `done(); // ${'x'.repeat(50_000)}`;
      const large = Array.from({ length: 40 }, (_, n) => ({ name: `s${n}`, type: 'script', properties: { body } }));
      const ids: number[] = [];
      for (let n = 0; n < 18; n++) ids.push((await create({ name: 'large', steps: large })).id);
      const query = { where: "name = 'large'", pageSize: 100 };
      const first = await service.call('/formulas', { query });
      expect(bodyOf(first)).to.have.lengthOf.within(14, 17);
      const nextPage = first.headers.get('elements-next-page-token') ?? '';
      const second = await service.call('/formulas', { query: { ...query, nextPage } });
      expect([...idsOf(first.body), ...idsOf(bodyOf(second))]).to.deep.equal(ids);
      expect(second.headers.get('elements-next-page-token')).to.equal(null);
      expect(await service.get('/formulas', { query: { ...query, abridged: 'true' } })).to.have.lengthOf(18);
      const more = { name: 'more', type: 'script', properties: { body: `done(); // ${'y'.repeat(60_000)}` } };
      const twice = [more, { ...more, name: 'more too' }];
      expect((await refused({ steps: [...large, ...twice] }))['body.steps']).to.match(
        /^body\.steps makes the formula too large: it would have \d+ characters as JSON, and can have 2097152\.$/,
      );
    });

    it('are those that a formula can call', async () => {
      const call = (formulaId: number | string) => ({ name: 'call', type: 'formula', properties: { formulaId } });
      const [inner] = listed;
      const middle = await create({ name: 'calls inner', steps: [call(String(inner))] });
      const outer = await create({ name: 'calls middle', steps: [call(middle.id)] });
      const callable = async (id: number) =>
        idsOf(await service.get('/formulas', { query: { callableBy: id, abridged: 'true', pageSize: 1000 } }));
      expect(await callable(outer.id))
        .to.include.members([...listed, middle.id])
        .and.not.include(outer.id);
      expect(await callable(middle.id)).to.include.members(listed);
      expect(await callable(middle.id)).not.to.include(outer.id);
      expect(await callable(Number(inner))).not.to.include.members([outer.id]);
      expect(await callable(Number(inner))).not.to.include(middle.id);
      expectProblem(await service.call('/formulas', { query: { callableBy: 999_999_999 } }), 'NOT_FOUND');
      const circle = await send('POST', `/formulas/${inner}/steps`, call(outer.id));
      expectProblem(circle, 'REQUEST_INVALID', new RegExp(`leads back to formula ${inner}\\.$`));
      expect(Object.keys(faultsOf(circle))).to.deep.equal(['body.properties.formulaId']);
      const whole = await send('PUT', `/formulas/${inner}`, { name: 'circle', steps: [step('s'), call(outer.id)] });
      expect(Object.keys(faultsOf(whole))).to.deep.equal(['body.steps.1.properties.formulaId']);
      const message = "The step 'call' calls its own formula.";
      expectProblem(await send('POST', `/formulas/${inner}/steps`, call(Number(inner))), 'REQUEST_INVALID', message);
    });
  });

  describe('are refused', () => {
    it('for their names', async () => {
      expectProblem(await send('POST', '/formulas', {}), 'REQUEST_INVALID');
      expect(await refused({ name: ' ' })).to.deep.equal({ 'body.name': 'body.name must not be blank.' });
      expect(await refused({ name: 'x'.repeat(256) })).to.deep.equal({
        'body.name': 'body.name must have at most 255 characters; it has 256.',
      });
    });

    it('for steps without a name, of an unknown type, and of one name', async () => {
      const faults = await refused({
        steps: [
          { type: 'script' },
          { name: ' ', type: 'script' },
          { name: 'a', type: 'scrpt' },
          { name: 'b' },
          step('c'),
          step('C'),
          step('c'),
          { name: 'd', type: 'notification' },
          { name: '__proto__', type: 'script' },
        ],
      });
      expect(faults).to.deep.equal({
        'body.steps.0.name': 'body.steps.0.name is missing.',
        'body.steps.1.name': 'body.steps.1.name must not be blank.',
        'body.steps.2.type': "Unknown type of a step 'scrpt'. Did you mean 'script'?",
        'body.steps.3.type': 'body.steps.3.type is missing. Name the type of the step.',
        'body.steps.6.name': "body.steps.6.name is 'c', which another step has. Names of steps are unique.",
        'body.steps.7.type':
          'body.steps.7.type must not be notification: that type is not available any more. Use script, with notify.email(to, subject, body) for a mail.',
        'body.steps.8.name': 'body.steps.8.name cannot be __proto__. Choose another name.',
      });
    });

    it('for two variables of one key', async () => {
      const twice = await send('POST', '/formulas', { name: 'twice', configuration: [{ key: 'a' }, { key: 'a' }] });
      const message = "body.configuration.1.key is 'a', which another variable of the formula has. Choose another key.";
      expectProblem(twice, 'CONFLICT', message);
      expect(Object.keys(faultsOf(twice))).to.deep.equal(['body.configuration.1.key']);
    });

    it('for retries and status codes that cannot be read', async () => {
      const at = 'body.steps.0.properties';
      const attempts = {
        [`${at}.retryAttempts`]: `${at}.retryAttempts must be a whole number from 1 to 5 (retryAttempts).`,
      };
      for (const retryAttempts of ['6', 6, '0', 'x', '1.5', -1])
        expect(await refused({ steps: [request({ retryAttempts })] }), String(retryAttempts)).to.deep.equal(attempts);
      expect(await refused({ steps: [request({ retryDelay: '-1' })] })).to.deep.equal({
        [`${at}.retryDelay`]: `${at}.retryDelay must be a whole number of milliseconds, 0 or more.`,
      });
      for (const name of ['retryStatusCodes', 'acceptableStatusCodes'])
        expect(await refused({ steps: [request({ [name]: '401-,400' })] })).to.deep.equal({
          [`${at}.${name}`]: `${at}.${name} must be a status code, a range such as 401-405, or a list of these such as 401-405,500.`,
        });
      const again = (retryAttempts: number) => ({
        name: 'again',
        type: 'retryFormulaExecution',
        properties: { retryAttempts },
      });
      await create({ name: 'retries', steps: [again(7), request({ retryAttempts: `\${config.n}`, retryDelay: '' })] });
      expect(Object.keys(await refused({ steps: [again(8)] }))).to.deep.equal([`${at}.retryAttempts`]);
    });

    it('for bulk downloads in a request', async () => {
      const place = 'body.steps.0.properties.api';
      const fault = {
        [place]: `${place} must not be a bulk download. Use a step of the type elementRequestStream for files.`,
      };
      const id = '${trigger.args.id}';
      for (const api of [`/hubs/crm/bulk/${id}/contacts`, 'bulk/12/contacts', `/bulk/${id}/\${config.objectName}?x=1`])
        expect(await refused({ steps: [request({ api })] }), api).to.deep.equal(fault);
      for (const api of ['/hubs/crm/bulk/query', `/bulk/${id}/status`, `/bulk/${id}/errors`, '/bulk/contacts'])
        await create({ name: api, steps: [request({ api })] });
    });

    it('for scripts that do not parse or never call done', async () => {
      const script = (type: string, body: string) => ({ name: type, type, properties: { body } });
      const faults = await refused({
        steps: [script('script', 'let a = 1;\nlet a = 2; done(a);'), script('filter', 'return 1;')],
      });
      expect(faults).to.deep.equal({
        'body.steps.0.properties.body':
          "body.steps.0.properties.body is no JavaScript: Identifier 'a' has already been declared (line 2, column 5)",
        'body.steps.1.properties.body':
          'body.steps.1.properties.body never calls done (line 1, column 10). Call done(result) where the script ends.',
      });
      const v1 = await create({ name: 'v1', engine: 'v1', steps: [script('filter', 'return 1;')] });
      expect(faultsOf(await send('PATCH', `/formulas/${v1.id}`, { engine: 'v3' }))).to.deep.equal({
        'body.engine':
          'body.engine cannot be v3: steps.filter.properties.body never calls done (line 1, column 10). Call done(result) where the script ends.',
      });
      expect(Object.keys(await refused({ engine: 'v9' }))).to.deep.equal(['body.engine']);
      const single = await send('POST', `/formulas/${v1.id}/steps`, script('script', 'done('));
      expect(faultsOf(single)).to.deep.equal({
        'body.properties.body': 'body.properties.body is no JavaScript: Unexpected token (line 1, column 6)',
      });
    });

    it('for schedules that are none, or too short', async () => {
      const { id } = await create({ name: 'cron' });
      const scheduled = (cron: unknown) => ({ type: 'scheduled', properties: { cron } });
      const fault = async (cron: unknown) =>
        faultsOf(await send('POST', `/formulas/${id}/triggers`, scheduled(cron)))['body.properties.cron'];
      // The service of the tests is on loopback, where the bound is one minute.
      expect(await fault('0/30 * * 1/1 * ? *')).to.equal(
        'body.properties.cron fires every 30 seconds; the least is 1 minute.',
      );
      expect(await fault('every day')).to.equal(
        'body.properties.cron is no Quartz expression of 6 or 7 fields, such as 0 0/15 * * * ?: it has 2 fields.',
      );
      expect(await fault(5)).to.equal('body.properties.cron must be a text.');
      await change('POST', `/formulas/${id}/triggers`, scheduled(`\${config.cron}`));
    });

    it('as resources without a manual trigger, and for paths that mean something else', async () => {
      expect(await refused({ method: 'POST', uri: '/refused' })).to.deep.equal({
        'body.uri': 'body.uri needs a manual trigger: a formula with a uri is started by requests.',
      });
      const manual = { triggers: [{ type: 'manual', onSuccess: [] }] };
      const uriFault = async (uri: string) => (await refused({ ...manual, method: 'GET', uri }))['body.uri'];
      expect(await uriFault('/accounts')).to.equal(
        'body.uri must not begin with /accounts: paths of the platform do. Choose another path.',
      );
      expect(await uriFault('/formulas/instances')).to.match(/^body\.uri must not begin with \/formulas:/);
      expect(await uriFault('/contacts')).to.equal(
        'body.uri must not begin with /contacts: that is the name of an object of an element. Choose another path.',
      );
      for (const uri of ['missing-a-slash', '/', '/a/../b', '/a b', '/{id}'])
        expect(await uriFault(uri)).to.equal(
          'body.uri must be a path such as /sync, of letters, digits, -, _, . and ~.',
        );
      expect(await refused({ ...manual, uri: '/only' })).to.deep.equal({
        'body.method': 'body.method is missing. A uri needs a method such as POST.',
      });
      expect(await refused({ ...manual, method: 'FETCH', uri: '/fetch' })).to.deep.equal({
        'body.method': 'body.method must be one of GET, POST, PUT, PATCH, DELETE.',
      });
      const resource = await create({ name: 'resource', ...manual, method: 'POST', uri: '/of-tests' });
      const path = `/formulas/${resource.id}`;
      const [trigger] = resource.triggers;
      expectProblem(await send('DELETE', `${path}/triggers/${trigger.id}`), 'CONFLICT');
      expect(faultsOf(await send('PUT', `${path}/triggers/${trigger.id}`, { type: 'event' }))).to.deep.equal({
        'body.type': 'body.type needs a manual trigger: a formula with a uri is started by requests.',
      });
      // A request names its formula instance.
      await create({ name: 'same', ...manual, method: 'POST', uri: '/of-tests' });
      await create({ name: 'other method', ...manual, method: 'GET', uri: '/of-tests' });
    });

    it('without debug logging on an old engine', async () => {
      expect(await refused({ engine: 'v2', debugLoggingEnabled: false })).to.deep.equal({
        'body.debugLoggingEnabled': 'body.debugLoggingEnabled must be true with the engine v2. Only v3 can do without.',
      });
      expect((await create({ name: 'v1', engine: 'v1' })).engine).to.equal('v1');
    });

    it('for circles of steps other than through a loop', async () => {
      expect(
        await refused({ steps: [step('a', ['b']), step('b', ['c']), step('c', [], { onFailure: ['b'] })] }),
      ).to.deep.equal({
        'body.steps': 'body.steps leads in a circle: b → c → b. Only a loop can be part of a circle.',
      });
      const loop = { name: 'each', type: 'loop', properties: { list: `\${steps.a}` }, onSuccess: ['b'] };
      const { id } = await create({ name: 'loop', steps: [step('a', ['each']), loop, step('b', ['each'])] });
      const itself = await send('POST', `/formulas/${id}/steps`, step('self', ['self']));
      expect(faultsOf(itself)).to.deep.equal({
        'body.onSuccess': 'body.onSuccess leads in a circle: self → self. Only a loop can be part of a circle.',
      });
    });

    it('for more triggers and steps than they can have', async () => {
      expect(await refused({ triggers: [{ type: 'manual' }, { type: 'manual' }] })).to.deep.equal({
        'body.triggers': 'body.triggers must have at most 1 entry; it has 2.',
      });
      const steps = Array.from({ length: 501 }, (_, index) => ({ name: `s${index}`, type: 'script' }));
      expect(await refused({ steps })).to.deep.equal({
        'body.steps': 'body.steps must have at most 500 entries; it has 501.',
      });
      const { id } = await create({ name: 'full', steps: steps.slice(0, 500) });
      expect(Object.keys(faultsOf(await send('POST', `/formulas/${id}/steps`, step('more'))))).to.have.lengthOf(1);
    });
  });

  describe('are validated', () => {
    const findings = async (body: object) => {
      const { id } = await create({ name: 'validated', ...body });
      const { valid, findings: found } = await get(`/formulas/${id}/validation`);
      const texts = found.map(({ path, message }: { path: string; message: string }) => [path, message]);
      return { valid, ...Object.fromEntries(texts) };
    };

    it('with the places of all that an execution would fail on', async () => {
      expect(
        await findings({
          configuration: [{ key: 'crm.instance', type: 'elementInstance' }],
          triggers: [
            { type: 'event', onSuccess: ['get', 'nothing'], properties: { elementInstanceId: `\${crm.instance}` } },
          ],
          steps: [
            {
              name: 'get',
              type: 'elementRequest',
              properties: {
                elementInstanceId: `\${config.crm.instance}`,
                method: 'FETCH',
                query: { where: `\${config.crm}` },
                body: `\${steps.gt.response.body} \${steps['get'].request} \${steps.get} \${trigger.args} \${info.formulaId} \${crm.instance}`,
              },
            },
            { name: 'sub', type: 'formula', properties: { formulaId: -1 } },
            { name: 'empty', type: 'filter' },
          ],
        }),
      ).to.deep.equal({
        valid: false,
        '/triggers/0/onSuccess/1': "'nothing' is no step of the formula.",
        '/steps/0/properties/api': "'get' needs the property api.",
        '/steps/0/properties/method': 'The method must be one of GET, POST, PUT, PATCH, DELETE.',
        '/steps/0/properties/query/where': `\${config.crm} names no variable of the formula.`,
        '/steps/0/properties/body': `\${crm.instance} begins with none of config, steps, trigger and info. Write \${config.key} for a variable.`,
        '/steps/1': "Nothing leads to the step 'sub'.",
        '/steps/1/properties/formulaId': 'There is no formula -1.',
        '/steps/2': "Nothing leads to the step 'empty'.",
        '/steps/2/properties/body': "'empty' needs the property body.",
      });
    });

    it('without a finding, or with a warning alone', async () => {
      const whole = { triggers: [{ type: 'manual', onSuccess: ['s'] }], steps: [step('s')] };
      expect(await findings(whole)).to.deep.equal({ valid: true });
      expect(await findings({ steps: [step('s')] })).to.deep.equal({
        valid: true,
        '/triggers': 'The formula has no trigger, so it can only be called by other formulas.',
      });
      const over = { type: 'scheduled', onSuccess: ['s'], properties: { cron: '0 0 0 1 1 ? 2020' } };
      expect(await findings({ ...whole, triggers: [over] })).to.deep.equal({
        valid: true,
        '/triggers/0/properties/cron': 'The schedule never fires again.',
      });
    });
  });

  describe('that are resources', () => {
    it('are documented as an OpenAPI document with one path', async () => {
      const { id } = await create({
        name: 'Documented',
        description: 'Syncs.',
        method: 'POST',
        uri: '/documented/sync',
        triggers: [{ type: 'manual' }],
      });
      const document = await get(`/formulas/${id}/docs`);
      expect(document).to.deep.include({
        openapi: '3.0.3',
        info: { title: 'Documented', version: '1', description: 'Syncs.' },
        servers: [{ url: service.app.baseUrl }],
      });
      expect(Object.keys(document.paths)).to.deep.equal(['/documented/sync']);
      const { post } = document.paths['/documented/sync'];
      expect(pluck(post.parameters, 'name')).to.deep.equal(['Elements-Formula-Instance-Id']);
      const plain = await create({ name: 'plain' });
      expectProblem(await service.call(`/formulas/${plain.id}/docs`), 'NOT_FOUND');
    });
  });

  describe('are seen', () => {
    it('by users of the account and, of the default account, by those of all accounts', async () => {
      const ofDefault = await create({ name: 'of the default account' });
      const asSibling = { headers: authorizationOf(tenants.sibling) };
      const asColleague = { headers: authorizationOf(tenants.colleague) };
      const asStranger = { headers: authorizationOf(tenants.stranger) };
      const ofSibling = bodyOf(
        await service.call('/formulas', { ...asSibling, method: 'POST', body: { name: 'theirs' } }),
      );
      expect(ofSibling.accountId).to.equal(tenants.sibling.accountId);

      const visible = async (headers: object) =>
        pluck(await service.get('/formulas', { ...headers, query: { pageSize: 1000, abridged: 'true' } }), 'id');
      expect(await visible(asSibling)).to.include.members([ofDefault.id, ofSibling.id]);
      expect(await visible(asColleague))
        .to.include(ofDefault.id)
        .and.not.include(ofSibling.id);
      expect(await visible({})).to.include.members([ofDefault.id, ofSibling.id]);
      expect(await visible(asStranger)).to.deep.equal([]);
      const named = { headers: { 'elements-account-id': String(service.accountId) } };
      expect(await visible(named))
        .to.include(ofDefault.id)
        .and.not.include(ofSibling.id);

      expect((await service.call(`/formulas/${ofDefault.id}`, asSibling)).status).to.equal(200);
      expectProblem(await service.call(`/formulas/${ofSibling.id}`, asColleague), 'NOT_FOUND');
      expectProblem(await service.call(`/formulas/${ofDefault.id}`, asStranger), 'NOT_FOUND');
      expectProblem(
        await service.call(`/formulas/${ofDefault.id}`, { ...asSibling, method: 'PATCH', body: { active: false } }),
        'FORBIDDEN',
        new RegExp(`^Formula ${ofDefault.id} belongs to account ${service.accountId}\\. `),
      );
      expectProblem(await send('DELETE', `/formulas/${ofSibling.id}`), 'FORBIDDEN');
      const there = { headers: { 'elements-account-id': String(tenants.sibling.accountId) } };
      bodyOf(await service.call(`/formulas/${ofSibling.id}`, { ...there, method: 'DELETE' }));
    });

    it('and changed by those with the privileges alone', async () => {
      const user = await createUser(service, { accountId: service.accountId, name: 'plain', role: 'default-user' });
      const { id } = await create({ name: 'rights' });
      expect((await user.call(`/formulas/${id}`)).status).to.equal(200);
      const asUser = (method: string, path: string, body?: unknown) => user.send(method, path, body);
      expectProblem(await asUser('POST', '/formulas', { name: 'no' }), 'FORBIDDEN', /createFormulas/);
      expectProblem(await asUser('PATCH', `/formulas/${id}`, { name: 'no' }), 'FORBIDDEN', /editFormulas/);
      expectProblem(await asUser('POST', `/formulas/${id}/steps`, step('no')), 'FORBIDDEN', /editFormulas/);
      expectProblem(await asUser('DELETE', `/formulas/${id}`), 'FORBIDDEN', /deleteFormulas/);
    });

    it('in the audit log and in the metrics', async () => {
      const { id } = await create({ name: 'audited' });
      await change('PATCH', `/formulas/${id}`, { name: 'audited again' });
      const [latest] = await get(`/audit-logs/formulas/${id}`);
      expect(latest).to.deep.include({ action: 'update', target: 'formula' });
      expect(latest.changes).to.deep.equal({ name: { from: 'audited', to: 'audited again' } });
      const all = await get('/audit-logs/formulas');
      expect(all[0].requestId).to.equal(latest.requestId);
      const created = (await get(`/audit-logs/formulas/${id}`)).at(-1);
      expect(created).to.deep.include({ action: 'create' });
    });

    it('in the number of those created', async () => {
      const count = async () => {
        const [metric] = await get('/metrics/formulas-created');
        return metric?.count ?? 0;
      };
      const before = await count();
      await create({ name: 'counted' });
      // Counts are written behind the answers.
      await until(async () => (await count()) > before);
      const [organization] = await get('/organizations/me/metrics/formulas-created');
      expect(organization.id).to.equal(service.accountId);
    });

    it('also by requests with the token of an instance', async () => {
      const { token } = await service.createInstance('odata', SHOP);
      const { id } = await create({ name: 'by token' });
      const authorization = `User ${service.userSecret}, Organization ${service.organizationSecret}, Element ${token}`;
      const headers = { authorization };
      expect((await service.get(`/formulas/${id}`, { headers })).name).to.equal('by token');
      const body = { name: 'by token too', triggers: [{ type: 'manual', onSuccess: ['s'] }], steps: [step('s')] };
      const made = await service.change('POST', '/formulas', body, { headers });
      const path = `/formulas/${made.id}/instances`;
      await service.change('POST', path, { name: 'x' }, { headers });
      expect(await service.get('/formulas/instances', { headers })).to.have.lengthOf.above(0);
    });

    it('among the usages of a common resource', async () => {
      await change('POST', '/accounts/objects/usedResource/definitions', { fields: [{ path: 'a', type: 'string' }] });
      const { id } = await create({
        name: 'uses',
        steps: [
          request({ api: '/usedResource' }),
          { ...request({ api: '/hubs/crm/usedResource/${config.id}?x=1' }), name: 'two' },
          { ...request({ api: '/usedResources' }), name: 'three' },
        ],
      });
      expect(await get('/common-resources/usedResource/usages')).to.deep.equal({
        formulaUsages: [{ formulaId: id, formulaName: 'uses', usageCount: 2 }],
      });
    });
  });
});
