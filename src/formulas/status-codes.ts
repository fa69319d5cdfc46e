/** Placeholder until the branch of templates is merged. */
export function matchesCodes(codes: string, code: number): boolean {
  return codes.split(',').some((part) => {
    const [from = '', to = from] = part.trim().split('-');
    return Number(from) <= code && code <= Number(to);
  });
}
