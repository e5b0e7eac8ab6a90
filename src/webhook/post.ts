import { lookup as resolve, type lookup } from 'node:dns'
import { request as plainRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as secureRequest } from 'node:https'
import { BlockList, isIP, isIPv4, type LookupFunction } from 'node:net'
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

/** Ranges outside the public internet (IANA's special-purpose registries). */
const NOT_PUBLIC = new BlockList()
for (const [net, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  NOT_PUBLIC.addSubnet(net, prefix, 'ipv4')
}
/**
 * Within 2000::/3, which holds all public addresses: transition mechanisms that lead to IPv4, and documentation ranges.
 */
for (const [net, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  NOT_PUBLIC.addSubnet(net, prefix, 'ipv6')
}
const GLOBAL_UNICAST = new BlockList()
GLOBAL_UNICAST.addSubnet('2000::', 3, 'ipv6')

/** Rejects IPv4-mapped IPv6 too: no legitimate webhook needs it. */
export function isPublic(address: string): boolean {
  if (isIPv4(address)) return !NOT_PUBLIC.check(address, 'ipv4')
  if (isIP(address) === 0) return false
  return GLOBAL_UNICAST.check(address, 'ipv6') && !NOT_PUBLIC.check(address, 'ipv6')
}

/** Refuses a private IP address unless it is allowlisted. `guardedLookup` checks names. */
export function checkHost(host: string, named: ReadonlySet<string>): void {
  if (isIP(host) !== 0 && !named.has(host) && !isPublic(host)) throw privateAddress(host)
}

/**
 * Resolves a host once and connects to exactly that address, which defeats DNS rebinding. A single private address
 * among the results is enough to refuse.
 */
export const guardedLookup =
  (named: ReadonlySet<string>, lookup: typeof resolve = resolve): LookupFunction =>
  (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '')
      const [first] = addresses
      if (!first) return callback(new WebhookFailure('unreachable', `${host} has no address`), '')
      const isNamed = named.has(host.toLowerCase())
      if (!isNamed && addresses.some(({ address }) => !isPublic(address))) return callback(privateAddress(host), '')
      if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }

const privateAddress = (host: string): WebhookFailure =>
  new WebhookFailure(
    'private_address',
    `${host} is a private address. If that is meant, name the host: --webhook-hosts ${host}`,
  )
