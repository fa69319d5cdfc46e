export function Organization() {
  return <h1>Organization</h1>;
}
