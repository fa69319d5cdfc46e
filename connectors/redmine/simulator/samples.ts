/** Texts that Redmine does not accept, because they are blank. */
const BLANKS = ['', ' '];

/** Records that both the suite and the live test can create. */
export const WRITES = {
  issues: {
    alteredTexts: BLANKS,
    freeTexts: ['subject', 'description'],
    create: (number: number) => ({
      project_id: 1,
      subject: `New ${number}, "O'Neil" 😀`,
      description: 'two\r\nlines',
      status_id: 2,
      priority_id: 3,
      due_date: '2036-03-01',
      estimated_hours: 2.5,
      done_ratio: 50,
    }),
  },
  'time-entries': {
    alteredTexts: BLANKS,
    create: (number: number) => ({
      issue_id: 2,
      activity_id: 8,
      hours: 1.25,
      comments: `Call ${number}, "Ö" 😀`,
      spent_on: '2026-03-01',
    }),
  },
  projects: {
    alteredTexts: BLANKS,
    freeTexts: ['name', 'description'],
    create: (number: number) => ({ name: `Project ${number} & Söhne`, identifier: `new-${number}`, is_public: false }),
  },
  attachments: { create: () => ({}) },
};
