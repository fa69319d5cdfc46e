import { Fault } from '#connector/simulator';

/** An error of the service; its code is its status. */
export const problem = (status: number, message: string) => new Fault(status, String(status), message);
