export type WebhookFailureCode = 'private_address' | 'unreachable' | 'timeout' | 'redirect' | 'status'

/** The message names the host, never the path or the response body: both may hold secrets. */
export class WebhookFailure extends Error {
  override readonly name = 'WebhookFailure'
  readonly code: WebhookFailureCode
  readonly status: number | undefined

  constructor(code: WebhookFailureCode, message: string, status?: number) {
    super(message)
    this.code = code
    this.status = status
  }
}
