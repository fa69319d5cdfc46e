/** Formula instances name element instances by their ids alone, and may name those of other accounts of the organization. */
export const STATEMENTS: readonly string[] = ['create index instance_by_id on instance (id)'];
