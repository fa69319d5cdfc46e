import { describeConnector, loggedIn, type WriteSample } from '#connector/suite';
import zendesk from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

const sample = (create: WriteSample['create'], ...freeTexts: readonly string[]): WriteSample => ({ create, freeTexts });

describeConnector(zendesk, createSimulator, {
  folder: import.meta.dirname,
  configuration: { ...DEMO_CONFIGURATION, ...loggedIn(DEMO_ACCESS_TOKEN, CLIENTS) },
  writes: {
    tickets: {
      ...sample(
        (number) => ({ subject: `It's ${number}`, description: 'Zoë writes.', priority: 'high', tags: ['a', 'b'] }),
        'subject',
      ),
      neverShown: ['comment'],
    },
    users: sample((number) => ({ name: `It's ${number}`, email: `new${number}@example.com` }), 'name', 'notes'),
    organizations: sample((number) => ({ name: `It's ${number}`, domain_names: ['example.com'] }), 'notes', 'details'),
    groups: sample((number) => ({ name: `Group ${number}` }), 'name', 'description'),
  },
});
