/** A response whose body is made while it is sent. */
import { concatenate } from "../runtime/concatenate.ts";

/**
 * Sends the pieces as one body. The first `piecesBeforeHeaders` are made first, so that a failure in them is thrown
 * and still told; a later one aborts the connection, so that nobody takes half a body for a whole one. Where there are
 * no more than those, they go out in one piece with their Content-Length.
 */
export async function streamed(
  pieces: AsyncGenerator<Uint8Array, void, void>,
  piecesBeforeHeaders: number,
  init: ResponseInit,
): Promise<Response> {
  const first: Uint8Array[] = [];
  while (first.length < piecesBeforeHeaders) {
    const { value, done } = await pieces.next();
    if (done) return new Response(concatenate(first), init);
    first.push(value);
  }
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const head = first.shift();
      if (head) return controller.enqueue(head);
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
