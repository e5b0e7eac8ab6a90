import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { originOf, remoteAddress, type Origin, type OriginName } from '../../core/model/origin.ts'
import { HttpError } from './replies.ts'

/** A person may do everything; an agent reads, calls tools and follows events. */
export type Role = 'person' | 'agent'

export interface Caller {
  readonly role: Role
  readonly tenant: string
  /** Distinguishes callers of the same role and tenant; set by the host application. */
  readonly name?: string
  /** Which of our own tokens was sent; absent if the host application authenticates. */
  readonly token?: Role | 'page'
}

const CODE_LIFETIME_MS = 3_600_000
const MAX_CODES = 100

/** Compares tokens by hash and in constant time. */
export class Credentials {
  readonly #known: readonly { readonly hash: Buffer; readonly caller: Caller }[]

  constructor(tokens: Readonly<Record<Role, string>>, tenant: string) {
    this.#known = [
      { hash: hashOf(tokens.person), caller: { role: 'person', tenant, token: 'person' } },
      { hash: hashOf(tokens.agent), caller: { role: 'agent', tenant, token: 'agent' } },
      { hash: hashOf(pageToken(tokens.person)), caller: { role: 'person', tenant, token: 'page' } },
    ]
  }

  callerOf(token: string): Caller | undefined {
    const hash = hashOf(token)
    return this.#known.find(known => timingSafeEqual(known.hash, hash))?.caller
  }
}

/** Issues single-use codes that the page trades for its token within an hour. Codes do not survive a restart. */
export class Login {
  readonly #token: string
  readonly #codes = new Map<string, number>()

  constructor(token: string) {
    this.#token = token
  }

  issue(): string {
    const code = randomBytes(24).toString('base64url')
    const [oldest] = this.#codes.keys()
    if (oldest !== undefined && this.#codes.size >= MAX_CODES) this.#codes.delete(oldest)
    this.#codes.set(keyOf(code), performance.now() + CODE_LIFETIME_MS)
    return code
  }

  /** Spends the code even if it has expired. */
  redeem(code: string): string | undefined {
    const key = keyOf(code)
    const until = this.#codes.get(key)
    this.#codes.delete(key)
    return until !== undefined && performance.now() < until ? this.#token : undefined
  }
}

/**
 * Grants the same rights as the person's token, but lets the log distinguish the page from other clients. Derived, so
 * that it is the same after a restart and on every node.
 */
export const pageToken = (personToken: string): string =>
  createHmac('sha256', personToken).update('runsheet page').digest('base64url')

export const newToken = (): string => randomBytes(32).toString('base64url')

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()

const keyOf = (code: string): string => hashOf(code).toString('base64url')

export interface Guard {
  /** Throws 403 if the Host or Origin is not allowed. */
  check(request: Request): void
  /** Throws 401 if the caller cannot be identified. */
  authenticate(request: Request): Caller | Promise<Caller>
}

export function tokenGuard(credentials: Credentials, origins: Origins): Guard {
  return {
    check: ({ headers }) => origins.check(headers.get('host'), headers.get('origin')),
    authenticate: ({ headers }) => {
      const [, token] = /^Bearer +([\x21-\x7e]{1,500})$/i.exec(headers.get('authorization') ?? '') ?? []
      const caller = token === undefined ? undefined : credentials.callerOf(token)
      if (caller) return caller
      throw new HttpError(401, 'unauthorized', 'Authentication required. Expected Authorization: Bearer <token>', {
        headers: { 'www-authenticate': 'Bearer' },
      })
    },
  }
}

/** Refuses pages of other sites and of other ports. */
export class Origins {
  #hosts: ReadonlySet<string> = new Set()
  #origins: ReadonlySet<string> = new Set()

  /** Called once the port is known. */
  listenOn(host: string, port: number, publicUrl?: URL): void {
    const ours = ['127.0.0.1', 'localhost', '[::1]', ...(isAnyAddress(host) ? [] : [hostOf(host)])]
    const hosts = ours.flatMap(name => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`]))
    const origins = ours.map(name => `http://${name}${port === 80 ? '' : `:${port}`}`)
    this.#hosts = new Set([...hosts, ...(publicUrl ? [publicUrl.host] : [])])
    this.#origins = new Set([...origins, ...(publicUrl ? [publicUrl.origin] : [])])
  }

  check(host: string | null, origin: string | null): void {
    if (host === null || !this.#hosts.has(host.toLowerCase())) {
      throw new HttpError(403, 'foreign_host', 'Unexpected Host header')
    }
    if (origin !== null && !this.#origins.has(origin.toLowerCase())) throw foreignOrigin()
  }
}

export const foreignOrigin = (hint = ''): HttpError =>
  new HttpError(403, 'foreign_origin', `Requests from pages of this origin are not allowed.${hint}`)

const isAnyAddress = (host: string): boolean => host === '0.0.0.0' || host === '::' || host === ''

/** Puts IPv6 addresses in brackets, as URLs require. */
export const hostOf = (address: string): string =>
  address.includes(':') && !address.startsWith('[') ? `[${address}]` : address.toLowerCase()

/** The origin recorded with decisions. The client supplies only its name, which is unverified. */
export function requestOrigin(
  { role, name, token }: Caller,
  { headers }: Request,
  address: string | undefined,
  nameOf: OriginName,
): Origin {
  return originOf(role, token === 'page' ? 'page' : 'http', {
    credential: token ?? nameOf(name),
    address: remoteAddress(address),
    client: nameOf(headers.get('user-agent')),
  })
}
