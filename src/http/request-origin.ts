import { type Origin, type OriginName, remoteAddress } from '../domain/origin.ts'
import type { Connection } from './connection.ts'
import type { Caller } from './credentials.ts'

/** Who sent a request, as decisions record it. Nothing that the client sends counts, but for its name as its own claim. */
export function requestOrigin(
  { role, name, token }: Caller,
  { headers }: Request,
  connection: Connection,
  nameOf: OriginName,
): Origin {
  const credential = token ?? nameOf(name)
  const address = remoteAddress(connection.remoteAddress)
  const client = nameOf(headers.get('user-agent'))
  return {
    actor: role,
    edge: token === 'page' ? 'page' : 'http',
    ...(credential === undefined ? {} : { credential }),
    ...(address === undefined ? {} : { address }),
    ...(client === undefined ? {} : { claimed: { client } }),
  }
}
