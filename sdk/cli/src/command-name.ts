/** What a user types to run this: messages name commands by it. A script that runs it under another name says so. */
export const CAUSEWAY = process.env.CAUSEWAY_COMMAND || 'causeway';
