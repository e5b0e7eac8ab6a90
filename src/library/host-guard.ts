import { foreignOrigin, type Guard } from '../server/http/access.ts'
import { HttpError } from '../server/http/replies.ts'

/** The sender of a request. */
export interface Identity {
  /** A person may do everything; an agent may read, call tools and follow events. */
  readonly role: 'person' | 'agent'
  /** The tenant whose conversations the sender sees. Default: the runsheet's tenant. */
  readonly tenant?: string | undefined
  /**
   * Identifies the sender, such as a user or an API key. Limits are per name: one named sender gets at most half of
   * each. Without a name, all senders of the same role and tenant share one limit. The log records the name with each
   * decision, so never return a secret, such as the key itself.
   */
  readonly name?: string | undefined
}

/** Identifies the sender of a request; returns undefined if authentication fails. */
export type Authenticate = (request: Request) => Identity | undefined | Promise<Identity | undefined>

/** The guard of a handler in the program's own server, with its authentication and allowed origins. */
export function hostGuard(authenticate: Authenticate, origins: readonly string[], tenant: string): Guard {
  return {
    check: ({ headers, url }) => {
      const origin = headers.get('origin')
      if (origin !== null && origin !== new URL(url).origin && !origins.includes(origin)) throw foreignOrigin(HINT)
    },
    authenticate: async request => {
      const identity = await authenticate(request)
      if (!identity) throw new HttpError(401, 'unauthorized', 'Authentication required')
      const { role, name } = identity
      return { role, tenant: identity.tenant ?? tenant, ...(name === undefined ? {} : { name }) }
    },
  }
}

const HINT = ' To allow them, list the origin in `origins`.'

/** An origin with a path or a trailing slash would never match. */
export function checkOrigins(origins: readonly string[]): void {
  const wrong = origins.find(origin => URL.parse(origin)?.origin !== origin)
  if (wrong === undefined) return
  throw new TypeError(`origins must be like https://app.example.com, without a path; got ${wrong}`)
}
