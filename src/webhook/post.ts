import type { lookup } from 'node:dns'
import { type IncomingMessage, request as plainRequest, type RequestOptions } from 'node:http'
import { request as secureRequest } from 'node:https'
import { checkHost, guardedLookup } from './addresses.ts'
import { WebhookFailure } from './failure.ts'
import { hostOf, type WebhookSettings } from './settings.ts'

export interface PostOptions {
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly lookup?: typeof lookup
}

/** Sends a body; resolves on a 2xx status. Ignores the response body and never follows redirects. */
export async function post(
  { url, hosts }: Pick<WebhookSettings, 'url' | 'hosts'>,
  body: string,
  headers: Readonly<Record<string, string>>,
  { timeoutMs, signal, lookup }: PostOptions,
): Promise<void> {
  const host = hostOf(url)
  checkHost(host, hosts)
  const late = AbortSignal.timeout(timeoutMs)
  const options: RequestOptions = {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    lookup: guardedLookup(hosts, lookup),
    // No keep-alive: a pooled connection could go to an address that the name no longer resolves to.
    agent: false,
    signal: AbortSignal.any([signal, late]),
  }
  try {
    const status = await answered(url, options, body)
    if (status >= 200 && status < 300) return
    throw status >= 300 && status < 400
      ? new WebhookFailure('redirect', `${host} redirects (${status}), which is not followed`, status)
      : new WebhookFailure('status', `${host} answered ${status}`, status)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (late.aborted) throw new WebhookFailure('timeout', `${host} did not answer within ${timeoutMs / 1_000} s`)
    throw failureOf(error, host)
  }
}

function answered(url: URL, options: RequestOptions, body: string): Promise<number> {
  const request = url.protocol === 'https:' ? secureRequest : plainRequest
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (response: IncomingMessage) => {
      resolve(response.statusCode ?? 0)
      response.on('error', () => {})
      response.destroy()
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

function failureOf(error: unknown, host: string): WebhookFailure {
  if (error instanceof WebhookFailure) return error
  const { code } = error as NodeJS.ErrnoException
  return new WebhookFailure('unreachable', `${host} cannot be reached${code === undefined ? '' : ` (${code})`}`)
}
