/** A failure of a command that the service has not refused. Its message is for the person at the terminal. */
export class Failure extends Error {
  override readonly name: string = "Failure";
}
