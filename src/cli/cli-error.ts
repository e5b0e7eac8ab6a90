/** An error that the user can fix: printed as one line, without a stack. */
export class CliError extends Error {
  override readonly name = 'CliError'
}
