import { describeConnector } from '#connector/suite';
import jira from './index.ts';
import { createSimulator, DEMO_CONFIGURATION } from './simulator.ts';

/** Ids of the simulator: an issue, and a user. */
const ISSUE = '30005';
const USER = '5b10a2844c20165700ede210';
/** Jira has no empty documents. */
const alteredTexts = [''];

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
        assignee: USER,
        duedate: '2026-02-28',
        customfield_10010: 2.5,
      }),
      // A summary has one line.
      freeTexts: ['description', 'environment', 'customfield_10015'],
      alteredTexts,
    },
    projects: {
      create: (number) => ({ key: `NEW${number}`, name: `New ${number}`, lead: USER, projectTypeKey: 'software' }),
      freeTexts: ['description'],
      alteredTexts,
    },
    comments: { create: (number) => ({ issueId: ISSUE, body: `Comment ${number}` }), alteredTexts },
    worklogs: {
      create: (number) => ({
        issueId: ISSUE,
        started: '2026-03-02T09:00:00.000Z',
        timeSpentSeconds: 60 * number,
        comment: `Work ${number}`,
      }),
      alteredTexts,
    },
  },
});
