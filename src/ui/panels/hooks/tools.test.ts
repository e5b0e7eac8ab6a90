import { expect, it } from 'vitest'
import { RunsheetError } from '../../../client/http.ts'
import { NO_TOOLS, serverView, toolView } from '../../../../test/support/tools.ts'
import type { ToolRuleChange, ToolsAnswer } from '../../../core/views/wire.ts'
import { ToolsStore } from './server.ts'

class Server {
  sent: unknown[] = []
  answer: ToolsAnswer = { ...NO_TOOLS, servers: [serverView('files', { tools: [toolView('write')] })] }
  fails = false

  tools = async (): Promise<ToolsAnswer> => {
    this.sent.push('get')
    return this.answer
  }
  setToolRules = async (change: ToolRuleChange): Promise<ToolsAnswer> => this.#done(change)
  removeToolServer = async (name: string): Promise<ToolsAnswer> => this.#done(name)
  retryToolServer = async (name: string): Promise<ToolsAnswer> => this.#done(name)

  #done(what: unknown): ToolsAnswer {
    this.sent.push(what)
    if (this.fails) throw new RunsheetError(409, { code: 'tool_changed', message: 'Look again.' })
    return { ...this.answer, offered: this.sent.length }
  }
}

const until = (store: ToolsStore, holds: () => boolean): Promise<void> =>
  new Promise(resolve => {
    const leave = store.subscribe(() => {
      if (!holds()) return
      leave()
      resolve()
    })
  })

it('loads the tools, and sends "always" with what the person saw', async () => {
  const server = new Server()
  const store = new ToolsStore(server)
  await until(store, () => store.snapshot().answer !== undefined)
  const tools = store.snapshot().answer?.servers[0]?.tools ?? []
  expect(await store.setRule('files', 'always', tools)).toBe(true)
  expect(await store.setRule('files', null, tools)).toBe(true)
  expect(server.sent.slice(1)).toEqual([
    { server: 'files', rule: 'always', tools: [{ name: 'write', fingerprint: 'a.b' }] },
    { server: 'files', rule: null, tools: [{ name: 'write' }] },
  ])
})

it('a refused change is said, and the tools are read again', async () => {
  const server = new Server()
  const store = new ToolsStore(server)
  server.fails = true
  expect(await store.remove('files')).toBe(false)
  expect(store.snapshot().error).toMatchObject({ code: 'tool_changed' })
  expect(server.sent).toEqual(['files', 'get'])
})

it('live, it follows what is added in a terminal, until it is not shown any more', async () => {
  const server = new Server()
  server.answer = NO_TOOLS
  const store = new ToolsStore(server, { isLive: true, pollMs: 1 })
  const found = until(store, () => store.snapshot().answer?.servers.length === 1)
  server.answer = { ...NO_TOOLS, servers: [serverView('files')] }
  await found
})
