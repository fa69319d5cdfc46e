import type { Texts } from './en.ts';

export const GERMAN: Texts = {
  choose: {
    title: 'Konto verbinden',
    words: 'Wählen Sie aus, wo Sie Ihr Konto haben.',
    search: 'Suchen',
    none: (words) => `Zu „${words}“ gibt es hier nichts.`,
    empty: 'Zurzeit kann hier nichts verbunden werden. Fragen Sie dort nach, wo Sie diesen Link erhalten haben.',
  },
  form: {
    title: (name) => `${name} verbinden`,
    again: (name) => `${name} erneut verbinden`,
    other: 'Alle Anbieter',
    authorize: (name) => `Sie melden sich auf der Seite von ${name} an und erlauben dort den Zugriff.`,
    connect: 'Verbinden',
    asking: (name) => `Anfrage an ${name} …`,
    toProvider: (name) => `Weiter zu ${name}`,
    cancel: 'Abbrechen',
    optional: '(freiwillig)',
    select: 'Bitte wählen',
    show: 'Anzeigen',
    showField: (field) => `${field} anzeigen`,
    hide: 'Verbergen',
    where: 'Wo finde ich das?',
    help: (name) => `Hilfe von ${name}`,
    newWindow: '(öffnet ein neues Fenster)',
    example: (example) => `Zum Beispiel: ${example}`,
    missing: 'Bitte füllen Sie dieses Feld aus.',
    noNumber: 'Bitte geben Sie eine Zahl ein.',
    noUrl: 'Bitte geben Sie eine Adresse ein, die mit https:// beginnt.',
    otherForm: (example) =>
      example === undefined
        ? 'Das sieht noch nicht richtig aus.'
        : `Das sieht noch nicht richtig aus. Zum Beispiel: ${example}`,
  },
  waiting: {
    title: (name) => `Weiter bei ${name}`,
    words: (name) =>
      `${name} hat ein eigenes Fenster geöffnet. Sobald Sie dort fertig sind, geht es hier von selbst weiter.`,
    blocked: (name) => `Ihr Browser hat das Fenster von ${name} nicht geöffnet.`,
    opening: 'Einen Moment …',
    open: (name) => `${name} öffnen`,
    openAgain: 'Fenster noch einmal öffnen',
    back: 'Zurück',
  },
  done: {
    title: 'Verbunden',
    message: 'Ihr Konto ist verbunden.',
    close: 'Sie können diese Seite schließen.',
    goOn: (host) => `Weiter zu ${host}`,
  },
  ended: {
    used: {
      title: 'Dieser Link wurde schon verwendet',
      message:
        'Damit ist bereits ein Konto verbunden. Um ein weiteres zu verbinden, gehen Sie dorthin zurück, wo Sie herkommen, und beginnen Sie von vorn.',
    },
    ended: {
      title: 'Es wurde nichts verbunden',
      message:
        'Dieser Link gilt nicht mehr. Um ein Konto zu verbinden, gehen Sie dorthin zurück, wo Sie herkommen, und beginnen Sie von vorn.',
    },
    expired: {
      title: 'Dieser Link ist abgelaufen',
      message: 'Er galt nur für begrenzte Zeit. Gehen Sie dorthin zurück, wo Sie herkommen, und beginnen Sie von vorn.',
    },
    unknown: {
      title: 'Dieser Link funktioniert nicht',
      message:
        'Vielleicht ist er veraltet oder unvollständig. Gehen Sie dorthin zurück, wo Sie herkommen, und beginnen Sie von vorn.',
    },
    goBack: (host) => `Zurück zu ${host}`,
  },
  refused: {
    title: 'Hier können Sie noch kein Konto verbinden',
    user: 'Die Seite, von der Sie kommen, ist dafür nicht eingerichtet. Es wurde nichts verbunden. Schließen Sie dies und sagen Sie den Betreibern der Seite Bescheid.',
    makers: 'Für die Betreiber der Seite',
    register: (origin) =>
      `Die Seite hat den Ursprung ${origin}, der nicht zu den Connect Origins Ihrer Organisation gehört. Wenn es Ihre Seite ist, registrieren Sie ihn:`,
    console:
      'In der Konsole finden Sie das unter Organization, Connect origins. Öffnen Sie danach die Seite noch einmal.',
    serve: (origin) =>
      `Die Seite hat den Ursprung ${origin}, der sich nicht registrieren lässt. Liefern Sie die Seite über https oder von localhost aus.`,
    none: 'Die Seite hat keinen Ursprung, zum Beispiel weil sie als Datei geöffnet wurde. Liefern Sie sie über https oder von localhost aus.',
    close: 'Schließen',
  },
  failure: {
    title: 'Das hat nicht funktioniert',
    said: (name) => `Antwort von ${name}:`,
    unreachable: 'Der Dienst ist gerade nicht erreichbar. Versuchen Sie es gleich noch einmal.',
    retry: 'Noch einmal versuchen',
    codes: {
      PROVIDER_CREDENTIALS_INVALID: (name) =>
        `${name} hat diese Zugangsdaten abgelehnt. Prüfen Sie Ihre Eingaben. Es wurde nichts gespeichert.`,
      REQUEST_INVALID: () => 'Mit diesen Angaben wurde nichts verbunden.',
      PROVIDER_REJECTED: (name) => `${name} hat die Anfrage abgelehnt. Es wurde nichts gespeichert.`,
      PROVIDER_RATE_LIMITED: (name) =>
        `${name} nimmt gerade keine weiteren Anfragen an. Versuchen Sie es in ein paar Minuten noch einmal.`,
      RATE_LIMITED: () => 'Das waren zu viele Anfragen. Versuchen Sie es in einer Minute noch einmal.',
      PROVIDER_UNAVAILABLE: (name) => `${name} ist gerade nicht erreichbar. Versuchen Sie es später noch einmal.`,
      PROVIDER_TIMEOUT: (name) => `${name} hat nicht rechtzeitig geantwortet. Versuchen Sie es noch einmal.`,
      PROVIDER_PROTOCOL: (name) => `${name} hat etwas Unerwartetes geantwortet. Es wurde nichts gespeichert.`,
      OVERLOADED: () => 'Der Dienst ist gerade ausgelastet. Versuchen Sie es gleich noch einmal.',
      INTERNAL: () => 'Beim Verbinden ist ein Fehler aufgetreten. Versuchen Sie es noch einmal.',
    },
    reference: (id) => `Vorgang: ${id}`,
  },
  returns: (host) => `Danach kehren Sie zu ${host} zurück.`,
};
