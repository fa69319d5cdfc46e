import { describeConnector, loggedIn, type WriteSample } from '#connector/suite';
import pipedrive from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

const sample = (create: WriteSample['create'], ...freeTexts: readonly string[]): WriteSample => ({ create, freeTexts });

describeConnector(pipedrive, createSimulator, {
  folder: import.meta.dirname,
  configuration: { ...DEMO_CONFIGURATION, ...loggedIn(DEMO_ACCESS_TOKEN, CLIENTS) },
  // Pipedrive documents no order of texts.
  ownTextOrder: true,
  writes: {
    deals: sample((number) => ({ title: `It's ${number}`, value: 15.05, currency: 'EUR' }), 'title', 'lost_reason'),
    persons: sample(
      (number) => ({ name: `Zoë ${number}`, emails: [{ value: `new${number}@example.com`, primary: true }] }),
      'name',
    ),
    organizations: sample((number) => ({ name: `It's ${number}`, employee_count: 7 }), 'name', 'website'),
    activities: sample((number) => ({ subject: `Call ${number}`, due_date: '2024-02-29' }), 'subject', 'note'),
    products: sample((number) => ({ name: `Product ${number}`, code: `P-${number}` }), 'name', 'code', 'description'),
    pipelines: sample((number) => ({ name: `Pipeline ${number}` }), 'name'),
    stages: sample((number) => ({ name: `Stage ${number}`, pipeline_id: 1 }), 'name'),
    notes: sample((number) => ({ content: `Note ${number}`, deal_id: 1 }), 'content'),
  },
});
