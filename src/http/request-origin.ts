import { type Origin, type OriginName, originOf, remoteAddress } from '../domain/origin.ts'
import type { Connection } from './connection.ts'
import type { Caller } from './credentials.ts'

/** Who sent a request, as decisions record it. Nothing that the client sends counts, but for its name as its own claim. */
export function requestOrigin(
  { role, name, token }: Caller,
  { headers }: Request,
  connection: Connection,
  nameOf: OriginName,
): Origin {
  return originOf(role, token === 'page' ? 'page' : 'http', {
    credential: token ?? nameOf(name),
    address: remoteAddress(connection.remoteAddress),
    client: nameOf(headers.get('user-agent')),
  })
}
