import { lookup as resolve } from 'node:dns'
import { BlockList, isIP, isIPv4, type LookupFunction } from 'node:net'
import { WebhookFailure } from './failure.ts'

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
