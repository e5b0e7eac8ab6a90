import { randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { runProcess } from '../support/children.ts'
import { scratchFolder } from '../support/scratch.ts'

/** What the build's last step says of a page that loads one script at once, and another later. */
async function judged(first: Buffer, later: Buffer): Promise<{ code: number | null; said: string }> {
  const folder = scratchFolder()
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'dist/web/assets'), { recursive: true })
  writeFileSync(join(folder, 'dist/web/index.html'), '<script src="./assets/first.js"></script>')
  writeFileSync(join(folder, 'dist/web/assets/first.js'), first)
  writeFileSync(join(folder, 'dist/web/assets/later.js'), later)
  cpSync(fileURLToPath(new URL('../../scripts/budget.ts', import.meta.url)), join(folder, 'scripts/budget.ts'))
  const script = runProcess([process.execPath, join(folder, 'scripts/budget.ts')])
  const { code, stderr } = await script.ended
  return { code, said: script.lines.join('\n') + stderr }
}

it('the build prints the size of the first load; what loads later does not count', async () => {
  expect(await judged(randomBytes(110_000), randomBytes(200_000))).toEqual({
    code: 0,
    said: expect.stringMatching(/^page: first load 110\.\d kB gzip of 130, later 200\.\d kB$/),
  })
})

it('a first load over 130 kB fails the build', async () => {
  expect(await judged(randomBytes(131_000), Buffer.alloc(0))).toEqual({
    code: 1,
    said: expect.stringContaining('over budget'),
  })
})
