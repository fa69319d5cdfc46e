/** Every text of the connect page in English. Another language is another table of the same type, and an entry in `LANGUAGES`. */
export const ENGLISH = {
  choose: {
    title: 'Connect an account',
    words: 'Choose where your account is.',
    search: 'Search',
    none: (words: string) => `No provider matches “${words}”.`,
    empty: 'No provider is available at the moment. Ask the people who sent you here.',
  },
  form: {
    title: (name: string) => `Connect ${name}`,
    again: (name: string) => `Connect ${name} again`,
    other: 'All providers',
    authorize: (name: string) => `You log in on the page of ${name} and allow access there.`,
    connect: 'Connect',
    asking: (name: string) => `Contacting ${name}…`,
    toProvider: (name: string) => `Continue to ${name}`,
    cancel: 'Cancel',
    optional: '(optional)',
    select: 'Choose one',
    show: 'Show',
    showField: (field: string) => `Show ${field}`,
    hide: 'Hide',
    where: 'Where do I find this?',
    help: (name: string) => `Help from ${name}`,
    newWindow: '(opens a new window)',
    example: (example: string) => `For example: ${example}`,
    missing: 'Fill in this field.',
    noNumber: 'Enter a number.',
    noUrl: 'Enter an address that begins with https://.',
    otherForm: (example: string | undefined) =>
      example === undefined ? 'This does not look right yet.' : `This does not look right yet. For example: ${example}`,
  },
  waiting: {
    title: (name: string) => `Continue at ${name}`,
    words: (name: string) => `${name} has opened its own window. This page continues when you are finished there.`,
    blocked: (name: string) => `Your browser did not open the window of ${name}.`,
    opening: 'One moment…',
    open: (name: string) => `Open ${name}`,
    openAgain: 'Open the window again',
    back: 'Back',
  },
  done: {
    title: 'Connected',
    message: 'Your account is connected.',
    close: 'You can close this page.',
    goOn: (host: string) => `Continue to ${host}`,
  },
  ended: {
    used: {
      title: 'This link was already used',
      message:
        'It has already connected an account. To connect another one, go back to where you came from and start again.',
    },
    ended: {
      title: 'Nothing was connected',
      message: 'This link no longer works. To connect an account, go back to where you came from and start again.',
    },
    expired: {
      title: 'This link has expired',
      message: 'It was valid for a limited time. Go back to where you came from and start again.',
    },
    unknown: {
      title: 'This link does not work',
      message: 'It may be old or incomplete. Go back to where you came from and start again.',
    },
    goBack: (host: string) => `Back to ${host}`,
  },
  refused: {
    title: 'You cannot connect an account here yet',
    user: 'The page that you came from is not set up for it. Nothing was connected. Close this page, and tell the developers of that page.',
    makers: 'For the developers of the page',
    register: (origin: string) =>
      `The page's origin is ${origin}, which is not among the connect origins of your organization. If the page is yours, register it:`,
    console: 'In the console, this is under Organization, Connect origins. Then open the page again.',
    serve: (origin: string) =>
      `The page's origin is ${origin}, which cannot be a connect origin. Serve it over https, or from localhost.`,
    none: 'The page has no origin, for example because it was opened as a file. Serve it over https, or from localhost.',
    close: 'Close',
  },
  failure: {
    title: 'That did not work',
    said: (name: string) => `${name} says:`,
    unreachable: 'The service cannot be reached at the moment. Try again shortly.',
    retry: 'Try again',
    /** Texts by error code, in place of the service's own message, which is English and is shown below. */
    codes: {} as Readonly<Record<string, (name: string) => string>>,
    reference: (id: string) => `Reference: ${id}`,
  },
  returns: (host: string) => `Afterwards you return to ${host}.`,
};

export type Texts = typeof ENGLISH;
