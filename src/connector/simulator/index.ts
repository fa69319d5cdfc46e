/** Everything that a connector's simulator may import, as `#connector/simulator`. */

export { type Clock, SYSTEM_CLOCK } from '../../clock.ts';
export type { Simulator, SimulatorMemory, SimulatorOptions } from '../contract.ts';
export { basic, bearer, type Credentials, type Guard, keyHeader, readBasic, readBearer } from './authenticate.ts';
export { type Body, createBody, type RequestLimits } from './body.ts';
export { type BudgetOptions, type BudgetState, createBudget, type RequestBudget } from './budget.ts';
export { type ChangeLog, createChangeLog, type LoggedChange } from './change-log.ts';
export { type Changeable, changesOf } from './changes.ts';
export { createMovableClock, createTimeZone, type MovableClock } from './clock.ts';
export {
  type Collection,
  type CollectionSpec,
  type CollectionsOptions,
  createCollections,
  type RecordRoutesOptions,
  recordRoutes,
} from './collection.ts';
export { BAD_BODY, Fault, fault } from './fault.ts';
export {
  compileFilter,
  escapePattern,
  type FilterField,
  type FilterLiteral,
  type FilterRules,
  type FilterTest,
  type FilterTree,
} from './filter.ts';
export type { Complaint, InputForm } from './input.ts';
export {
  describedMembers,
  FOLDS,
  filterFieldOf,
  foldCases,
  type Member,
  type Members,
  membersOf,
  type RecordDescription,
  type TextRule,
  valueAt,
} from './members.ts';
export { shareMemory } from './memory.ts';
export { nestedValues } from './nested.ts';
export {
  createOAuthServer,
  type OAuthOptions,
  type OAuthServer,
  type RegisteredClient,
  type TokenRotation,
} from './oauth.ts';
export { type ODataExpression, parseODataFilter } from './odata-filter.ts';
export { type ConformOptions, createConform } from './official/conform.ts';
export {
  type JsonSchema,
  type OfficialDescription,
  type OfficialOperation,
  schemaMembers,
  withNullMembers,
} from './official/description.ts';
export {
  CONTRADICTS_DESCRIPTION,
  createOfficialJudges,
  type Deviation,
  type JudgedPart,
  type OfficialJudge,
  undescribed,
} from './official/judge.ts';
export { type RowOrder, sortRows } from './order.ts';
export { createResults, type Page, type PagedCall, type PageStyle, type Results, takePage } from './paging.ts';
export { createRepeater, type RepeaterOptions } from './repeat.ts';
export { empty, escapeMarkup, html, json, redirect, type SimulatedResponse, typed, xml } from './response.ts';
export { atHosts, type Call, createRouter, decode, type RouteHandler, type Router, type Routes } from './route.ts';
export {
  type Column,
  columnsFor,
  cycle,
  DAY_MS,
  dayAfter,
  HOSTILE_TEXTS,
  makeRows,
  pick,
  sparse,
  times,
  writeSeconds,
} from './rows.ts';
export { createSearchIndex, type SearchIndex } from './search-index.ts';
export { type SimulatedProvider, simulate } from './simulate.ts';
export {
  createKeptTable,
  createTable,
  type KeptTableOptions,
  type Table,
  type TableChange,
  type TableOptions,
  type TableRow,
} from './table.ts';
export { groupOf, readSeparated, readTokens, type TextToken, type TokenReader } from './tokens.ts';
export {
  createEnteredWebhooks,
  type EnteredWebhook,
  signWebhook,
  type WebhookDelivery,
  type WebhookSignature,
} from './webhook.ts';
