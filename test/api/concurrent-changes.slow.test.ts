import { expect } from 'chai';
import { type ApiAnswer, pluck, useSharedApp } from '../support/app.ts';
import { json, startMisbehavingServer } from '../support/misbehaving-server.ts';

describe('two changes of one configuration at the same time', () => {
  const service = useSharedApp();

  it('are not mixed: one wins, the other is a conflict that says what to do', async () => {
    const provider = await startMisbehavingServer();
    provider.answer('/', json({ value: [] }));
    const { id } = await service.createInstance('odata', { 'base.url': provider.url });
    const change = (username: string) =>
      service.send('PATCH', `/instances/${id}/configuration`, { username, password: `${username}-password` });
    const answers = await Promise.all(['one', 'two', 'three'].map(change));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).to.have.length.at.least(1);
    expect(new Set(statuses)).to.have.property('size').that.is.at.most(2);
    for (const { body } of answers.filter(({ status }) => status !== 200)) {
      expect(body.code).to.equal('CONFLICT');
      expect(body.message).to.equal(
        `Instance ${id} was changed by another request at the same time. Read it again and repeat the change.`,
      );
    }
    const body = await service.get(`/instances/${id}/configuration`);
    expect(['one', 'two', 'three']).to.include(body.username);
    await provider.close();
  });
});

describe('many changes of what accounts share, at the same time', () => {
  const service = useSharedApp();
  const many = Array.from({ length: 8 }, (_, index) => index);

  const call = (method: string, path: string, body?: object) => service.send(method, path, body);
  const outcomes = (answers: readonly ApiAnswer[]) =>
    [...new Set(answers.map(({ status, body }) => (status === 200 ? 'done' : body.code)))].sort();
  const idsOf = (answers: readonly ApiAnswer[]): readonly number[] => answers.map(({ body }) => body.id);

  it('are all done, of accounts', async () => {
    const make = (prefix: string) =>
      many.map((index) => call('POST', '/accounts', { externalId: `${prefix} ${index}`, name: 'New' }));
    const made = await Promise.all(make('first'));
    expect(outcomes(made)).to.deep.equal(['done']);
    const ids = idsOf(made);
    const [created, changed, removed] = await Promise.all([
      Promise.all(make('second')),
      Promise.all(ids.map((id) => call('PATCH', `/accounts/${id}`, { name: 'Changed' }))),
      Promise.all(ids.map((id) => call('DELETE', `/accounts/${id}`))),
    ]);
    expect(outcomes(created)).to.deep.equal(['done']);
    expect(outcomes(removed)).to.deep.equal(['done']);
    // Those that were removed first are not there any more.
    expect(['done', 'NOT_FOUND']).to.include.members(outcomes(changed));
    const body = await service.get('/accounts', { query: { where: "name != 'Default'" } });
    const names = pluck(body, 'externalId');
    expect(names).to.include.members(many.map((index) => `second ${index}`));
    expect(names.join()).not.to.include('first');
  });

  it('are done or in conflict with each other, of formulas and their instances', async () => {
    const step = (name: string) => ({ name, type: 'script', properties: { body: 'done({})' } });
    const triggers = [{ type: 'manual', onSuccess: ['end'] }];
    const formulas = await Promise.all(
      many.map((index) => call('POST', '/formulas', { name: `Formula ${index}`, triggers, steps: [step('end')] })),
    );
    expect(outcomes(formulas)).to.deep.equal(['done']);
    const ids = idsOf(formulas);
    const [one, other] = ids;
    const instances = (name: string) =>
      Promise.all([one, other, one, other].map((id) => call('POST', `/formulas/${id}/instances`, { name })));
    const made = await instances('Before');
    expect(outcomes(made)).to.deep.equal(['done']);
    const answers = await Promise.all([
      ...made.map(({ body: { id, formula } }) =>
        call('PATCH', `/formulas/${formula.id}/instances/${id}`, { name: 'Changed' }),
      ),
      ...[one, other].map((id) => call('PATCH', `/formulas/${id}`, { description: 'Changed' })),
      ...many.map((index) => call('POST', `/formulas/${one}/steps`, step(`step${index}`))),
      ...ids.slice(2).map((id) => call('DELETE', `/formulas/${id}`)),
    ]);
    expect(['done', 'CONFLICT']).to.include.members(outcomes(answers));
    // A step does not depend on what is changed beside it.
    const steps: readonly { readonly name: string }[] = (await service.get(`/formulas/${one}`)).steps;
    expect(steps.map(({ name }) => name).sort()).to.deep.equal(['end', ...many.map((index) => `step${index}`)]);
    const added = answers.slice(made.length + 2, made.length + 2 + many.length);
    const stored = new Map(steps.map(({ name, ...rest }) => [name, rest]));
    expect(added.map(({ body: { name, ...rest } }) => [name, rest])).to.deep.equal(
      added.map(({ body: { name } }) => [name, stored.get(name)]),
    );
  });
});
