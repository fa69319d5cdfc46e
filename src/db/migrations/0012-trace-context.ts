/** The trace that an event was accepted in, so that its deliveries continue it in any process. */
export const STATEMENTS: readonly string[] = [
  'alter table event add column traceparent text',
  `comment on column event.traceparent is
    'W3C Trace Context of its acceptance; null where that was not recorded'`,
];
