import { join } from 'node:path'
import { urlCommand } from './invocation.ts'
import { storeLabel } from './open-store.ts'
import type { ServeOptions } from './serve.ts'

/** Prints where the server is. The first line is what scripts wait for. */
export function printReady({ data, store, token, agentToken, invocation }: ServeOptions, link: string): void {
  const agents = agentToken ? 'in RUNSHEET_AGENT_TOKEN' : join(data, 'agent-token')
  const sameToken = token ? ', with the same RUNSHEET_TOKEN' : ''
  console.log(`Runsheet is ready at ${link}`)
  console.log(`Plans: ${data} (${storeLabel(store)}). Token for agents: ${agents}`)
  console.log(`Stop: Ctrl-C. New sign-in link${sameToken}: ${urlCommand(invocation, data)}`)
}
