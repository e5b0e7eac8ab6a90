import { execFile } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { scratchFolder } from './support/scratch.ts'

const example = new URL('../examples/quickstart.ts', import.meta.url)

it("the README's example is the file that is run here", () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const [, block] = /<!-- examples\/quickstart\.ts -->\n```ts\n([\s\S]*?)```/.exec(readme) ?? []
  expect(block).toBe(readFileSync(example, 'utf8'))
})

it('the quickstart plans, asks, writes what was confirmed, and works it off', async () => {
  const cwd = scratchFolder()
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(example)], { cwd })
    expect(stdout).toMatch(/Write the report/)
    expect(stdout).toMatch(/2 Write a report of two pages in_progress\n$/)
  } finally {
    rmSync(cwd, { recursive: true })
  }
})
