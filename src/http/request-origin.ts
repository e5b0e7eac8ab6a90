import { type Origin, type OriginName, originOf, remoteAddress } from '../domain/origin.ts'
import type { Caller } from './credentials.ts'

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
