import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { inLongRun } from '../support/children.ts'
import { inspect, type Inspected, type Target } from '../support/inspector.ts'
import { serveFolder, startMcpServer } from '../support/mcp.ts'
import { scratchFolder } from '../support/scratch.ts'
import { TOKENS } from '../support/server.ts'

const TITLES = ['Book the hall', 'Send the invitations']
const MAIN = fileURLToPath(new URL('../../dist/cli/runsheet.js', import.meta.url))

let folder: string

beforeEach(() => {
  folder = scratchFolder()
})
afterEach(() => rmSync(folder, { recursive: true }))

// It is slow to start: in the short run each era has one transport.
describe.each(inLongRun(['legacy', 'modern'], ['modern']))('the Inspector, in the %s era', era => {
  it('lists the tools, plans and reads the tasks over stdio', async () => {
    const data = join(folder, 'data')
    // A server runs already, so that the Inspector's server starts none that outlives the test.
    const serve = await serveFolder(data)
    try {
      const command = [process.execPath, MAIN, 'mcp', '--data', data, '--review', 'off', '--session', 'inspector']
      await plansAndReads(era, { command })
    } finally {
      serve.process.kill()
      await serve.ended
    }
  })
})

describe.each(inLongRun(['legacy', 'modern'], ['legacy']))('the Inspector, in the %s era', era => {
  it('lists the tools, plans and reads the tasks over HTTP', async () => {
    const server = await startMcpServer({ host: { review: false } })
    try {
      const url = new URL('/mcp', server.url)
      const headers = { authorization: `Bearer ${TOKENS.agent}`, 'runsheet-session': 'inspector' }
      await plansAndReads(era, { url, headers })
      const stranger = await ask(era, { url, headers: {} }, 'tools/list')
      expect(stranger).toMatchObject({ result: undefined, stderr: expect.stringContaining('auth_required') })
    } finally {
      await server.close()
    }
  })
})

async function plansAndReads(era: string, target: Target): Promise<void> {
  // Strict mode also checks that the schemas suit every host.
  const tools = await ask(era, target, 'tools/list', '--strict')
  expect(tools.code, tools.stderr).toBe(0)
  const names = tools.result?.tools?.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['plan', 'update', 'tasks', 'await_review']))

  const input = JSON.stringify({ tasks: TITLES.map(title => ({ title })) })
  const planned = await ask(era, target, 'tools/call', '--tool-name', 'plan', '--tool-args-json', input)
  expect(planned).toMatchObject({ code: 0, result: { structuredContent: { ids: [1, 2] } } })

  const resources = await ask(era, target, 'resources/list')
  expect(resources).toMatchObject({ code: 0, result: { resources: [{ name: 'tasks' }] } })
  const read = await ask(era, target, 'resources/read', '--uri', resources.result?.resources?.[0]?.uri ?? '')
  expect(read.code, read.stderr).toBe(0)
  expect(JSON.parse(read.result?.contents?.[0]?.text ?? '')).toMatchObject({ tasks: TITLES.map(title => ({ title })) })
}

const ask = (era: string, target: Target, method: string, ...options: readonly string[]): Promise<Inspected> =>
  inspect(folder, method, target, ['--protocol-era', era, ...options])
