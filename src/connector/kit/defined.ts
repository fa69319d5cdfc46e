/** The same without the members that are undefined: `{ ...defined({ label, type }) }` has a label only where there is one. */
export function defined<Members extends object>(members: Members): Members {
  // What is left out is optional or undefined under the type already.
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Members;
}
