import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { scratchFolder } from '../../test/support/scratch.ts'
import type { Json } from '../core/model/event.ts'
import { SANDBOX_FILES, sandboxTools } from './sandbox.ts'

let folder: string
beforeEach(() => {
  const data = scratchFolder()
  onTestFinished(() => rmSync(data, { recursive: true }))
  folder = join(data, 'sandbox')
  mkdirSync(folder)
  for (const [name, text] of Object.entries(SANDBOX_FILES)) writeFileSync(join(folder, name), text)
  writeFileSync(join(data, 'secret'), 'Helo')
  symlinkSync('../secret', join(folder, 'link'))
})

const ids = { toolCallId: 'c', idempotencyKey: 'k' }
async function call(name: string, input: unknown): Promise<Json> {
  const tool = sandboxTools(folder).find(each => each.name === name)
  if (!tool) throw new Error(`There is no ${name}.`)
  return tool.call(input, new AbortController().signal, ids)
}

it('a file is read and changed, and the answer is its text', async () => {
  expect(await call('read_sandbox_file', { path: 'greeting.mjs' })).toBe(SANDBOX_FILES['greeting.mjs'])
  const edit = { path: 'greeting.mjs', find: 'Helo', replace: '$& Hello' }
  const text = await call('edit_sandbox_file', edit)
  expect(text).toBe(SANDBOX_FILES['greeting.mjs']?.replace('Helo', () => '$& Hello'))
  expect(readFileSync(join(folder, 'greeting.mjs'), 'utf8')).toBe(text)
})

it('an edit that was interrupted may be made again', async () => {
  const edit = { path: 'greeting.mjs', find: 'Helo', replace: 'Hello' }
  expect(await call('edit_sandbox_file', edit)).toBe(await call('edit_sandbox_file', edit))
})

it.each(['../secret', 'link', '/etc/hostname', '.', '', '..', 'a/b', 'nowhere', '.hidden', 7, undefined])(
  'nothing but a plain file of the sandbox: %s',
  async path => {
    await expect(call('read_sandbox_file', { path })).rejects.toThrow(/has no file|must be a text/)
    await expect(call('edit_sandbox_file', { path, find: 'Helo', replace: 'x' })).rejects.toThrow()
  },
)

it('what is not there cannot be replaced', async () => {
  const edit = { path: 'greeting.mjs', find: 'Moin', replace: 'Hello' }
  await expect(call('edit_sandbox_file', edit)).rejects.toThrow('does not contain "Moin"')
})
