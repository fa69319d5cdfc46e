import { expect } from 'chai';
import { withDatabase } from '../api/support/tenants.ts';
import { describeInBrowser, useBrowser, violationsOf } from './support/browser.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';

describeInBrowser('the watched objects of an instance in a browser', () => {
  const { open, service } = useBrowser();

  it('are added and ended, and their changes are listed with what they break', async () => {
    const bamboo = { username: 'demo-key', 'company.name': 'acme', simulator: true };
    const { id } = await service.createInstance('bamboohr', bamboo, { name: 'Watched' });
    await withDatabase(service, (knex) =>
      knex('schema_change').insert({
        account_id: service.accountId,
        instance_id: id,
        object_name: 'employees',
        change: JSON.stringify({
          added: [HOSTILE],
          removed: ['nickname'],
          changed: [
            {
              field: 'costCenter',
              from: { type: 'number', updateable: true },
              to: { type: 'string', updateable: false },
            },
          ],
        }),
        breaks: JSON.stringify({
          mappings: [{ objectName: 'people', fields: ['nickname'], mappedFields: ['short'] }],
          polls: [],
          formulas: [],
        }),
        created_at: new Date('2026-02-02T08:30:00Z'),
      }),
    );
    const page = await open(`/console/instances/${id}/schema`);
    const changes = page.getByRole('region', { name: 'Changes' });
    await changes.getByText('Removed: nickname').waitFor();
    await changes.getByText('costCenter: number, updateable → string, not updateable').waitFor();
    await changes.getByText(`Added: ${HOSTILE}`).waitFor();
    await changes.getByText('mapping people').waitFor();
    await page.getByText('Nothing is watched.').waitFor();
    await page.getByLabel('Object').fill('employeez');
    await page.getByRole('button', { name: 'Watch', exact: true }).click();
    await page.getByText("BambooHR has no object 'employeez'. Did you mean 'employees'?").first().waitFor();
    await page.getByLabel('Object').fill('employees');
    await page.getByRole('button', { name: 'Watch', exact: true }).click();
    await page.getByRole('button', { name: 'End the watch of employees' }).waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'End the watch of employees' }).click();
    await page.getByText('Nothing is watched.').waitFor();
  });
});
