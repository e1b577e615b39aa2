/** @jsxImportSource preact */
/** A description of the document: paragraphs, with code between backticks. */
export function Prose({ text }: { readonly text: string }) {
  return (
    <p class="prose">
      {text.split("`").map((part, index) => index % 2 === 0 ? part : <code key={index}>{part}</code>)}
    </p>
  );
}
