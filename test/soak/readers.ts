import { connect, type Socket } from 'node:net'
import type { Node } from './nodes.ts'
import type { World } from './world.ts'

/** A conversation whose replay is larger than what the system buffers for a client that does not read. */
export const LARGE = 'large'
const PLANS = 30

/** Makes the large conversation: 5 MB of plans. */
export async function fillLarge({ agent, person }: Node): Promise<void> {
  await person.setPolicy(LARGE, { toolset: 'runsheet', review: false })
  const tasks = Array.from({ length: 20 }, (_, row) => ({ title: `Row ${row}`, done_when: 'x'.repeat(7_900) }))
  for (let turn = 0; turn < PLANS; turn += 1) {
    await agent.call('runsheet', 'plan', { session_id: LARGE, turn_id: `t${turn}`, arguments: { tasks } })
  }
}

/** Follows a conversation for a while. */
export async function follow(world: World): Promise<void> {
  const socket = stream(world.node(), world.recentSession())
  socket.resume()
  await world.wait(500 + Math.random() * 8_000)
  socket.destroy()
}

/** Asks for a long replay and never reads it; the server may cut it. */
export async function neverRead(world: World): Promise<void> {
  const socket = stream(world.node(), LARGE)
  socket.pause()
  await world.wait(2_000 + Math.random() * 38_000)
  socket.destroy()
}

function stream({ url, tokens }: Node, session: string): Socket {
  const socket = connect(Number(url.port), '127.0.0.1')
  socket.on('error', () => {})
  socket.write(
    `GET /api/sessions/${session}/events HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${tokens.person}\r\n\r\n`,
  )
  return socket
}
