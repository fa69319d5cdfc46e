export function Activity() {
  return <h1>Activity</h1>;
}
