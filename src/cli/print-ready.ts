import { join } from 'node:path'
import { urlCommand } from './invocation.ts'
import { storeLabel } from './open-store.ts'
import type { ServeOptions } from './serve.ts'

export interface ReadyOptions extends ServeOptions {
  readonly sandbox: string | undefined
}

/** Scripts wait for the first line. */
export function printReady(options: ReadyOptions, link: string): void {
  const { data, store, token, agentToken, invocation } = options
  const agents = agentToken ? 'in RUNSHEET_AGENT_TOKEN' : join(data, 'agent-token')
  const sameToken = token ? ', with the same RUNSHEET_TOKEN' : ''
  console.log(`Runsheet is ready at ${link}`)
  console.log(`Plans: ${data} (${storeLabel(store)}). Token for agents: ${agents}`)
  console.log(checksLine(options))
  console.log(`Stop: Ctrl-C. New sign-in link${sameToken}: ${urlCommand(invocation, data)}`)
}

function checksLine({ workspace, sandbox }: ReadyOptions): string {
  if (workspace !== undefined) return `Checks run in ${workspace}`
  const how = 'For your own project: --workspace DIR'
  return sandbox === undefined ? `Checks: none. ${how}` : `Checks of the demo run in ${sandbox}. ${how}`
}
