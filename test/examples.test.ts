import { execFile } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { toolsets } from '../src/toolsets/index.ts'
import { scratchFolder } from './support/scratch.ts'

const example = new URL('../examples/quickstart.ts', import.meta.url)

it("the README's example is the file that is run here", () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const [, block] = /<!-- examples\/quickstart\.ts -->\n```ts\n([\s\S]*?)```/.exec(readme) ?? []
  expect(block).toBe(readFileSync(example, 'utf8'))
})

const run = async (name: string): Promise<string> => {
  const cwd = scratchFolder()
  try {
    const path = fileURLToPath(new URL(`../examples/${name}`, import.meta.url))
    return (await promisify(execFile)(process.execPath, [path], { cwd })).stdout
  } finally {
    rmSync(cwd, { recursive: true })
  }
}

it('the quickstart plans, asks, writes what was confirmed, and works it off', async () => {
  const stdout = await run('quickstart.ts')
  expect(stdout).toMatch(/Write the report/)
  expect(stdout).toMatch(/2 Write a report of two pages in_progress\n$/)
})

it('the tools work in the OpenAI function format', async () => {
  expect(await run('openai-format.ts')).toMatch(/"title":"Leap","order":2}\],"totalPending":2}\n$/)
})

it('the tools work as plain JSON Schema, with the context set once', async () => {
  const stdout = await run('json-schema.ts')
  expect(stdout).toMatch(/"minItems":1/)
  expect(stdout).toMatch(/Send a JSON array of objects/)
  expect(stdout).toMatch(/title: 'bread',\n\s+isChecked: false/)
})

it("the tools work in AI SDK's own loop, from the plan to the last answer", async () => {
  expect(await run('ai-sdk.ts')).toBe('4 steps: Looked and leapt.\n0 tasks open\n')
})

it('the pages about the tools name every tool of every toolset', () => {
  for (const page of ['docs/tools.md', 'AGENTS.md']) {
    const text = readFileSync(new URL(`../${page}`, import.meta.url), 'utf8')
    for (const { name, tools } of Object.values(toolsets)) {
      for (const word of [name, ...tools.map(tool => tool.name)]) expect(text).toContain(`\`${word}\``)
    }
  }
})
