import { expect } from 'chai';
import { useSmtpServer } from '../formulas/smtp-server.ts';
import { type TestApp, useApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { QUICK, useReceiver } from './events/receiving.ts';
import { withDatabase } from './support/tenants.ts';

const FAILING = {
  name: 'bad',
  type: 'script',
  properties: { body: "if (!trigger.args.ok) throw('This is wrong'); done();" },
};
const MANUAL = { type: 'manual', onSuccess: ['bad'] };

interface Notice {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Formulas that fail when they are told to. */
function formulasOf(service: TestApp) {
  return {
    create: async (name: string, settings: object, steps: readonly object[] = [FAILING]) => {
      const formula = await service.change('POST', '/formulas', { name, triggers: [MANUAL], steps });
      const { id } = await service.change('POST', `/formulas/${formula.id}/instances`, {
        name: `${name} instance`,
        settings,
      });
      return { formulaId: Number(formula.id), id: Number(id) };
    },
    run: async (id: number, input: unknown): Promise<number> => {
      const [{ id: executionId }] = await service.change('POST', `/formulas/instances/${id}/executions`, input);
      await until(async () => {
        const { body } = await service.call(`/formulas/instances/executions/${executionId}`);
        return body.status !== 'pending' && body.status !== 'queued';
      });
      return executionId;
    },
    notices: async (id: number): Promise<readonly Notice[]> => {
      const body = await service.get('/notifications', { query: { pageSize: 1000 } });
      return body.filter(({ data }: Notice) => data.formulaInstanceId === id);
    },
    failures: (id: number) =>
      withDatabase(service, async (knex) => (await knex('formula_instance').where({ id }).first())?.failures),
  };
}

describe('failures of formulas', function failures() {
  this.timeout(60_000);
  const receiver = useReceiver();
  const service = useApp({}, { engineOptions: QUICK });
  const formulas = formulasOf(service);

  it('are sent to the URLs of the instance as signed events', async () => {
    const [one, other] = [receiver.open('/one'), receiver.open('/other')];
    const { formulaId, id } = await formulas.create('told', { 'notification.webhook.url': `${one}, ${other}` });
    await formulas.run(id, { ok: true });
    const executionId = await formulas.run(id, {});
    for (const url of [one, other]) {
      const [event] = await receiver.waitFor(url, 1);
      expect(event?.body.type).to.equal('formula.execution.failed');
      const { createdDate, ...data } = Object(event?.body.data);
      expect(Date.parse(createdDate)).to.be.greaterThan(Date.now() - 60_000);
      expect(data).to.deep.equal({
        formulaId,
        formulaName: 'told',
        formulaInstanceId: id,
        formulaInstanceName: 'told instance',
        executionId,
        status: 'failed',
        error: { stepName: 'bad', message: 'This is wrong' },
        accountId: service.accountId,
      });
      expect(receiver.at(url)).to.have.length(1);
    }
    expect(await formulas.notices(id)).to.deep.equal([]);
  });

  it('are listed as mail where the service has no mail server', async () => {
    const { id } = await formulas.create('mailed', { 'notification.email': 'ops@example.com, dev@example.com' });
    const executionId = await formulas.run(id, {});
    await until(async () => (await formulas.notices(id)).length > 0);
    const [notice] = await formulas.notices(id);
    expect(notice?.type).to.equal('email.pending');
    expect(notice?.data).to.include({
      to: 'ops@example.com, dev@example.com',
      subject: `Execution ${executionId} of formula mailed failed`,
      reason: 'The service has no server for outgoing mail (SMTP_URL).',
    });
    expect(notice?.data.body).to.contain('Error: This is wrong');
  });

  it('do not keep the mail of a script from being listed, and shown as its value', async () => {
    const body = "notify.email('a@example.com', 'Subject', { n: 1 }); throw('later'); done();";
    const { id } = await formulas.create('scripted', {}, [{ name: 'bad', type: 'script', properties: { body } }]);
    const executionId = await formulas.run(id, {});
    const mail = { to: 'a@example.com', subject: 'Subject', body: '{"n":1}' };
    await until(async () => (await formulas.notices(id)).length > 0);
    expect((await formulas.notices(id))[0]?.data).to.include(mail);
    const steps = await service.get(`/formulas/instances/executions/${executionId}/errors`);
    const values = steps[0].stepExecutionValues.map(({ key, value }: { key: string; value: string }) => [key, value]);
    expect(values).to.deep.equal([
      ['bad.notify', JSON.stringify([mail])],
      ['bad.error', 'later'],
    ]);
  });

  it('deactivate an instance when more than 100 follow one another, after a warning at 50', async () => {
    const { formulaId, id } = await formulas.create('often', {});
    const path = `/formulas/instances/${id}/executions`;
    const fail = async (count: number) => {
      const before = (await formulas.failures(id)) ?? 0;
      for (let done = 0; done < count; done += 20)
        await Promise.all(Array.from({ length: Math.min(20, count - done) }, () => service.send('POST', path, {})));
      await until(async () => (await formulas.failures(id)) === before + count);
    };
    await fail(49);
    expect(await formulas.notices(id)).to.deep.equal([]);
    await formulas.run(id, { ok: true });
    await until(async () => (await formulas.failures(id)) === 0);
    await fail(100);
    const instance = async () => await service.get(`/formulas/instances/${id}`);
    expect((await instance()).active).to.equal(true);
    expect((await formulas.notices(id)).map(({ type }) => type)).to.deep.equal(['formula.instance.failing']);
    await fail(1);
    const { active, warnings } = await instance();
    expect([active, warnings]).to.deep.equal([
      false,
      ['Deactivated, because more than 100 executions failed in a row.'],
    ]);
    const notices = await formulas.notices(id);
    expect(notices.map(({ type }) => type)).to.deep.equal(['formula.instance.failing', 'formula.instance.deactivated']);
    expect(notices[1]?.data).to.include({ formulaId, formulaInstanceName: 'often instance', failures: 101 });
    const refused = await service.send('POST', path, {});
    expect(refused.status).to.equal(409);
    await service.send('PUT', `/formulas/${formulaId}/instances/${id}/active`);
    expect(await formulas.failures(id)).to.equal(0);
  });
});

describe('mail of formulas', function mail() {
  this.timeout(60_000);
  const smtp = useSmtpServer();
  const service = useApp(() => ({ SMTP_URL: smtp.url, SMTP_FROM: 'formulas@example.com' }));
  const formulas = formulasOf(service);

  it('is sent through the server of the operator', async () => {
    const { id } = await formulas.create('posted', { 'notification.email': 'ops@example.com' });
    const executionId = await formulas.run(id, {});
    await until(() => smtp.mails.length > 0);
    const [sent = ''] = smtp.mails;
    expect(sent).to.contain('From: formulas@example.com').and.contain('To: ops@example.com');
    expect(sent).to.contain(`Subject: Execution ${executionId} of formula posted failed`);
    expect(sent).to.contain('Error: This is wrong');
    expect(await formulas.notices(id)).to.deep.equal([]);
  });

  it('is tried again, and listed when every try failed', async () => {
    smtp.refuse('450 busy');
    const { id } = await formulas.create('refused', { 'notification.email': 'ops@example.com' });
    await formulas.run(id, {});
    const waiting = (change?: object) =>
      withDatabase(service, async (knex) => {
        const rows = knex('formula_notice').where({ formula_instance_id: id, kind: 'email' });
        if (change !== undefined) await rows.clone().update(change);
        return rows.first();
      });
    await until(async () => {
      const mail = await waiting();
      return mail?.attempts === 1 && mail.due.getTime() < Date.now() + 61_000;
    });
    expect((await waiting())?.due.getTime()).to.be.greaterThan(Date.now() + 30_000);
    await waiting({ attempts: 7, due: new Date(0) });
    const { id: other } = await formulas.create('another', {});
    await formulas.run(other, {});
    await until(async () => (await formulas.notices(id)).length > 0);
    const [notice] = await formulas.notices(id);
    expect(notice?.type).to.equal('email.pending');
    expect(notice?.data.reason).to.equal('The mail server refused it: 450 busy');
    expect(await waiting()).to.equal(undefined);
  });
});
