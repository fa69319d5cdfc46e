export function Usage() {
  return <h1>Usage</h1>;
}
