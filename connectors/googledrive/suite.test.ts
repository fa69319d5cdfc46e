import { describeConnector, loggedIn } from '#connector/suite';
import googledrive from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

const FILE = '1File101';

describeConnector(googledrive, createSimulator, {
  folder: import.meta.dirname,
  configuration: { ...DEMO_CONFIGURATION, ...loggedIn(DEMO_ACCESS_TOKEN, CLIENTS) },
  writes: {
    files: {
      create: (number) => ({ name: `New ${number} O'Neil.txt`, mimeType: 'text/plain' }),
      freeTexts: ['name', 'description'],
    },
    folders: { create: (number) => ({ name: `It's ${number}` }), freeTexts: ['name', 'description'] },
    drives: { create: (number) => ({ name: `Team ${number}` }), freeTexts: ['name'] },
    comments: {
      create: (number) => ({ fileId: FILE, content: `Comment ${number}: "O'Neil" 😀` }),
      freeTexts: ['content'],
    },
    permissions: {
      create: (number) => ({ fileId: FILE, type: 'user', role: 'reader', emailAddress: `new${number}@example.com` }),
    },
  },
});
