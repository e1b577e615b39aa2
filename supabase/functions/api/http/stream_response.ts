/** A response whose body is produced while it is sent. */
import { concatenate } from "../runtime/bytes.ts";

/**
 * Sends the pieces as one body. The headers wait for the first piece, so a failure while it is produced still becomes
 * an error response. A later failure aborts the connection, so that no client mistakes half a body for the whole. If
 * `isShort`, the headers wait for every piece, and the body is sent at once, with its length.
 */
export async function streamResponse(
  pieces: AsyncGenerator<Uint8Array, void, void>,
  isShort: boolean,
  init: ResponseInit,
): Promise<Response> {
  if (isShort) {
    const all: Uint8Array[] = [];
    for await (const piece of pieces) all.push(piece);
    return new Response(concatenate(all), init);
  }
  const first = await pieces.next();
  if (first.done) return new Response(new Uint8Array(0), init);
  let head: Uint8Array | null = first.value;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (head) {
        controller.enqueue(head);
        head = null;
        return;
      }
      const { value, done } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await pieces.return();
    },
  }, { highWaterMark: 0 });
  return new Response(body, init);
}
