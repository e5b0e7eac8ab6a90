import type { Caller, Credentials } from './credentials.ts'
import { HttpError } from './http-error.ts'
import type { Origins } from './origins.ts'

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
