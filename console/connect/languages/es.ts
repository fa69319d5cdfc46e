import type { Texts } from './en.ts';

export const SPANISH: Texts = {
  choose: {
    title: 'Conectar una cuenta',
    words: 'Elija dónde tiene su cuenta.',
    search: 'Buscar',
    none: (words) => `No hay nada que se llame «${words}».`,
    empty: 'Por ahora no hay nada que conectar. Pregunte a quien le ha enviado aquí.',
  },
  form: {
    title: (name) => `Conectar ${name}`,
    again: (name) => `Volver a conectar ${name}`,
    other: 'Todos los proveedores',
    authorize: (name) => `Inicie sesión en la página de ${name} y autorice allí el acceso.`,
    connect: 'Conectar',
    asking: (name) => `Consultando a ${name}…`,
    toProvider: (name) => `Continuar en ${name}`,
    cancel: 'Cancelar',
    optional: '(opcional)',
    select: 'Elija una opción',
    show: 'Mostrar',
    showField: (field) => `Mostrar ${field}`,
    hide: 'Ocultar',
    where: '¿Dónde lo encuentro?',
    help: (name) => `Ayuda de ${name}`,
    newWindow: '(abre una ventana nueva)',
    example: (example) => `Por ejemplo: ${example}`,
    missing: 'Este campo es obligatorio.',
    noNumber: 'Introduzca un número.',
    noUrl: 'Introduzca una dirección que empiece por https://.',
    otherForm: (example) =>
      example === undefined
        ? 'Este valor todavía no es correcto.'
        : `Este valor todavía no es correcto. Por ejemplo: ${example}`,
  },
  waiting: {
    title: (name) => `Continúe en ${name}`,
    words: (name) => `${name} ha abierto su propia ventana. Esta página seguirá sola cuando termine allí.`,
    blocked: (name) => `Su navegador no ha abierto la ventana de ${name}.`,
    opening: 'Un momento…',
    open: (name) => `Abrir ${name}`,
    openAgain: 'Volver a abrir la ventana',
    back: 'Atrás',
  },
  done: {
    title: 'Cuenta conectada',
    message: 'Su cuenta está conectada.',
    close: 'Ya puede cerrar esta página.',
    goOn: (host) => `Continuar en ${host}`,
  },
  ended: {
    used: {
      title: 'Este enlace ya se ha utilizado',
      message:
        'Ya se conectó una cuenta con él. Para conectar otra, vuelva al lugar de donde viene y empiece de nuevo.',
    },
    ended: {
      title: 'No se ha conectado nada',
      message:
        'Este enlace ya no es válido. Para conectar una cuenta, vuelva al lugar de donde viene y empiece de nuevo.',
    },
    expired: {
      title: 'Este enlace ha caducado',
      message: 'Solo era válido durante un tiempo limitado. Vuelva al lugar de donde viene y empiece de nuevo.',
    },
    unknown: {
      title: 'Este enlace no funciona',
      message: 'Puede que sea antiguo o esté incompleto. Vuelva al lugar de donde viene y empiece de nuevo.',
    },
    goBack: (host) => `Volver a ${host}`,
  },
  refused: {
    title: 'Aquí todavía no puede conectar una cuenta',
    user: 'La página de la que viene no está preparada para ello. No se ha conectado nada. Cierre esto y avise a los responsables de la página.',
    makers: 'Para los responsables de la página',
    register: (origin) =>
      `El origen de la página es ${origin} y no figura entre los «connect origins» de su organización. Si la página es suya, regístrelo:`,
    console: 'En la consola está en Organization, Connect origins. Después, vuelva a abrir la página.',
    serve: (origin) =>
      `El origen de la página es ${origin} y no se puede registrar. Sirva la página por https o desde localhost.`,
    none: 'La página no tiene origen, por ejemplo porque se ha abierto como archivo. Sírvala por https o desde localhost.',
    close: 'Cerrar',
  },
  failure: {
    title: 'No ha funcionado',
    said: (name) => `Respuesta de ${name}:`,
    unreachable: 'No se puede acceder al servicio en este momento. Inténtelo de nuevo enseguida.',
    retry: 'Intentar de nuevo',
    codes: {
      PROVIDER_CREDENTIALS_INVALID: (name) =>
        `${name} ha rechazado estas credenciales. Compruebe los datos. No se ha guardado nada.`,
      REQUEST_INVALID: () => 'No se ha conectado nada con estos datos.',
      PROVIDER_REJECTED: (name) => `${name} ha rechazado la solicitud. No se ha guardado nada.`,
      PROVIDER_RATE_LIMITED: (name) =>
        `${name} no acepta más solicitudes por ahora. Inténtelo de nuevo dentro de unos minutos.`,
      RATE_LIMITED: () => 'Ha habido demasiadas solicitudes. Inténtelo de nuevo dentro de un minuto.',
      PROVIDER_UNAVAILABLE: (name) => `No se puede acceder a ${name} en este momento. Inténtelo más tarde.`,
      PROVIDER_TIMEOUT: (name) => `${name} no ha respondido a tiempo. Inténtelo de nuevo.`,
      PROVIDER_PROTOCOL: (name) => `${name} ha dado una respuesta inesperada. No se ha guardado nada.`,
      OVERLOADED: () => 'El servicio está saturado en este momento. Inténtelo de nuevo enseguida.',
      INTERNAL: () => 'Se ha producido un error al conectar. Inténtelo de nuevo.',
    },
    reference: (id) => `Referencia: ${id}`,
  },
  returns: (host) => `Después volverá a ${host}.`,
};
