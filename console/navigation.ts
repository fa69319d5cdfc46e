/** The pages of the console, as its navigation and its keyboard know them. */
export interface ConsolePage {
  readonly path: string;
  readonly title: string;
  /** Pressed after `g`. */
  readonly key: string;
}

/** The part of the address that a page receives. */
export interface PageProps {
  /** The rest of the path behind that of the page, without a slash at the beginning: `5/events`. */
  readonly below?: string | undefined;
}

export const CONSOLE_PAGES = [
  { path: '/console/instances', title: 'Instances', key: 'i' },
  { path: '/console/explore', title: 'Explore', key: 'x' },
  { path: '/console/mappings', title: 'Mappings', key: 't' },
  { path: '/console/formulas', title: 'Formulas', key: 'f' },
  { path: '/console/events', title: 'Events', key: 'e' },
  { path: '/console/activity', title: 'Activity', key: 'a' },
  { path: '/console/usage', title: 'Usage', key: 'u' },
  { path: '/console/bulk', title: 'Bulk', key: 'b' },
  { path: '/console/proxies', title: 'Proxies', key: 'p' },
  { path: '/console/connect', title: 'Connect sessions', key: 'c' },
  { path: '/console/keys', title: 'Access keys', key: 'k' },
  { path: '/console/organization', title: 'Organization', key: 'o' },
  { path: '/console/profile', title: 'Profile', key: 'm' },
] as const satisfies readonly ConsolePage[];
