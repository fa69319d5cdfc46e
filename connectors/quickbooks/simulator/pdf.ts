/** Creates a PDF with one page and one line, by the rules of ISO 32000-1. Its table has the offsets of its objects. */
export function makePdf(line: string): Buffer {
  const shown = line.replace(/[^ -~]/g, '?').replace(/[\\()]/g, '\\$&');
  const content = `BT /F1 18 Tf 72 720 Td (${shown}) Tj ET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  // The second line shows programs that transfer the file that it contains bytes above 127.
  const parts = ['%PDF-1.4\n%âãÏÓ\n'];
  const offsets: number[] = [];
  for (const [index, object] of objects.entries()) {
    offsets.push(parts.join('').length);
    parts.push(`${index + 1} 0 obj\n${object}\nendobj\n`);
  }
  const table = parts.join('').length;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  parts.push(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`);
  parts.push(`trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`);
  return Buffer.from(parts.join(''), 'latin1');
}
