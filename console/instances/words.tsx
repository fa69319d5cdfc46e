/** Shows a text of the API. Text between backticks is code. */
export function Words({ text }: { readonly text: string }) {
  return <>{text.split('`').map((part, index) => (index % 2 === 0 ? part : <code key={index}>{part}</code>))}</>;
}
