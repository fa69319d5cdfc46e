import type { ScriptMail } from '../model.ts';

const MOST_CHARACTERS = 256 * 1024;
const ADDRESS = /^[^\s@,]+@[^\s@,]+$/;
const LONGEST_ADDRESS = 320;
const LONGEST_SUBJECT = 998;

/** The mail that a script sends during one call, up to their limits. */
interface Mails {
  /** Sets how many mails a call can send. */
  readonly allow: (count: number) => void;
  /** @throws Error with a message for the author of the script */
  readonly add: (mail: ScriptMail) => void;
  /** Returns the mail as a member of an outcome, if there is any, and begins again without any. */
  readonly take: () => { readonly mails?: readonly ScriptMail[] };
}

export function createMails(): Mails {
  let mails: ScriptMail[] = [];
  let left = MOST_CHARACTERS;
  let most = 0;
  return {
    allow: (count) => {
      most = count;
    },
    add: ({ to, subject, body }) => {
      if (most === 0) throw new Error('Only scripts of formulas can send mail');
      if (mails.length >= most) throw new Error(`A script can send at most ${most} mails`);
      const addresses = to.split(',').map((address) => address.trim());
      if (!addresses.every((address) => ADDRESS.test(address) && address.length <= LONGEST_ADDRESS))
        throw new Error('notify.email needs the address of a receiver, or several that are separated by commas');
      left -= to.length + subject.length + body.length;
      if (left < 0) throw new Error(`The mails of a script can have at most ${MOST_CHARACTERS} characters`);
      // A line break in a header would begin another header.
      const line = subject.replace(/\s+/g, ' ').slice(0, LONGEST_SUBJECT);
      mails.push({ to: addresses.join(', '), subject: line.toWellFormed(), body: body.toWellFormed() });
    },
    take: () => {
      const taken = mails;
      mails = [];
      left = MOST_CHARACTERS;
      return taken.length === 0 ? {} : { mails: taken };
    },
  };
}
