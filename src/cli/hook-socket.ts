import { lstatSync } from 'node:fs'
import { connect } from 'node:net'
import type { HookCommand } from './hook-answer.ts'
import { hostFile, hostProcess } from './host-process.ts'

// A command hook asks the host's MCP process, which listens on a socket. The command sends a line with its request, then
// the host's payload.

/** Bump when the protocol changes: processes of different versions then do not find each other. */
const FORM = 1

export const HAS_SOCKETS = process.platform !== 'win32'

/** Longer payloads are ignored. */
export const MAX_PAYLOAD = 8 * 1024 * 1024

export const hookSocket = (data: string, host: number): string => hostFile(data, host, `v${FORM}.sock`)

/** Undefined if no MCP process answers; '' if it has nothing to say. */
export function askMcpProcess(data: string, command: HookCommand, payload: string): Promise<string | undefined> {
  const path = socketOfHost(data)
  if (path === undefined) return Promise.resolve(undefined)
  return new Promise(resolve => {
    let answer: string | undefined
    const socket = connect(path, () => {
      answer = ''
      socket.end(`${JSON.stringify(command)}\n${payload}`)
    })
    socket.setEncoding('utf8').on('data', text => (answer += String(text)))
    // No retry after an error: the request may have taken effect. A partial answer counts as none.
    socket.on('error', () => {}).once('close', () => resolve(answer?.endsWith('\n') === false ? '' : answer))
  })
}

/** Tries the parent first: walking up the process tree is slow on some systems. */
function socketOfHost(data: string): string | undefined {
  if (!HAS_SOCKETS) return undefined
  const ofParent = hookSocket(data, process.ppid)
  if (isOwn(ofParent)) return ofParent
  const ofHost = hookSocket(data, hostProcess())
  return isOwn(ofHost) ? ofHost : undefined
}

/** Must belong to this user: its answers are passed to the host. */
function isOwn(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found !== undefined && found.isSocket() && found.uid === process.getuid?.()
}
