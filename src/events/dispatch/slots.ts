import { createPool, createRotation } from '../fairness.ts';
import { type DeliveryLease, isRetry } from '../lease.ts';
import type { Lane } from './lane.ts';

interface SlotLimits {
  /** Maximum number of concurrent pushes. */
  readonly concurrency: number;
  /** Number of slots that each lane may use, however slow its receiver is. */
  readonly laneConcurrency: number;
}

/**
 * Creates the slots for pushes. Retries use at most half of them. Lanes use at most a quarter beyond their own share. So receivers that
 * were fast and suddenly hang, however many, leave the last quarter to first attempts of others. An account gets only a share of all slots
 * and of each of these parts.
 */
export function createSlots(limits: SlotLimits) {
  const slots = createPool(limits.concurrency);
  const retries = createPool(Math.max(1, Math.floor(limits.concurrency / 2)));
  const extras = createPool(Math.floor(limits.concurrency / 4));
  const leases = new Set<DeliveryLease>();
  /** Lanes with a retry to push that must wait because too many retries run. */
  const blockedByRetries = createRotation<Lane>();

  function mayPush(lane: Lane): boolean {
    if (lane.inFlight < limits.laneConcurrency) return true;
    return lane.inFlight < lane.concurrency.limit() && extras.room(lane.accountId) > 0;
  }

  return {
    isFree: () => leases.size < limits.concurrency,
    /** Whether the account may start another push. If not, it comes back when one of its pushes ends. */
    hasRoom: (accountId: number) => slots.room(accountId) > 0,
    /** Whether the lane may start another push. If not, it comes back when one of its pushes ends. */
    mayPush,

    /** Takes a retry of the lane. Undefined when there is none, or when the account has no room; then `unblock` brings the lane back. */
    takeRetry: (lane: Lane) => {
      if (lane.retries.size === 0) return undefined;
      if (retries.room(lane.accountId) > 0) return lane.retries.shift();
      if (!lane.retriesBlocked) blockedByRetries.push(lane.accountId, lane);
      lane.retriesBlocked = true;
      return undefined;
    },

    enter: (lane: Lane, lease: DeliveryLease) => {
      leases.add(lease);
      slots.take(lane.accountId);
      lane.inFlight++;
      if (lane.inFlight > limits.laneConcurrency) extras.take(lane.accountId);
      if (isRetry(lease)) retries.take(lane.accountId);
      else {
        lane.firstsInFlight++;
        lane.host.firstsInFlight++;
      }
    },

    /** Releases the place of a push. Returns false when it was released before. */
    leave: (lane: Lane, lease: DeliveryLease) => {
      if (!leases.delete(lease)) return false;
      slots.give(lane.accountId);
      if (lane.inFlight > limits.laneConcurrency) extras.give(lane.accountId);
      lane.inFlight--;
      if (isRetry(lease)) retries.give(lane.accountId);
      else {
        lane.firstsInFlight--;
        lane.host.firstsInFlight--;
      }
      return true;
    },

    /**
     * After a retry of the account has ended, returns a lane that can use its place. Other lanes come back when their own pushes end, other
     * accounts when their own retries end.
     */
    unblock: (accountId: number) => {
      blockedByRetries.resume(accountId);
      for (let id = blockedByRetries.turn(); id !== undefined; id = blockedByRetries.turn()) {
        if (retries.room(id) === 0) {
          blockedByRetries.pause(id);
          continue;
        }
        const lane = blockedByRetries.shift();
        if (lane === undefined) return undefined;
        lane.retriesBlocked = false;
        if (lane.retries.size > 0 && mayPush(lane)) return lane;
      }
      return undefined;
    },

    inFlight: () => leases.size,
    /** Releases all slots and returns their leases. */
    clear: () => {
      const left = [...leases];
      leases.clear();
      return left;
    },
  };
}
