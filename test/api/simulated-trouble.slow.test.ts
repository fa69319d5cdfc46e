import { expect } from 'chai';
import { useApp } from '../support/app.ts';
import { useInstance } from './support/instances.ts';
import { BAMBOOHR } from './support/simulated.ts';

/** What a simulator is asked to do wrong on its own side, as the callers of an instance on it meet it. */
describe('trouble at a simulated provider', () => {
  const service = useApp();
  const people = useInstance(service, 'bamboohr', BAMBOOHR);

  const simulate = (method: string, path: string, body?: object) =>
    fetch(`${service.app.simulatorsUrl}/bamboohr/simulate/${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const read = () => people.call('/employees/105');

  afterEach(() => simulate('DELETE', 'trouble'));

  const MET: readonly (readonly [trouble: string, status: number, code: string])[] = [
    ['429; retry-after=3600', 429, 'PROVIDER_RATE_LIMITED'],
    ['500', 502, 'PROVIDER_UNAVAILABLE'],
    ['403', 422, 'PROVIDER_REJECTED'],
    ['cut', 502, 'PROVIDER_UNAVAILABLE'],
    ['html', 502, 'PROVIDER_PROTOCOL'],
    ['shape', 502, 'PROVIDER_PROTOCOL'],
  ];
  for (const [trouble, status, code] of MET) {
    it(`is told to the caller: ${trouble}`, async () => {
      const planned = await simulate('POST', 'trouble', { trouble, times: 10, path: '/api/v1/employees/105' });
      expect(planned.status).to.equal(204);
      const response = await read();
      expect([response.status, response.body.code], JSON.stringify(response.body)).to.deep.equal([status, code]);
    });
  }

  it('ends when it was met as often as planned', async () => {
    await simulate('POST', 'trouble', { trouble: '404', path: '/api/v1/employees/105' });
    expect([(await read()).status, (await read()).status]).to.deep.equal([404, 200]);
  });

  it('is made for one call by a header that reaches the simulator: that of a pass-through, and of no other call', async () => {
    const headers = { 'x-simulate': '418' };
    const passed = await people.call('/passthrough/api/v1/employees/105', { headers });
    const normalised = await people.call('/employees/105', { headers });
    expect([passed.status, normalised.status]).to.deep.equal([418, 200]);
  });

  it('is planned by nobody who comes through the service', async () => {
    const response = await people.send('POST', '/passthrough/simulate/trouble', { trouble: '500' });
    expect([response.status, (await read()).status]).to.deep.equal([404, 200]);
  });

  it('comes as changes by others too', async () => {
    const changed = await simulate('POST', 'changes', { table: 'employees', create: 2 });
    expect(await changed.json()).to.deep.equal({ created: ['401', '402'], updated: [], removed: [] });
    expect((await people.get('/employees/402')).city).to.equal('New 1');
  });
});
