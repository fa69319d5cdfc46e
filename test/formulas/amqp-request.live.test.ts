import { connect } from 'amqplib';
import { expect } from 'chai';
import { createEgress, type Egress } from '../../src/egress/index.ts';
import { createAmqpRequest } from '../../src/formulas/steps/amqp-request.ts';
import type { StepInput } from '../../src/formulas/steps/outcome.ts';

/** `.ci/with-rabbitmq` starts one. */
const { RABBITMQ_URL: url } = process.env;
const QUEUE = 'causeway-test';

if (url === undefined) {
  it('skipped: the step amqpRequest is tested live where RABBITMQ_URL names a RabbitMQ');
} else {
  describe('the step amqpRequest on a real RabbitMQ', () => {
    let egress: Egress;
    let broker: Awaited<ReturnType<typeof connect>>;
    let channel: Awaited<ReturnType<typeof broker.createChannel>>;

    before(async () => {
      egress = createEgress({ allow: ['127.0.0.0/8'] });
      broker = await connect(url);
      channel = await broker.createChannel();
    });
    beforeEach(() => channel.assertQueue(QUEUE, { durable: false }));
    afterEach(() => channel.deleteQueue(QUEUE));
    after(async () => {
      await broker.close();
      await egress.close();
    });

    function perform(properties: Record<string, unknown>, egressOfTest: Pick<Egress, 'guard'> = egress) {
      const step = { id: 1, name: 'send', type: 'amqpRequest', onSuccess: [], onFailure: [], properties } as const;
      const context = {
        config: {},
        variables: new Set(),
        steps: {},
        stepNames: new Set(),
        trigger: { a: 1 },
        info: {},
      };
      const input = { step, context, caller: { accountId: 1, userId: 1 }, signal: new AbortController().signal };
      return createAmqpRequest({ egress: egressOfTest })(input as unknown as StepInput);
    }

    async function receive() {
      const message = await channel.get(QUEUE, { noAck: true });
      return message === false ? undefined : message;
    }

    const shownUrl = url.replace('guest:guest', 'guest:********');

    it('sends JSON to a queue, and shows no password', async () => {
      const outcome = await perform({ url, queue: QUEUE, body: { text: 'Grüße', n: [1] } });
      expect(outcome).to.deep.equal({
        kind: 'done',
        isSuccess: true,
        isFault: false,
        values: [
          [['request', 'url'], shownUrl],
          [['request', 'queue'], QUEUE],
          [['request', 'body'], { text: 'Grüße', n: [1] }],
        ],
      });
      const message = await receive();
      expect(JSON.parse(message?.content.toString() ?? '')).to.deep.equal({ text: 'Grüße', n: [1] });
      expect(message?.properties).to.include({ contentType: 'application/json', deliveryMode: 2 });
    });

    it('sends what a reference names, and through an exchange', async () => {
      await channel.assertExchange('causeway-exchange', 'direct', { durable: false });
      await channel.bindQueue(QUEUE, 'causeway-exchange', 'key');
      const outcome = await perform({ url, queue: 'key', exchange: 'causeway-exchange', body: `\${trigger}` });
      expect(outcome).to.include({ isSuccess: true });
      expect((await receive())?.content.toString()).to.equal('{"a":1}');
      await channel.deleteExchange('causeway-exchange');
    });

    const reasonOf = async (outcome: ReturnType<typeof perform>) => {
      const done = await outcome;
      if (done.kind !== 'done') throw new Error('The step is to be tried again.');
      expect(done).to.include({ isSuccess: false, isFault: true });
      return String(done.values.find(([path]) => path.join() === 'error')?.[1]);
    };

    it('fails for a queue and an exchange that are not there', async () => {
      expect(await reasonOf(perform({ url, queue: 'nowhere', body: 1 }))).to.equal(
        "The broker did not accept the message: There is no queue 'nowhere'.",
      );
      const reason = await reasonOf(perform({ url, queue: 'key', exchange: 'nowhere', body: 1 }));
      expect(reason).to.contain("no exchange 'nowhere'");
    });

    it('fails with a wrong password, without showing it', async () => {
      const reason = await reasonOf(
        perform({ url: url.replace('guest:guest', 'guest:wrong%20one'), queue: QUEUE, body: 1 }),
      );
      expect(reason).to.contain('ACCESS_REFUSED').and.not.contain('wrong');
    });

    it('connects to the address that the check has found', async () => {
      const lookup = async () => [{ address: '127.0.0.1', family: 4 }];
      const named = createEgress({ allow: ['127.0.0.0/8'], lookup });
      const outcome = await perform({ url: url.replace('127.0.0.1', 'broker.test'), queue: QUEUE, body: 1 }, named);
      expect(outcome).to.include({ isSuccess: true });
      expect((await receive())?.content.toString()).to.equal('1');
      await named.close();
    });

    it('connects to no address that the service may not call', async () => {
      const closed = createEgress({ allow: [] });
      const reason = await reasonOf(perform({ url, queue: QUEUE, body: 1 }, closed));
      expect(reason).to.equal('127.0.0.1 has an address that is neither public nor allowed here.');
      expect(await receive()).to.equal(undefined);
      await closed.close();
    });
  });
}
