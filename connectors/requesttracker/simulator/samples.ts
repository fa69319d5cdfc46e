/**
 * Texts that Request Tracker does not store as they are: it stores a subject in one line, and replaces characters that Unicode has not
 * assigned.
 */
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
