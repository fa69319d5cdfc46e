export function ConnectSessions() {
  return <h1>Connect sessions</h1>;
}
