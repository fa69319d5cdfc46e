import type { Knex } from 'knex';
import type { EventPublisher, Publisher } from '../../events/notifications/notifications.ts';
import { createDueLooks } from '../../events/timers.ts';
import type { Platform } from '../../platform.ts';
import { announceChange } from '../changes.ts';
import { asUrl, EMAIL, WEBHOOK_URL } from '../check-instance.ts';
import type { Mail, StepValue } from '../executions/model.ts';
import { countFailures, MOST_FAILURES, WARNED_AT } from './failure-streak.ts';
import type { SendMail } from './mailer.ts';
import { createNoticeStore, type NewMail, type Notice, type NotifiedInstance } from './notice-store.ts';

interface TellerPorts {
  /** Prepares notifications of an account, see `Notifications`. */
  readonly prepareNotice: (accountId: number) => Promise<Publisher>;
  /** Prepares events for a URL of an account. */
  readonly prepareEvent: (accountId: number, url: string) => Promise<EventPublisher>;
  /** Undefined: mail is only listed as notifications. */
  readonly sendMail: SendMail | undefined;
}

/** Notices of one round. */
const BATCH = 200;
/** Milliseconds between two looks at the database. */
const LOOK_MS = 30_000;
const LEAST_WAIT_MS = 1_000;
/** Time for which a process reserves a mail that it sends. */
const RESERVED_MS = 5 * 60_000;
const MOST_TRIES = 8;
const FIRST_RETRY_MS = 60_000;
const LONGEST_RETRY_MS = 3_600_000;
const LONGEST_MESSAGE = 4_000;
const DEACTIVATED = `Deactivated, because more than ${MOST_FAILURES} executions failed in a row.`;

/**
 * Acts on ends of executions and on mail of scripts. Each is a row that was stored in the statement that ended the execution or the step,
 * and it is deleted in the transaction that stores what follows from it. So nothing is lost or told twice when a process dies, except a mail
 * that the server accepted in the moment of the end, which is sent again.
 */
