import { describeSubject, loggedIn } from '#connector/suite';
import { OWNER_KIND, REPOSITORY } from './account.ts';
import github from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION, DEMO_REPOSITORY } from './simulator.ts';

const owner = { ...DEMO_CONFIGURATION, [OWNER_KIND]: 'organization' };

/** An instance of one repository uses lists where the other instances search, and has two objects more. */
describeSubject('github of one repository', async () => ({
  connector: github,
  createSimulator,
  samples: {
    folder: import.meta.dirname,
    configuration: { ...owner, [REPOSITORY]: DEMO_REPOSITORY, ...loggedIn(DEMO_ACCESS_TOKEN, CLIENTS) },
    writes: {
      repositories: { create: (number) => ({ name: `new-${number}`, private: true }), freeTexts: ['description'] },
      issues: { create: (number) => ({ title: `Issue ${number}` }), freeTexts: ['body'], alteredTexts: [''] },
      pull_requests: {
        create: (number) => ({ title: `Change ${number}`, head: `topic-${number}`, base: 'main' }),
        freeTexts: ['body'],
        alteredTexts: [''],
      },
      comments: {
        create: (number) => ({ issue_id: `${DEMO_REPOSITORY}-1`, body: `Comment ${number}` }),
        freeTexts: ['body'],
        alteredTexts: ['', ' '],
      },
      labels: {
        create: (number) => ({ name: `new ${number}`, color: 'd73a4a' }),
        freeTexts: ['description'],
        alteredTexts: [''],
      },
      milestones: {
        create: (number) => ({ title: `Milestone ${number}`, due_on: '2026-03-02T09:00:00Z' }),
        freeTexts: ['description'],
      },
    },
  },
}));
