/** A page of the console with its title in the navigation and its shortcut. */
export interface ConsolePage {
  readonly path: string;
  readonly title: string;
  /** Key of the shortcut, which is pressed after `g`. */
  readonly key: string;
}

/** The properties of the component of a page. */
export interface PageProps {
  /** The part of the path behind that of the page, without a slash at the beginning: `5/events`. */
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
