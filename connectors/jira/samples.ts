/** Records for the suites of both elements. */
export const WRITES = {
  issues: {
    create: (number: number) => ({
      project: 'PA',
      issuetype: 'Task',
      summary: `New ${number} O'Neil`,
      description: 'First line\n\nthird line',
    }),
    // A summary is one line, and never empty.
    freeTexts: ['description'],
  },
  projects: {
    create: (number: number) => ({
      key: `NEW${number}`,
      name: `New ${number}`,
      lead: '5b10a2844c20165700ede210',
      projectTypeKey: 'software',
    }),
    freeTexts: ['description'],
    // Jira has no empty descriptions of projects.
    alteredTexts: [''],
  },
  comments: { create: (number: number) => ({ issueId: '30001', body: `New ${number}\nO'Neil` }) },
  worklogs: {
    create: (number: number) => ({
      issueId: '30001',
      comment: `New ${number}`,
      started: '2026-03-02T09:00:00.000Z',
      timeSpentSeconds: 3600,
    }),
    freeTexts: ['comment'],
  },
};
