import { expect } from 'chai';
import pg from 'pg';
import { FORMULA_TOPIC } from '../../src/formulas/changes.ts';
import { bodyOf, useSharedApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { expectProblem, faultsOf } from './support/expect-problem.ts';
import { useInstance } from './support/instances.ts';
import { BAMBOOHR, SHOP } from './support/simulated.ts';
import { createUser, updateRows, useTenants, withDatabase } from './support/tenants.ts';

const END = { name: 'end', type: 'script', properties: { body: 'done();' } };
const CRM = { key: 'crm', type: 'elementInstance', required: true };
const onEvent = { type: 'event', properties: { elementInstanceId: `\${config.crm}` }, onSuccess: ['end'] };
const MANUAL = { name: 'manual', triggers: [{ type: 'manual', onSuccess: ['end'] }], steps: [END] };
const scheduled = (cron: string) => ({ type: 'scheduled', properties: { cron }, onSuccess: ['end'] });

describe('formula instances', () => {
  const service = useSharedApp();
  const { get, send, change } = service;
  const tenants = useTenants(service);
  const shop = useInstance(service, 'odata', SHOP);

  const createFormula = (more: object = {}) =>
    change('POST', '/formulas', { name: 'formula', configuration: [CRM], triggers: [onEvent], steps: [END], ...more });
  const manual = (more: object = {}) => createFormula({ configuration: [], triggers: MANUAL.triggers, ...more });
  const rowOf = (id: number) =>
    withDatabase(service, async (knex) => {
      const [row] = await knex('formula_instance').where({ id });
      if (row === undefined) throw new Error(`There is no formula instance ${id}.`);
      return row;
    });
  /** Executions with a step each, and a run of the first that never comes. */
  const addExecutions = (
    instance: { readonly accountId: number; readonly id: number; readonly formulaId: number },
    status: string,
    count: number,
  ) =>
    withDatabase(service, async (knex) => {
      const values = { ...instance, status, count, at: new Date('2026-11-28T10:00:00Z') };
      await knex.raw(
        `with execution as (
           insert into formula_execution (account_id, created_at, updated_at, formula_instance_id, formula_account_id,
             formula_id, formula_version, status, trigger)
           select :accountId, :at, :at, :id, :accountId, :formulaId, 1, :status, '{}' from generate_series(1, :count)
           returning *
         ), step as (
           insert into formula_step (account_id, execution_id, execution_at, ordinal, frame, step_name, status, created_at, updated_at)
           select account_id, id, created_at, 0, 0, 'trigger', 'success', :at, :at from execution
         )
         insert into formula_run (account_id, id, execution_at, formula_instance_id, serial, due)
         select account_id, id, created_at, formula_instance_id, false, '2100-01-01' from execution order by id limit 1`,
        values,
      );
    });
  const expiryOf = async (id: number) => (await rowOf(id)).expires_at?.getTime() ?? 0;
  const idsOf = (list: readonly { readonly id: number }[]) => list.map(({ id }) => id);

  it('give values to the variables of a formula', async () => {
    const formula = await createFormula();
    const path = `/formulas/${formula.id}/instances`;
    const settings = {
      'notification.email': 'ops@example.com, dev@example.com',
      'notification.webhook.url': '127.0.0.1:9/formulas, http://127.0.0.1:9/other',
      'formula.instance.time.to.live': 3600,
    };
    const body = { name: 'Acme', configuration: { crm: shop.id, objectName: 'contacts', count: 12 }, settings };
    const { id, createdDate, updatedDate, warnings, ...instance } = await change('POST', path, body);
    expect(instance).to.deep.equal({
      name: 'Acme',
      active: true,
      formula: { id: formula.id, active: true, debugLoggingEnabled: true, singleThreaded: false },
      settings,
      configuration: { crm: String(shop.id), objectName: 'contacts', count: '12' },
    });
    expect(warnings).to.deep.equal([
      `Element instance ${shop.id} has no events enabled, so no event starts this formula instance. Set event.notification.enabled.`,
    ]);
    const whole = { id, createdDate, updatedDate, warnings, ...instance };
    expect(await get(`${path}/${id}`)).to.deep.equal(whole);
    expect(await get(`/formulas/instances/${id}`)).to.deep.equal(whole);
    expect(await get(path)).to.deep.equal([whole]);
    const row = await rowOf(id);
    expect(row.element_instance_ids.map(Number)).to.deep.equal([shop.id]);
    expect((await expiryOf(id)) - row.created_at.getTime()).to.be.within(3_590_000, 3_610_000);

    // The contract's list, with its members and no other.
    const { warnings: _, updatedDate: __, ...listed } = whole;
    expect(await get(`/accounts/${service.accountId}/formulas/${formula.id}/instances`)).to.deep.equal([listed]);
    const all = await get('/formulas/instances');
    const { formula: shown } = all.find((each: { readonly id: number }) => each.id === id);
    expect(shown).to.deep.equal({
      id: formula.id,
      name: 'formula',
      accountId: service.accountId,
      userId: service.userId,
      active: true,
      debugLoggingEnabled: true,
      singleThreaded: false,
      createdDate: formula.createdDate,
      updatedDate: formula.updatedDate,
      configuration: formula.configuration,
    });
  });

  it('are changed, as a whole and in part, and taken back as they were read', async () => {
    const formula = await manual({ configuration: [{ key: 'a' }] });
    const path = `/formulas/${formula.id}/instances`;
    const { id } = await change('POST', path, { name: 'one', configuration: { a: 1, b: 2 } });
    const merged = await change('PATCH', `${path}/${id}`, {
      configuration: { b: null, c: true },
      settings: { 'notification.email': 'ops@example.com' },
    });
    expect(merged).to.deep.include({ name: 'one', configuration: { a: '1', c: 'true' } });
    const same = await change('PATCH', `${path}/${id}`, merged);
    expect({ ...same, updatedDate: '' }).to.deep.equal({ ...merged, updatedDate: '' });
    const replaced = await change('PUT', `${path}/${id}`, {
      ...same,
      name: 'two',
      configuration: { a: 'x' },
      settings: {},
    });
    expect(replaced).to.deep.include({ name: 'two', configuration: { a: 'x' }, settings: {} });
    expect(faultsOf(await send('PATCH', `${path}/${id}`, { formula: { id: 7 } }))).to.deep.equal({
      'body.formula.id': `body.formula.id must be ${formula.id}, as in the path. Or leave it out.`,
    });
    const [listed] = (await get('/formulas/instances')).filter((each: { readonly id: number }) => each.id === id);
    await change('PATCH', `/formulas/${formula.id}`, { singleThreaded: true });
    for (const method of ['PATCH', 'PUT']) await change(method, `${path}/${id}`, { ...listed, name: method });
    const ended = await change('PATCH', `${path}/${id}`, { settings: { 'notification.email': null } });
    expect(ended.settings).to.deep.equal({});
    expect(await change('DELETE', `${path}/${id}`)).to.deep.equal({ id });
    expectProblem(await service.call(`${path}/${id}`), 'NOT_FOUND', `There is no formula instance ${id}.`);
    expectProblem(await send('DELETE', `/formulas/instances/${id}`), 'NOT_FOUND');
  });

  it('are activated and deactivated', async () => {
    const formula = await manual();
    const other = await manual();
    const { id } = await change('POST', `/formulas/${formula.id}/instances`, { name: 'switched', active: false });
    const path = `/formulas/${formula.id}/instances/${id}/active`;
    expect((await get(`/formulas/instances/${id}`)).active).to.equal(false);
    expect((await change('PUT', path)).active).to.equal(true);
    expect((await change('DELETE', path)).active).to.equal(false);
    for (const wrong of [
      `/formulas/${other.id}/instances/${id}/active`,
      `/formulas/${formula.id}/instances/999999999/active`,
    ])
      for (const method of ['PUT', 'DELETE']) expectProblem(await send(method, wrong), 'NOT_FOUND');
    for (const method of ['GET', 'DELETE'])
      expectProblem(await send(method, `/formulas/${other.id}/instances/${id}`), 'NOT_FOUND');
    expectProblem(await send('PUT', `/formulas/${other.id}/instances/${id}`, { name: 'x' }), 'NOT_FOUND');
    expectProblem(await send('PATCH', `/formulas/${other.id}/instances/${id}`, { name: 'x' }), 'NOT_FOUND');
  });

  it('are listed by the element instance that they name, by text, and with the inactive ones', async () => {
    const { id: otherId } = await service.createInstance('bamboohr', BAMBOOHR);
    const formula = await createFormula({ name: 'listing' });
    const path = `/formulas/${formula.id}/instances`;
    const one = await change('POST', path, { name: 'Searched One', configuration: { crm: otherId } });
    const two = await change('POST', path, { name: 'searched two', active: false, configuration: { crm: shop.id } });
    const list = async (query: Record<string, string | number>) =>
      idsOf(await service.get('/formulas/instances', { query }));
    expect(await list({ searchText: 'SEARCHED' })).to.deep.equal([one.id]);
    expect(await list({ searchText: 'searched', includeInactive: 'true' })).to.deep.equal([one.id, two.id]);
    expect(await list({ searchText: 'bambooHR' })).to.deep.equal([one.id]);
    expect(await list({ searchText: '%' })).to.deep.equal([]);
    expect(await list({ elementInstanceId: otherId })).to.deep.equal([one.id]);
    expect(await list({ elementInstanceId: shop.id, includeInactive: 'true' }))
      .to.include(two.id)
      .and.not.include(one.id);
    expect(await list({ elementInstanceId: 999_999_999 })).to.deep.equal([]);
    const first = await service.call(path, { query: { pageSize: 1 } });
    const nextPage = first.headers.get('elements-next-page-token') ?? '';
    expect(idsOf(bodyOf(first))).to.deep.equal([one.id]);
    expect(idsOf(await service.get(path, { query: { pageSize: 1, nextPage } }))).to.deep.equal([two.id]);
  });

  describe('are refused', () => {
    it('where the trigger leads to no step', async () => {
      const refused = async (more: object) => {
        const { id } = await createFormula({ configuration: [], ...more });
        const answer = await send('POST', `/formulas/${id}/instances`, { name: 'refused' });
        expectProblem(answer, 'REQUEST_INVALID');
        return faultsOf(answer)['path.id']?.replace(String(id), 'X').replace(String(id), 'X');
      };
      expect(await refused({ triggers: [] })).to.equal(
        'Formula X has no trigger. Add one with POST /formulas/X/triggers.',
      );
      expect(await refused({ triggers: [{ type: 'manual' }] })).to.equal(
        'The trigger of formula X leads to no step. Put the name of the first step into its onSuccess.',
      );
      expect(await refused({ triggers: [{ type: 'manual', onSuccess: ['nothing'] }] })).to.equal(
        "The trigger of formula X leads to 'nothing', which is no step of the formula.",
      );
    });

    it('for values that are missing, or no element instance of the account', async () => {
      const { id } = await createFormula({ configuration: [CRM, { key: 'text', required: true }] });
      const refused = async (configuration: object) =>
        faultsOf(await send('POST', `/formulas/${id}/instances`, { name: 'refused', configuration }));
      expect(await refused({ crm: '' })).to.deep.equal({
        'body.configuration.crm': 'body.configuration.crm is missing. The formula requires a value for this variable.',
        'body.configuration.text':
          'body.configuration.text is missing. The formula requires a value for this variable.',
      });
      for (const crm of ['999999999', 'x', '1.5'])
        expect(await refused({ crm, text: 'a' })).to.deep.equal({
          'body.configuration.crm': `body.configuration.crm must be the id of an element instance of the account; '${crm}' is none.`,
        });
      expect(await refused({ crm: shop.id, text: { a: 1 } })).to.deep.equal({
        'body.configuration.text': 'body.configuration.text must be a text, a number, true or false.',
      });
      expectProblem(await send('POST', `/formulas/${id}/instances`, {}), 'REQUEST_INVALID');
    });

    it('for element instances of other accounts, unless an administrator of the organization names them', async () => {
      const theirs = await tenants.sibling.createInstance('odata', SHOP);
      const { id } = await createFormula();
      const body = { name: 'across', configuration: { crm: theirs.id } };
      const path = `/formulas/${id}/instances`;
      const colleague = await tenants.colleague.send('POST', path, body);
      expect(Object.keys(faultsOf(colleague))).to.deep.equal(['body.configuration.crm']);
      const across = await change('POST', path, body);
      // What is stored already may stay.
      const renamed = await tenants.colleague.send('PATCH', `${path}/${across.id}`, { name: 'renamed' });
      expect(bodyOf(renamed).name).to.equal('renamed');
      const ofStranger = { name: 's', configuration: [CRM], triggers: [onEvent], steps: [END] };
      const { id: strangeId } = await tenants.stranger.change('POST', '/formulas', ofStranger);
      const named = { name: 'foreign', configuration: { crm: shop.id } };
      const foreign = await tenants.stranger.send('POST', `/formulas/${strangeId}/instances`, named);
      expect(Object.keys(faultsOf(foreign))).to.deep.equal(['body.configuration.crm']);
    });

    it('for settings that are not known, or cannot be used', async () => {
      const { id } = await manual();
      const refused = async (settings: object) =>
        faultsOf(await send('POST', `/formulas/${id}/instances`, { name: 'refused', settings }));
      const at = 'body.settings';
      expect(await refused({ 'notification.emial': 'x' })).to.deep.equal({
        [`${at}.notification.emial`]: "Unknown setting 'notification.emial'. Did you mean 'notification.email'?",
      });
      expect(await refused({ 'notification.email': 'a@example.com, b' })).to.deep.equal({
        [`${at}.notification.email`]: `${at}.notification.email must be addresses, separated by commas. 'b' is none.`,
      });
      expect(Object.keys(await refused({ 'notification.webhook.url': 'https://' }))).to.deep.equal([
        `${at}.notification.webhook.url`,
      ]);
      for (const seconds of [0, 'x', 1.5, -1])
        expect(Object.keys(await refused({ 'formula.instance.time.to.live': seconds }))).to.deep.equal([
          `${at}.formula.instance.time.to.live`,
        ]);
    });

    it('for a setting api that is no free method and path', async () => {
      const formula = await manual();
      const path = `/formulas/${formula.id}/instances`;
      const refused = async (api: string) =>
        faultsOf(await send('POST', path, { name: 'refused', settings: { api } }))['body.settings.api'];
      for (const api of ['/bingo', 'GET', 'get /bingo'])
        expect(await refused(api), api).to.equal('body.settings.api must be a method and a path, such as GET /sync.');
      expect(await refused('GET missing-a-slash')).to.equal(
        'body.settings.api must be a path such as /sync, of letters, digits, -, _, . and ~.',
      );
      for (const api of ['GET /accounts', 'GET /formulas/instances', 'POST /contacts'])
        expect(await refused(api), api).to.match(/^body\.settings\.api must not begin with \//);
      const settings = { api: 'GET /of-an-instance' };
      const first = await change('POST', path, { name: 'first', settings });
      const taken = 'body.settings.api is taken: another formula of the account has this method and path.';
      expect(await refused(settings.api)).to.equal(taken);
      expect((await change('PUT', `${path}/${first.id}`, { name: 'again', settings })).settings).to.deep.equal(
        settings,
      );
      const row = await rowOf(first.id);
      expect([row.api_method, row.api_path]).to.deep.equal(['GET', '/of-an-instance']);
      await manual({ method: 'GET', uri: '/of-a-formula' });
      expect(await refused('GET /of-a-formula')).to.equal(taken);
      expectProblem(
        await send('POST', '/formulas', {
          name: 'taken',
          triggers: [{ type: 'manual' }],
          method: 'GET',
          uri: '/of-an-instance',
        }),
        'CONFLICT',
        'A formula instance of the account has this method and uri in its setting api. Choose another uri.',
      );
    });

    it('for values that make no schedule', async () => {
      const { id } = await createFormula({
        configuration: [{ key: 'cron' }],
        triggers: [scheduled(`\${config.cron}`)],
      });
      const path = `/formulas/${id}/instances`;
      const wrong = await send('POST', path, { name: 'refused', configuration: { cron: '* * * * * ?' } });
      expect(faultsOf(wrong)).to.deep.equal({
        'body.configuration.cron':
          'body.configuration.cron makes a schedule that cannot be used: it fires every 1 second; the least is 1 minute.',
      });
      const right = await change('POST', path, { name: 'right', configuration: { cron: '0 0 0 1 1 ? 2098' } });
      expect((await rowOf(right.id)).next_due).to.deep.equal(new Date('2098-01-01T00:00:00Z'));
    });
  });

  it('keep a formula and its variables from being deleted', async () => {
    const formula = await createFormula();
    const path = `/formulas/${formula.id}`;
    for (const name of ['one', 'two'])
      await change('POST', `${path}/instances`, { name, configuration: { crm: shop.id } });
    expectProblem(await send('DELETE', path), 'CONFLICT', `Formula ${formula.id} has 2 instances. Delete them first.`);
    const [variable] = formula.configuration;
    const message = `The variable 'crm' cannot be deleted, because formula ${formula.id} has 2 instances. Delete them first.`;
    expectProblem(await send('DELETE', `${path}/configuration/${variable.id}`), 'CONFLICT', message);
  });

  it('keep their values when a variable gets another key', async () => {
    const formula = await createFormula();
    const path = `/formulas/${formula.id}`;
    const { id } = await change('POST', `${path}/instances`, {
      name: 'moved',
      configuration: { x: 'y', crm: shop.id },
    });
    const [variable] = formula.configuration;
    await change('PUT', `${path}/configuration/${variable.id}`, { ...variable, key: 'source' });
    expect((await get(`/formulas/instances/${id}`)).configuration).to.deep.equal({ x: 'y', source: String(shop.id) });
    expect((await rowOf(id)).element_instance_ids.map(Number)).to.deep.equal([shop.id]);
  });

  it('are due while formula and instance are active and the trigger is a schedule', async () => {
    const cron = '0 0 0 1 1 ? 2098';
    const formula = await createFormula({ configuration: [], triggers: [scheduled(cron)] });
    const path = `/formulas/${formula.id}`;
    const { id } = await change('POST', `${path}/instances`, { name: 'due' });
    const due = async () => (await rowOf(id)).next_due?.toISOString();
    expect(await due()).to.equal('2098-01-01T00:00:00.000Z');
    const instance = `${path}/instances/${id}`;
    const trigger = `${path}/triggers/${formula.triggers[0].id}`;
    for (const [method, at, body, year] of [
      ['DELETE', `${instance}/active`, undefined, undefined],
      ['PUT', instance, { name: 'due', active: true }, 2098],
      ['PATCH', path, { active: false }, undefined],
      ['PATCH', path, { active: true }, 2098],
      ['PUT', trigger, scheduled('0 0 0 1 1 ? 2099'), 2099],
      ['PUT', trigger, { type: 'manual', onSuccess: ['end'] }, undefined],
      ['PUT', path, { ...formula, triggers: [scheduled(cron)] }, 2098],
    ] as const) {
      await change(method, at, body);
      expect(await due(), `${method} ${at}`).to.equal(year && `${year}-01-01T00:00:00.000Z`);
    }
  });

  it('keep a time that is due already when something else changes', async () => {
    const formula = await createFormula({ configuration: [], triggers: [scheduled('0 0 0 1 1 ? 2098')] });
    const { id } = await change('POST', `/formulas/${formula.id}/instances`, { name: 'missed' });
    // Later than now, so that nothing starts it meanwhile.
    const missed = new Date('2090-01-01T00:00:00Z');
    await updateRows(service, 'formula_instance', { id }, { next_due: missed });
    await change('PATCH', `/formulas/${formula.id}/instances/${id}`, { name: 'renamed' });
    await change('PATCH', `/formulas/${formula.id}`, { name: 'renamed' });
    expect((await rowOf(id)).next_due).to.deep.equal(missed);
  });

  it('expire after the time that was set last', async () => {
    const formula = await manual();
    const ttl = 'formula.instance.time.to.live';
    const path = `/formulas/${formula.id}/instances`;
    const { id } = await change('POST', path, { name: 'short', settings: { [ttl]: '60', api: '' } });
    const first = await expiryOf(id);
    await change('PATCH', `${path}/${id}`, { name: 'same' });
    expect(await expiryOf(id)).to.equal(first);
    await change('PATCH', `${path}/${id}`, { settings: { [ttl]: 7200 } });
    expect((await expiryOf(id)) - first).to.be.within(7_100_000, 7_300_000);
    await change('PATCH', `${path}/${id}`, { settings: { [ttl]: null } });
    expect((await rowOf(id)).expires_at).to.equal(null);
  });

  it('become inactive when an element instance that they name is deleted', async () => {
    const { id: doomedId } = await service.createInstance('odata', SHOP);
    const formula = await createFormula();
    const path = `/formulas/${formula.id}/instances`;
    const doomed = await change('POST', path, { name: 'doomed', configuration: { crm: doomedId } });
    const safe = await change('POST', path, { name: 'safe', configuration: { crm: shop.id } });
    await change('DELETE', `/instances/${doomedId}`);
    const after = await get(`/formulas/instances/${doomed.id}`);
    expect(after.active).to.equal(false);
    expect(after.warnings).to.deep.equal([
      `Element instance ${doomedId}, which this formula instance names, was deleted.`,
    ]);
    expect((await get(`/formulas/instances/${safe.id}`)).active).to.equal(true);
    const message = `Formula instance ${doomed.id} cannot be activated: body.configuration.crm must be the id of an element instance of the account; '${doomedId}' is none.`;
    expectProblem(await send('PUT', `${path}/${doomed.id}/active`), 'CONFLICT', message);
    const repaired = await change('PUT', `${path}/${doomed.id}`, { name: 'repaired', configuration: { crm: shop.id } });
    expect(repaired.active).to.equal(true);
  });

  it('belong to the account of the caller, also those of a formula of the default account', async () => {
    const formula = await manual();
    const path = `/formulas/${formula.id}/instances`;
    const own = await change('POST', path, { name: 'own' });
    const theirs = await tenants.sibling.change('POST', path, { name: 'theirs' });
    expect(idsOf(await get(path))).to.deep.equal([own.id]);
    expect(idsOf(await tenants.sibling.get(path))).to.deep.equal([theirs.id]);
    expectProblem(await tenants.sibling.call(`/formulas/instances/${own.id}`), 'NOT_FOUND');
    expectProblem(await service.call(`/formulas/instances/${theirs.id}`), 'NOT_FOUND');
    const { accountId } = tenants.sibling;
    const listed = `/accounts/${accountId}/formulas/${formula.id}/instances`;
    expect(idsOf(await get(listed))).to.deep.equal([theirs.id]);
    expectProblem(await tenants.colleague.call(listed), 'NOT_FOUND');
    expectProblem(await service.call(`/accounts/999999999/formulas/${formula.id}/instances`), 'NOT_FOUND');
    expectProblem(await send('DELETE', `/formulas/${formula.id}`), 'CONFLICT');

    const ofSibling = await tenants.sibling.change('POST', '/formulas', MANUAL);
    // An account sees neither formulas of other accounts, nor instances of them.
    expectProblem(await service.call(`/accounts/${service.accountId}/formulas/${ofSibling.id}/instances`), 'NOT_FOUND');
    const message = `Formula ${ofSibling.id} belongs to account ${accountId}, so only that account can have instances of it. Send Elements-Account-Id: ${accountId}.`;
    expectProblem(await send('POST', `/formulas/${ofSibling.id}/instances`, { name: 'no' }), 'FORBIDDEN', message);
  });

  it('are in the audit log without the values of variables', async () => {
    const formula = await createFormula({ configuration: [CRM, { key: 'password' }] });
    const path = `/formulas/${formula.id}/instances`;
    const { id } = await change('POST', path, { name: 'audited', configuration: { crm: shop.id, password: 'hidden' } });
    await change('PATCH', `${path}/${id}`, { configuration: { password: 'hidden too' } });
    const [changed, created] = await get('/audit-logs/formula-instances');
    expect(changed).to.deep.include({ action: 'update', target: 'formula-instance' });
    expect(changed.changes).to.deep.equal({ 'configuration.password': { from: '********', to: '********' } });
    expect(created.changes).to.deep.include({
      name: { to: 'audited' },
      'configuration.crm': { to: String(shop.id) },
      'configuration.password': { to: '********' },
    });
    const user = await createUser(service, { accountId: service.accountId, name: 'runner', role: 'default-user' });
    expect((await user.send('POST', path, { name: 'x', configuration: { crm: shop.id } })).status).to.equal(200);
  });

  it('and formulas announce their changes to every account that they concern', async () => {
    const heard: string[] = [];
    const client = new pg.Client({ connectionString: service.databaseUrl });
    await client.connect();
    client.on('notification', ({ payload = '' }) => void heard.push(payload));
    await client.query('listen causeway');
    const announced = async (work: () => Promise<unknown>) => {
      heard.length = 0;
      await work();
      // PostgreSQL delivers messages in the order of their commits.
      const end = JSON.stringify(['end-of-the-test', '']);
      await client.query('select pg_notify($1, $2)', ['causeway', end]);
      await until(() => heard.includes(end));
      const messages = heard.map((message): readonly [string, string] => JSON.parse(message));
      return [...new Set(messages.filter(([topic]) => topic === FORMULA_TOPIC).map(([, id]) => Number(id)))];
    };
    try {
      const own = service.accountId;
      const theirs = tenants.sibling.accountId;
      const formula = await manual();
      const path = `/formulas/${formula.id}`;
      expect(await announced(() => change('PATCH', path, { name: 'alone' }))).to.deep.equal([own]);
      expect(await announced(() => tenants.sibling.send('POST', `${path}/instances`, { name: 'x' }))).to.deep.equal([
        theirs,
      ]);
      expect(await announced(() => change('PATCH', path, { active: false }))).to.have.members([own, theirs]);
      const { id } = await change('POST', `${path}/instances`, { name: 'own' });
      for (const [method, at] of [
        ['PUT', `${path}/instances/${id}/active`],
        ['DELETE', `${path}/instances/${id}/active`],
        ['DELETE', `${path}/instances/${id}`],
      ] as const)
        expect(await announced(() => change(method, at)), at).to.deep.equal([own]);
      const { id: doomedId } = await service.createInstance('odata', SHOP);
      const named = await createFormula();
      await change('POST', `/formulas/${named.id}/instances`, { name: 'named', configuration: { crm: doomedId } });
      expect(await announced(() => change('DELETE', `/instances/${doomedId}`))).to.deep.equal([own]);
    } finally {
      await client.end();
    }
  });

  it('change together with their formula, in any order', async () => {
    const formula = await createFormula({ configuration: [], triggers: [scheduled('0 0 0 1 1 ? 2098')] });
    const path = `/formulas/${formula.id}`;
    const instances: number[] = [];
    for (let n = 0; n < 4; n++) instances.push((await change('POST', `${path}/instances`, { name: `n${n}` })).id);
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, n) => {
        const instance = `${path}/instances/${instances[n % 4]}`;
        if (n % 3 === 0) return send('PATCH', path, { active: n % 2 === 0 });
        if (n % 3 === 1) return send(n % 2 === 0 ? 'PUT' : 'DELETE', `${instance}/active`);
        return send('PATCH', instance, { name: `renamed ${n}` });
      }),
    );
    const statuses = new Set(answers.map(({ status }) => status));
    expect([200, 409]).to.include.members([...statuses]);
    await change('PATCH', path, { active: true });
    for (const id of instances) {
      await change('PUT', `${path}/instances/${id}/active`);
      expect((await rowOf(id)).next_due).to.deep.equal(new Date('2098-01-01T00:00:00Z'));
    }
  });

  it('are removed with their account, with all that belongs to them', async () => {
    const { id: accountId } = await change('POST', '/accounts', { externalId: 'doomed-account' });
    const headers = { 'elements-account-id': String(accountId) };
    const formula = await change('POST', '/formulas', { ...MANUAL, name: 'doomed' }, { headers });
    const { id } = await change('POST', `/formulas/${formula.id}/instances`, { name: 'doomed' }, { headers });
    await addExecutions({ accountId, id, formulaId: formula.id }, 'success', 2500);
    const tables = [
      'formula_run',
      'formula_execution',
      'formula_step',
      'formula_instance',
      'formula_version',
      'formula',
    ];
    const left = () =>
      withDatabase(service, async (knex) => {
        const counts = tables.map((table) =>
          knex(table).where({ account_id: accountId }).count({ count: '*' }).first(),
        );
        return (await Promise.all(counts)).map((row) => Number(row?.count));
      });
    expect(await left()).to.deep.equal([1, 2500, 2500, 1, 1, 1]);
    await change('DELETE', `/accounts/${accountId}`);
    await until(async () => (await left()).every((count) => count === 0));
  });

  it('end with their executions that have not ended', async () => {
    const formula = await manual();
    const { id } = await change('POST', `/formulas/${formula.id}/instances`, { name: 'running' });
    await addExecutions({ accountId: service.accountId, id, formulaId: formula.id }, 'pending', 1);
    await change('DELETE', `/formulas/instances/${id}`);
    await withDatabase(service, async (knex) => {
      expect(await knex('formula_run').where({ formula_instance_id: id })).to.deep.equal([]);
      const [execution] = await knex('formula_execution').where({ formula_instance_id: id });
      expect(execution?.status).to.equal('cancelled');
    });
  });
});
