import { Fault } from '#connector/simulator';

export function invalid(message: string, param?: string): Fault {
  return new Fault(400, 'parameter_invalid', message, param === undefined ? {} : { fields: [param] });
}

/** Returns the error for a record that does not exist: 404 where the path names it, otherwise 400. */
export function missing(noun: string, id: string, param: string): Fault {
  return new Fault(param === 'id' ? 404 : 400, 'resource_missing', `No such ${noun}: '${id}'`, { fields: [param] });
}
