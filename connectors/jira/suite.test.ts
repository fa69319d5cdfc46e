import { describeConnector } from '#connector/suite';
import jira from './index.ts';
import { createSimulator, DEMO_CONFIGURATION } from './simulator.ts';

describeConnector(jira, createSimulator, {
  folder: import.meta.dirname,
  configuration: DEMO_CONFIGURATION,
  writes: {
    issues: {
      create: (number) => ({
        project: 'PA',
        issuetype: 'Task',
        summary: `New ${number}, "O'Neil"`,
        description: `Two\nlines ${number}`,
        labels: ['new', 'a-b'],
        duedate: '2026-02-28',
        customfield_10010: 2.5,
      }),
    },
  },
});
