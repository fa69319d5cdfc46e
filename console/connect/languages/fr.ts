import type { Texts } from './en.ts';

export const FRENCH: Texts = {
  choose: {
    title: 'Connecter un compte',
    words: 'Choisissez le service où se trouve votre compte.',
    search: 'Rechercher',
    none: (words) => `Aucun résultat pour « ${words} ».`,
    empty: 'Il n’y a rien à connecter pour le moment. Adressez-vous à la personne qui vous a envoyé ici.',
  },
  form: {
    title: (name) => `Connecter ${name}`,
    again: (name) => `Reconnecter ${name}`,
    other: 'Tous les services',
    authorize: (name) => `Vous vous connectez sur la page de ${name} et y autorisez l’accès.`,
    connect: 'Connecter',
    asking: (name) => `Interrogation de ${name}…`,
    toProvider: (name) => `Continuer vers ${name}`,
    cancel: 'Annuler',
    optional: '(facultatif)',
    select: 'Choisissez',
    show: 'Afficher',
    showField: (field) => `Afficher ${field}`,
    hide: 'Masquer',
    where: 'Où trouver cette information ?',
    help: (name) => `Aide de ${name}`,
    newWindow: '(ouvre une nouvelle fenêtre)',
    example: (example) => `Par exemple : ${example}`,
    missing: 'Ce champ est obligatoire.',
    noNumber: 'Saisissez un nombre.',
    noUrl: 'Saisissez une adresse qui commence par https://.',
    otherForm: (example) =>
      example === undefined
        ? 'Cette valeur n’est pas encore correcte.'
        : `Cette valeur n’est pas encore correcte. Par exemple : ${example}`,
  },
  waiting: {
    title: (name) => `Continuez chez ${name}`,
    words: (name) =>
      `${name} a ouvert sa propre fenêtre. Cette page continuera d’elle-même dès que vous aurez terminé là-bas.`,
    blocked: (name) => `Votre navigateur n’a pas ouvert la fenêtre de ${name}.`,
    opening: 'Un instant…',
    open: (name) => `Ouvrir ${name}`,
    openAgain: 'Rouvrir la fenêtre',
    back: 'Retour',
  },
  done: {
    title: 'Compte connecté',
    message: 'Votre compte est connecté.',
    close: 'Vous pouvez fermer cette page.',
    goOn: (host) => `Continuer vers ${host}`,
  },
  ended: {
    used: {
      title: 'Ce lien a déjà été utilisé',
      message:
        'Il a déjà servi à connecter un compte. Pour en connecter un autre, retournez d’où vous venez et recommencez.',
    },
    ended: {
      title: 'Aucun compte n’a été connecté',
      message: 'Ce lien n’est plus valable. Pour connecter un compte, retournez d’où vous venez et recommencez.',
    },
    expired: {
      title: 'Ce lien a expiré',
      message: 'Il n’était valable que pour une durée limitée. Retournez d’où vous venez et recommencez.',
    },
    unknown: {
      title: 'Ce lien ne fonctionne pas',
      message: 'Il est peut-être ancien ou incomplet. Retournez d’où vous venez et recommencez.',
    },
    goBack: (host) => `Retour à ${host}`,
  },
  refused: {
    title: 'Vous ne pouvez pas encore connecter de compte ici',
    user: 'La page d’où vous venez n’est pas configurée pour cela. Rien n’a été connecté. Fermez ceci et prévenez les responsables de cette page.',
    makers: 'Pour les responsables de la page',
    register: (origin) =>
      `L’origine de la page est ${origin}. Elle ne fait pas partie des « connect origins » de votre organisation. Si cette page est la vôtre, enregistrez-la :`,
    console: 'Dans la console, cela se trouve sous Organization, Connect origins. Rouvrez ensuite la page.',
    serve: (origin) =>
      `L’origine de la page est ${origin}. Elle ne peut pas être enregistrée : servez la page en https ou depuis localhost.`,
    none: 'La page n’a pas d’origine, par exemple parce qu’elle a été ouverte comme fichier. Servez-la en https ou depuis localhost.',
    close: 'Fermer',
  },
  failure: {
    title: 'Cela n’a pas fonctionné',
    said: (name) => `Réponse de ${name} :`,
    unreachable: 'Le service est injoignable pour le moment. Réessayez dans un instant.',
    retry: 'Réessayer',
    codes: {
      PROVIDER_CREDENTIALS_INVALID: (name) =>
        `${name} a refusé ces identifiants. Vérifiez votre saisie. Rien n’a été enregistré.`,
      REQUEST_INVALID: () => 'Rien n’a été connecté avec ces informations.',
      PROVIDER_REJECTED: (name) => `${name} a rejeté la demande. Rien n’a été enregistré.`,
      PROVIDER_RATE_LIMITED: (name) =>
        `${name} n’accepte pas d’autre demande pour le moment. Réessayez dans quelques minutes.`,
      RATE_LIMITED: () => 'Trop de demandes ont été envoyées. Réessayez dans une minute.',
      PROVIDER_UNAVAILABLE: (name) => `${name} est injoignable pour le moment. Réessayez plus tard.`,
      PROVIDER_TIMEOUT: (name) => `${name} n’a pas répondu à temps. Réessayez.`,
      PROVIDER_PROTOCOL: (name) => `La réponse de ${name} est inattendue. Rien n’a été enregistré.`,
      OVERLOADED: () => 'Le service est surchargé pour le moment. Réessayez dans un instant.',
      INTERNAL: () => 'Une erreur s’est produite lors de la connexion. Réessayez.',
    },
    reference: (id) => `Référence : ${id}`,
  },
  returns: (host) => `Vous reviendrez ensuite à ${host}.`,
};
