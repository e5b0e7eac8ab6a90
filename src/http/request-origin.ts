import { type Origin, originName, remoteAddress } from '../domain/origin.ts'
import type { Redactor } from '../domain/redact.ts'
import type { Connection } from './connection.ts'
import type { Caller } from './credentials.ts'

/** Who sent a request, as decisions record it. Nothing that the client sends counts, but for its name as its own claim. */
export function requestOrigin(
  { role, name, token }: Caller,
  { headers }: Request,
  connection: Connection,
  redact: Redactor,
): Origin {
  const credential = token ?? originName(name, redact)
  const address = remoteAddress(connection.remoteAddress)
  const client = originName(headers.get('user-agent'), redact)
  return {
    actor: role,
    edge: token === 'page' ? 'page' : 'http',
    ...(credential === undefined ? {} : { credential }),
    ...(address === undefined ? {} : { address }),
    ...(client === undefined ? {} : { claimed: { client } }),
  }
}
