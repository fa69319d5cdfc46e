import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

/** A mail server for tests: it accepts every mail, or refuses receivers for a while. */
export function useSmtpServer() {
  const sockets = new Set<Socket>();
  let mails: string[] = [];
  let refusal: string | undefined;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    let data: string[] | undefined;
    let rest = '';
    const say = (line: string) => socket.write(`${line}\r\n`);
    const answer = (line: string) => {
      if (data !== undefined) {
        if (line !== '.') return void data.push(line);
        mails.push(data.join('\n'));
        data = undefined;
        return say('250 stored');
      }
      const [word = ''] = line.toUpperCase().split(/[ :]/, 1);
      if (word === 'RCPT' && refusal !== undefined) return say(refusal);
      if (word === 'DATA') {
        data = [];
        return say('354 go on');
      }
      if (word === 'QUIT') {
        say('221 bye');
        return void socket.end();
      }
      return say('250 ok');
    };
    say('220 test');
    socket.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) answer(line);
    });
  });
  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  beforeEach(() => {
    mails = [];
    refusal = undefined;
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    get url() {
      const address = server.address();
      return `smtp://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    },
    /** What was sent, with its headers. */
    get mails(): readonly string[] {
      return mails;
    },
    refuse: (line: string) => {
      refusal = line;
    },
  };
}
