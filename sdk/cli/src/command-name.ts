/** The command as the user types it, for messages. A script that runs the program under another name sets it. */
export const CAUSEWAY = process.env.CAUSEWAY_COMMAND || 'causeway';