export function createTeller(
  { knex, clock, log, notifier }: Pick<Platform, 'knex' | 'clock' | 'log' | 'notifier'>,
  { prepareNotice, prepareEvent, sendMail }: TellerPorts,
) {
  const store = createNoticeStore(knex);
  const stopping = new AbortController();
  const looks = createDueLooks({
    clock,
    signal: stopping.signal,
    options: { gatherMs: 0, lookMs: LOOK_MS },
    nextDue: async () => {
      const due = await store.nextDue();
      // At least a moment: another process may be about to delete what is due.
      return due && new Date(Math.max(clock.now() + LEAST_WAIT_MS, due.getTime()));
    },
    takeDue: async (noteQuery) => {
      noteQuery();
      const due = await store.listDue(new Date(clock.now()), BATCH);
      for (const notices of groupsOf(due)) {
        // A mail may take long. The rest stays due, for another process or the next start.
        if (stopping.signal.aborted) return false;
        await actOrPostpone(notices);
      }
      return due.length === BATCH;
    },
    noteFailure: (error) =>
      log.warn({ err: error }, 'could not report the ends of executions of formulas; trying again'),
  });

  /** Notices that cannot be acted on now must not hold up those of others. */
  async function actOrPostpone(notices: readonly Notice[]): Promise<void> {
    try {
      await actOn(notices);
    } catch (error) {
      const accountId = notices[0]?.accountId;
      log.warn({ err: error, accountId }, 'could not report the ends of executions of a formula; trying again later');
      for (const notice of notices) await store.postpone(notice, new Date(clock.now() + FIRST_RETRY_MS));
    }
  }

  async function actOn(notices: readonly Notice[]): Promise<void> {
    const [first] = notices;
    if (first === undefined) return;
    if (first.kind === 'email') return send(first);
    const { accountId, formulaInstanceId } = first;
    const instance = await store.findInstance(accountId, formulaInstanceId);
    if (instance === undefined) {
      await store.take(
        knex,
        accountId,
        notices.map(({ id }) => id),
      );
      return;
    }
    await actOnEnds(instance, notices, { accountId, formulaInstanceId });
  }

  /** Counts the ends of one formula instance, and reports those that failed. */
  async function actOnEnds(
    instance: NotifiedInstance,
    notices: readonly Notice[],
    { accountId, formulaInstanceId }: { readonly accountId: number; readonly formulaInstanceId: number },
  ): Promise<void> {
    const publish = await prepareNotice(accountId);
    const publishers = await Promise.all(
      receiversOf(instance, WEBHOOK_URL).map((url) => prepareEvent(accountId, asUrl(url))),
    );
    const failures = await describe(accountId, formulaInstanceId, instance, notices);
    const addresses = receiversOf(instance, EMAIL).join(', ');
    await knex.transaction(async (via) => {
      const taken = await store.take(
        via,
        accountId,
        notices.map(({ id }) => id),
      );
      const ours = notices.filter(({ id }) => taken.has(id));
      await count(via, publish, ours, { accountId, formulaInstanceId, instance });
      const mails: NewMail[] = [];
      for (const { id } of ours) {
        const failure = failures.get(id);
        if (failure === undefined) continue;
        for (const report of publishers) await report(via, 'formula.execution.failed', failure);
        const due = new Date(clock.now());
        if (addresses !== '') mails.push({ accountId, formulaInstanceId, data: toMail(addresses, failure), due });
      }
      await store.addMail(via, mails);
    });
    if (addresses !== '') looks.look();
  }

  async function count(
    via: Knex,
    publish: Publisher,
    notices: readonly Notice[],
    { accountId, formulaInstanceId, instance }: Counted,
  ): Promise<void> {
    const ends = notices.flatMap(({ kind }) => (kind === 'email' ? [] : [kind]));
    if (ends.length === 0) return;
    const locked = await store.lockFailures(via, accountId, formulaInstanceId);
    if (locked === undefined) return;
    const { failures, isWarned, isDeactivated } = countFailures(locked.failures, ends);
    if (failures !== locked.failures) await store.setFailures(via, accountId, formulaInstanceId, failures);
    const { formulaId, formulaName, name } = instance;
    const data = { formulaId, formulaName, formulaInstanceId, formulaInstanceName: name };
    if (isWarned) await publish(via, 'formula.instance.failing', { ...data, failures: WARNED_AT });
    if (!isDeactivated || !locked.active) return;
    await store.deactivate(via, accountId, formulaInstanceId, DEACTIVATED);
    await publish(via, 'formula.instance.deactivated', { ...data, failures, reason: DEACTIVATED });
    await announceChange(notifier, via, [accountId]);
  }

  /** Returns the data of the event of each failed execution, by the id of its notice. */
  async function describe(
    accountId: number,
    formulaInstanceId: number,
    { formulaId, formulaName, name }: NotifiedInstance,
    notices: readonly Notice[],
  ): Promise<ReadonlyMap<number, Failure>> {
    const failed = notices.filter(({ kind }) => kind === 'failed');
    // An execution that went on in another process does not know any more which of its steps failed first.
    const unknown = failed
      .filter(({ data }) => typeof data.message !== 'string')
      .map(({ data }) => Number(data.executionId));
    const faults = await store.findFaults(accountId, unknown);
    return new Map(
      failed.map(({ id, data }) => {
        const executionId = Number(data.executionId);
        const fault = faults.get(executionId);
        const stepName = textOf(data.stepName) ?? fault?.stepName;
        const message = textOf(data.message) ?? messageOf(fault?.content) ?? 'The execution failed.';
        return [
          id,
          {
            formulaId,
            formulaName,
            formulaInstanceId,
            formulaInstanceName: name,
            executionId,
            status: 'failed',
            createdDate: new Date(String(data.createdAt)).toISOString(),
            error: { ...(stepName !== undefined && { stepName }), message: message.slice(0, LONGEST_MESSAGE) },
          },
        ];
      }),
    );
  }

  async function send(notice: Notice): Promise<void> {
    // Only scripts and this module store them.
    const mail = notice.data as unknown as Mail;
    if (sendMail === undefined) return list(notice, mail, undefined);
    const nowMs = clock.now();
    if (!(await store.reserve(notice, new Date(nowMs), new Date(nowMs + RESERVED_MS)))) return;
    try {
      await sendMail(mail);
      await store.remove(notice);
    } catch (error) {
      const tries = notice.attempts + 1;
      log.warn({ err: error, accountId: notice.accountId, tries }, 'could not send a mail of a formula');
      if (tries >= MOST_TRIES) return list(notice, mail, reasonOf(error));
      const waitMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (tries - 1));
      await store.postpone(notice, new Date(clock.now() + waitMs));
    }
  }

  /** Turns a mail that is not sent into a notification. */
  async function list(notice: Notice, { to, subject, body }: Mail, reason: string | undefined): Promise<void> {
    const { accountId, id, formulaInstanceId } = notice;
    const publish = await prepareNotice(accountId);
    await knex.transaction(async (via) => {
      const taken = await store.take(via, accountId, [id]);
      if (!taken.has(id)) return;
      await publish(via, 'email.pending', {
        formulaInstanceId,
        to,
        subject,
        body,
        reason: reason ?? 'The service has no server for outgoing mail (SMTP_URL).',
      });
    });
  }

  return {
    start: looks.start,
    /** Notices may have been stored. */
    wake: looks.look,
    stop: async () => {
      stopping.abort(new Error('The service is stopping.'));
      await looks.end();
    },
  };
}

