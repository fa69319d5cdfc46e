import { describeConnector, loggedIn } from '#connector/suite';
import box from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

describeConnector(box, createSimulator, {
  folder: import.meta.dirname,
  configuration: { ...DEMO_CONFIGURATION, ...loggedIn(DEMO_ACCESS_TOKEN, CLIENTS) },
  writes: {
    files: {
      create: () => ({ 'parent.id': '0', content_modified_at: '2020-02-29T12:00:00Z' }),
      freeTexts: ['description'],
    },
    // Box accepts few characters in names, and the parent must be a folder.
    folders: { create: (number) => ({ name: `New ${number} O'Neil`, 'parent.id': '0' }), freeTexts: ['description'] },
  },
});
