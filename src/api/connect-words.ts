import type { RefusedArrival } from '../connect/departures.ts';

/** Texts of a page, as HTML. */
export interface Words {
  readonly title: string;
  readonly words: string;
}

/**
 * Texts for browsers that are away from the page of a connect session. The page has its own table
 * (`console/connect/languages`).
 */
export interface ConnectWords {
  /** Texts for an unknown session. */
  readonly gone: Words;
  /** Texts for a departure that was already used or belongs to another browser. */
  readonly noTicket: Words;
  /** Texts for a window that a provider redirected back. */
  readonly done: Words;
  readonly failed: Pick<Words, 'title'> & { readonly close: string };
  readonly refused: Readonly<Record<RefusedArrival['reason'], Words>>;
  /** Text of the link to the page of the session. */
  readonly back: string;
}

export type ConnectLanguage = keyof typeof CONNECT_WORDS;

export const CONNECT_WORDS = {
  en: {
    gone: {
      title: 'This page does not exist',
      words:
        'The link belongs to no connection that you can still use. Go back to where you came from, and start again there.',
    },
    noTicket: {
      title: 'This cannot be opened again',
      words:
        'The link to the provider works once, within two minutes, and only from the page where you were. Go back to that page and try again.',
    },
    done: { title: 'Connected', words: 'The account is connected. You can close this window.' },
    failed: { title: 'Nothing was connected', close: 'Close this window to try again.' },
    refused: {
      otherBrowser: {
        title: 'This was started in another browser',
        words:
          'Nothing was connected, because the authorization did not start in this browser. If somebody sent you the link, do not continue. Otherwise go back to the page where you started and try again there.',
      },
      again: {
        title: 'This was already done',
        words:
          'The provider has already sent this browser back. Go back to the page where you started: it shows the result.',
      },
      late: {
        title: 'This took too long',
        words:
          'Nothing was connected, because more than 15 minutes have passed. Go back to the page where you started and try again.',
      },
      ended: {
        title: 'The session has ended',
        words:
          'Nothing was connected, because the session was completed, ended, or has expired. Go back to where you came from, and start again there.',
      },
    },
    back: 'Go back and try again',
  },
  de: {
    gone: {
      title: 'Diese Seite gibt es nicht',
      words:
        'Die Adresse gehört zu keiner Verbindung, die noch genutzt werden kann. Gehen Sie dorthin zurück, wo Sie herkommen, und beginnen Sie von vorn.',
    },
    noTicket: {
      title: 'Das lässt sich nicht noch einmal öffnen',
      words:
        'Der Weg zum Anbieter lässt sich nur einmal, innerhalb von zwei Minuten und von der Seite aus öffnen, auf der Sie waren. Gehen Sie zu dieser Seite zurück und versuchen Sie es noch einmal.',
    },
    done: { title: 'Verbunden', words: 'Das Konto ist verbunden. Sie können dieses Fenster schließen.' },
    failed: {
      title: 'Es wurde nichts verbunden',
      close: 'Schließen Sie dieses Fenster, um es noch einmal zu versuchen.',
    },
    refused: {
      otherBrowser: {
        title: 'Das wurde in einem anderen Browser begonnen',
        words:
          'Es wurde nichts verbunden, denn die Anmeldung hat nicht in diesem Browser begonnen. Wenn Ihnen jemand den Link geschickt hat, machen Sie nicht weiter. Gehen Sie sonst zu der Seite zurück, auf der Sie begonnen haben, und versuchen Sie es dort noch einmal.',
      },
      again: {
        title: 'Das wurde schon erledigt',
        words:
          'Der Anbieter hat diesen Browser schon einmal zurückgeschickt. Gehen Sie zu der Seite zurück, auf der Sie begonnen haben: Sie zeigt das Ergebnis.',
      },
      late: {
        title: 'Das hat zu lange gedauert',
        words:
          'Es wurde nichts verbunden, denn es sind mehr als 15 Minuten vergangen. Gehen Sie zu der Seite zurück, auf der Sie begonnen haben, und versuchen Sie es noch einmal.',
      },
      ended: {
        title: 'Dieser Link gilt nicht mehr',
        words:
          'Es wurde nichts verbunden, denn die Verbindung wurde schon hergestellt, beendet oder ist abgelaufen. Gehen Sie dorthin zurück, wo Sie herkommen, und beginnen Sie von vorn.',
      },
    },
    back: 'Zurück und noch einmal versuchen',
  },
  fr: {
    gone: {
      title: 'Cette page n’existe pas',
      words: 'Cette adresse ne correspond à aucune connexion utilisable. Retournez d’où vous venez et recommencez.',
    },
    noTicket: {
      title: 'Ce lien ne peut pas être rouvert',
      words:
        'Le lien vers le fournisseur ne s’ouvre qu’une fois, dans les deux minutes et depuis la page où vous étiez. Retournez à cette page et réessayez.',
    },
    done: { title: 'Compte connecté', words: 'Le compte est connecté. Vous pouvez fermer cette fenêtre.' },
    failed: { title: 'Aucun compte n’a été connecté', close: 'Fermez cette fenêtre pour réessayer.' },
    refused: {
      otherBrowser: {
        title: 'Cela a commencé dans un autre navigateur',
        words:
          'Rien n’a été connecté : l’autorisation n’a pas commencé dans ce navigateur. Si quelqu’un vous a envoyé ce lien, n’allez pas plus loin. Sinon, retournez à la page où vous avez commencé et réessayez.',
      },
      again: {
        title: 'Cela a déjà été traité',
        words:
          'Le fournisseur a déjà renvoyé ce navigateur. Retournez à la page où vous avez commencé : elle affiche le résultat.',
      },
      late: {
        title: 'Cela a pris trop de temps',
        words:
          'Rien n’a été connecté : plus de 15 minutes se sont écoulées. Retournez à la page où vous avez commencé et réessayez.',
      },
      ended: {
        title: 'Ce lien n’est plus valable',
        words:
          'Rien n’a été connecté : la connexion a déjà été établie, a été abandonnée ou a expiré. Retournez d’où vous venez et recommencez.',
      },
    },
    back: 'Revenir et réessayer',
  },
  es: {
    gone: {
      title: 'Esta página no existe',
      words:
        'La dirección no corresponde a ninguna conexión que se pueda usar. Vuelva al lugar de donde viene y empiece de nuevo.',
    },
    noTicket: {
      title: 'Esto no se puede abrir otra vez',
      words:
        'El acceso al proveedor solo se puede abrir una vez, en un plazo de dos minutos y desde la página en la que estaba. Vuelva a esa página e inténtelo de nuevo.',
    },
    done: { title: 'Cuenta conectada', words: 'La cuenta está conectada. Ya puede cerrar esta ventana.' },
    failed: { title: 'No se ha conectado nada', close: 'Cierre esta ventana para intentarlo de nuevo.' },
    refused: {
      otherBrowser: {
        title: 'Esto se empezó en otro navegador',
        words:
          'No se ha conectado nada: la autorización no empezó en este navegador. Si alguien le ha enviado el enlace, no continúe. Si no, vuelva a la página donde empezó e inténtelo de nuevo.',
      },
      again: {
        title: 'Esto ya se ha procesado',
        words:
          'El proveedor ya había devuelto este navegador. Vuelva a la página donde empezó: allí se muestra el resultado.',
      },
      late: {
        title: 'Ha tardado demasiado',
        words:
          'No se ha conectado nada: han pasado más de 15 minutos. Vuelva a la página donde empezó e inténtelo de nuevo.',
      },
      ended: {
        title: 'Este enlace ya no es válido',
        words:
          'No se ha conectado nada: la conexión ya se completó, se canceló o ha caducado. Vuelva al lugar de donde viene y empiece de nuevo.',
      },
    },
    back: 'Volver e intentarlo de nuevo',
  },
} as const satisfies Readonly<Record<string, ConnectWords>>;
