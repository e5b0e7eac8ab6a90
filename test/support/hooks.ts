import { spawn } from 'node:child_process'
import { lstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Client } from '@modelcontextprotocol/client'
import { onTestFinished, vi } from 'vitest'
import { type Door, openDoor } from '../../src/engine/door/door.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { hostOf, overStdio } from './mcp.ts'
import { scratchFolder } from './scratch.ts'

const program = fileURLToPath(new URL('../../dist/cli/runsheet.js', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** What a hook leaves that has nothing to say. */
export const QUIET: Ended = { code: 0, stdout: '', stderr: '' }

/** A folder for this test. */
export function scratch(): string {
  const folder = scratchFolder()
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Runs `runsheet hook` as a host does. Without a payload, its input stays open. */
export function hook(words: readonly string[], payload: string | undefined, cwd: string): Promise<Ended> {
  const child = spawn(process.execPath, [program, 'hook', ...words], { cwd, stdio: 'pipe' })
  onTestFinished(() => void child.kill('SIGKILL'))
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', chunk => (stdout += String(chunk)))
  child.stderr.on('data', chunk => (stderr += String(chunk)))
  child.stdin.on('error', () => {})
  if (payload !== undefined) child.stdin.end(payload)
  return new Promise(resolve => child.once('close', code => resolve({ code, stdout, stderr })))
}

/** A data folder in which the conversation `chat` has a plan with one task. */
export async function withPlan(): Promise<string> {
  const data = join(scratch(), '.runsheet')
  const door = openDoor({ store: await openSqliteStore({ path: join(data, 'runsheet.db') }) })
  await door.run(
    { tenant: 'local', conversation: 'chat' },
    { type: 'open_turn', turn_id: 'plan_1', toolset: 'runsheet', host: { review: false } },
    { type: 'edit_tasks', by: 'model', turn_id: 'plan_1', create: [{ id: door.newId(), title: 'Collect' }] },
  )
  await door.close()
  return data
}

/** A host with its MCP process, which listens for hooks. */
export async function hostWith(data: string): Promise<{ readonly client: Client }> {
  const host = await overStdio(data, hostOf({ era: '2025', name: 'gemini-cli-mcp-client' }), ['--hooks'])
  onTestFinished(() => host.client.close())
  await vi.waitFor(() => lstatSync(join(data, 'hosts', `${process.pid}.v1.sock`)))
  return host
}

/** Opens the database of a data folder beside whoever has it open. */
export async function doorOf(data: string): Promise<Door> {
  const door = openDoor({ store: await openSqliteStore({ path: join(data, 'runsheet.db') }), readOnly: true })
  onTestFinished(() => door.close())
  return door
}
