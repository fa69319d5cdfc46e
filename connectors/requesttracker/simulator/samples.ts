/** Request Tracker keeps a subject in one line, and characters that Unicode has not given out are replaced. */
const alteredTexts = ['two\nlines', '\u{10ffff}'];

export const WRITES = {
  tickets: {
    alteredTexts,
    freeTexts: ['subject'],
    neverShown: ['content'],
    create: (number: number) => ({
      queueId: 1,
      subject: `New ${number}, "O'Neil" 😀`,
      status: 'open',
      priority: 3,
      due: '2026-03-01T10:00:00Z',
      requestors: [`new${number}@example.com`],
      content: 'What it is about',
    }),
  },
  transactions: {
    create: (number: number) => ({ ticketId: 1, type: 'Comment', content: `Hello ${number}, "Ö" 😀`, timeTaken: 2 }),
  },
};
