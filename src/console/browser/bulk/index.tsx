export function Bulk() {
  return <h1>Bulk</h1>;
}
