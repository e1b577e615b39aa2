/** The one error of the client. */

/** What a failure is about, in the answer's own words. */
export type Details = Readonly<Record<string, unknown>>;

/**
 * A refusal of the service, or a request without an answer. `code` is one of the service's codes, such as
 * FILE_NOT_FOUND, or:
 *
 * - NETWORK_ERROR (status 0): no answer arrived, in several tries;
 * - ABORTED (status 0): the signal ended the request;
 * - UNKNOWN_ANSWER: something answered that is not this service.
 *
 * Arguments that cannot be sent have the service's codes INVALID_PATH and VALIDATION_ERROR, with status 0.
 */
export class FilestoreError extends Error {
  override readonly name: string = "FilestoreError";
  constructor(
    readonly code: string,
    message: string,
    /** The status of the answer; 0 if there was none. */
    readonly status = 0,
    readonly details: Details = {},
    /** `X-Request-Id` of the answer, by which the service's log names the request. */
    readonly requestId: string | undefined = undefined,
  ) {
    super(message);
  }
}

/** Returns the message of a thrown value, and those of its causes. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const messages = error instanceof AggregateError ? error.errors.map(messageOf) : [];
  if (error.message !== "") messages.unshift(error.message);
  if (error.cause !== undefined) messages.push(messageOf(error.cause));
  return messages.join(": ").split("\n").join(" ");
}
