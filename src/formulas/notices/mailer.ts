import { connect, type Socket } from 'node:net';
import type { Egress } from '../../egress/index.ts';
import type { Mail } from '../executions/model.ts';

export interface MailSettings {
  /** URL of a server for outgoing mail, such as `smtps://user:password@mail.example.com`. */
  readonly url: string;
  /** Address of the sender. */
  readonly from: string;
}

/** Sends a mail. @throws EgressError; Error with the reason of the server */
export type SendMail = (mail: Mail) => Promise<void>;

const SMTPS = 'smtps:';
const PORTS = { plain: 587, tls: 465 };
const CONNECT_MS = 10_000;
/** Maximum time of silence of the server. */
const SILENCE_MS = 30_000;

/** Creates the sender of mail, which connects to addresses that the service may call. */
export function createMailer({ egress }: { readonly egress: Egress }, settings: MailSettings): SendMail {
  const { protocol, hostname, port, username, password } = new URL(settings.url);
  const isSecure = protocol === SMTPS;
  const host = hostname.replace(/^\[(.*)\]$/, '$1');

  return async ({ to, subject, body }) => {
    // Loaded with the first mail: most processes send none.
    const { default: nodemailer } = await import('nodemailer');
    const { lookup } = await egress.guard(settings.url);
    const socket = await open({ host, port: Number(port) || PORTS[isSecure ? 'tls' : 'plain'], lookup });
    try {
      const transport = nodemailer.createTransport({
        host,
        secure: isSecure,
        connection: socket,
        ...(username !== '' && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
        greetingTimeout: SILENCE_MS,
        socketTimeout: SILENCE_MS,
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      await transport.sendMail({ from: settings.from, to, subject, text: body });
    } finally {
      socket.destroy();
    }
  };
}

type Target = { readonly host: string; readonly port: number } & Pick<Awaited<ReturnType<Egress['guard']>>, 'lookup'>;

function open(target: Target): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(target);
    socket.setTimeout(CONNECT_MS, () =>
      socket.destroy(new Error(`${target.host} did not accept a connection within ${CONNECT_MS / 1000} seconds.`)),
    );
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.setTimeout(0);
      socket.off('error', reject);
      resolve(socket);
    });
  });
}