interface Counted {
  readonly accountId: number;
  readonly formulaInstanceId: number;
  readonly instance: NotifiedInstance;
}

interface Failure {
  readonly formulaId: number;
  readonly formulaName: string;
  readonly formulaInstanceId: number;
  readonly formulaInstanceName: string;
  readonly executionId: number;
  readonly status: 'failed';
  readonly createdDate: string;
  readonly error: { readonly stepName?: string; readonly message: string };
}

/** The ends of each formula instance together, and each mail. */
function groupsOf(notices: readonly Notice[]): readonly (readonly Notice[])[] {
  const keyOf = ({ kind, id, accountId, formulaInstanceId }: Notice) =>
    kind === 'email' ? `email ${id}` : `${accountId} ${formulaInstanceId}`;
  return [...Map.groupBy(notices, keyOf).values()];
}

function receiversOf({ settings }: NotifiedInstance, name: string): readonly string[] {
  const value = settings[name];
  const texts = typeof value === 'string' ? value.split(',').map((one) => one.trim()) : [];
  return [...new Set(texts.filter((one) => one !== ''))];
}

function toMail(to: string, { formulaName, formulaInstanceName, executionId, createdDate, error }: Failure): Mail {
  const step = error.stepName === undefined ? '' : `Step: ${error.stepName}\n`;
  return {
    to,
    subject: `Execution ${executionId} of formula ${formulaName} failed`.replace(/\s+/g, ' '),
    body: `Formula: ${formulaName}\nFormula instance: ${formulaInstanceName}\nExecution: ${executionId}, of ${createdDate}\n${step}Error: ${error.message}\n`,
  };
}

/** Tells an account what the mail server said about its mail, and nothing about the network of the service. */
function reasonOf(error: unknown): string {
  const { response } = Object(error);
  return typeof response === 'string'
    ? `The mail server refused it: ${response}`
    : 'The service could not reach its mail server.';
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function messageOf(content: readonly StepValue[] | null | undefined): string | undefined {
  const value = content?.find(([path]) => path.join('.') === 'error')?.[1];
  if (value !== undefined) return String(value);
  const code = content?.find(([path]) => path.join('.') === 'response.code')?.[1];
  return code === undefined ? undefined : `The response has the status ${String(code)}.`;
}
