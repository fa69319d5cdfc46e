import { createServer } from 'node:net';
import { expect } from 'chai';
import { findFreePort } from '../../embedded/free-port.ts';
import { listen } from '../../suite/listen.ts';

/** The first port that systems give to connections and to servers that ask for any port: Linux’s; those of the others are higher. */
const FIRST_GIVEN = 32_768;

describe('a free port', () => {
  it('is none that the system gives to a connection before it is used', async () => {
    const ports = await Promise.all(Array.from({ length: 50 }, () => findFreePort()));
    for (const port of ports) expect(port).to.be.within(1_024, FIRST_GIVEN - 1);
  });

  it('is none on which a server listens', async () => {
    const server = createServer();
    const taken = await listen(server, await findFreePort());
    try {
      const error = await findFreePort(taken, taken + 1).catch((thrown: unknown) => thrown);
      expect(error)
        .to.have.property('message')
        .that.includes(`No port of 127.0.0.1 from ${taken} to ${taken} was free`);
    } finally {
      server.close();
    }
    expect(await findFreePort(taken, taken + 1)).to.equal(taken);
  });
});
