import { lstatSync } from 'node:fs'
import { connect } from 'node:net'
import type { HookCommand } from './hook-answer.ts'
import { hostFile, hostProcess } from './host-process.ts'

// A hook that is a command need not open the database: the MCP process of the same host has it open, and listens on a
// socket of that host. The command sends a line that says what is asked, and then what the host sent.

/** Raised when that form changes: a process of another version is then not found. */
const FORM = 1

/** Whether sockets are files here. */
export const HAS_SOCKETS = process.platform !== 'win32'

/** Longest payload of a host's event; longer ones are left alone. */
export const MAX_PAYLOAD = 8 * 1024 * 1024

/** Where the MCP process of a host listens. */
export const hookSocket = (data: string, host: number): string => hostFile(data, host, `v${FORM}.sock`)

/** Asks the MCP process of our host. Undefined if there is none to ask; '' if it has nothing to say. */
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
    // What was sent may have been acted on, so that it is not tried again; half an answer is none.
    socket.on('error', () => {}).once('close', () => resolve(answer?.endsWith('\n') === false ? '' : answer))
  })
}

/** The parent first: to look further up takes time on some systems. */
function socketOfHost(data: string): string | undefined {
  if (!HAS_SOCKETS) return undefined
  const ofParent = hookSocket(data, process.ppid)
  if (isOwn(ofParent)) return ofParent
  const ofHost = hookSocket(data, hostProcess())
  return isOwn(ofHost) ? ofHost : undefined
}

/** Whether it is a socket of this user: what it answers is told to the host. */
function isOwn(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found !== undefined && found.isSocket() && found.uid === process.getuid?.()
}
