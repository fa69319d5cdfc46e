/** Shows the picture of an element, beside its name. */
export function Mark({ image }: { readonly image: string }) {
  if (!image.startsWith('data:image/')) return null;
  return <img class="mark" src={image} alt="" width={32} height={32} />;
}
