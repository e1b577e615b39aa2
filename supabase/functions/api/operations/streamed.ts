/** A response whose body is made while it is sent. */
import { successStream } from "../respond.ts";

/** Pieces made before the headers are sent: the opening and the first segment, so that its faults are still told. */
const PIECES_BEFORE_HEADERS = 2;

/**
 * Sends the pieces as one JSON body. A failure in the first ones is thrown; a later one aborts the connection, so
 * that nobody takes half a body for a whole one.
 */
export async function streamed(pieces: AsyncGenerator<Uint8Array, void, void>): Promise<Response> {
  const first: Uint8Array[] = [];
  while (first.length < PIECES_BEFORE_HEADERS) {
    const { value, done } = await pieces.next();
    if (done) break;
    first.push(value);
  }
  return successStream(
    new ReadableStream<Uint8Array>({
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
    }, { highWaterMark: 0 }),
  );
}
