import { expect } from 'chai';
import { useApp } from '../support/app.ts';

describe('the service, end to end on the simulators', () => {
  const service = useApp();

  it('connects a BambooHR account and answers a filtered query', async () => {
    const configuration = { username: 'demo-key', 'company.name': 'acme', simulator: true };
    const { token } = await service.createInstance('bamboohr', configuration);
    const where = "status = 'Active' and hireDate >= 2024-01-01";
    const answer = await service.call('/employees', {
      token,
      query: { where, pageSize: 3, fields: 'id,status,hireDate' },
    });
    expect(answer.status).to.equal(200);
    expect(answer.body).to.have.length(3);
    expect(answer.headers.get('elements-query-pushdown')).to.equal('full');
  });
});
