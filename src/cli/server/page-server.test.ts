import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { scratchFolder } from '../../../test/support/scratch.ts'
import { DataFolder } from './data-folder.ts'
import { PageServer } from './page-server.ts'

function pageServer(program: string): {
  page: PageServer
  folder: DataFolder
  printed: string[]
  starts: () => number
} {
  const scratch = scratchFolder()
  onTestFinished(() => rmSync(scratch, { recursive: true }))
  const folder = new DataFolder(join(scratch, 'data'), {})
  const printed: string[] = []
  writeFileSync(join(scratch, 'serve.cjs'), program)
  const options = {
    store: 'sqlite',
    config: { file: 'runsheet.json', by: 'default' as const },
    idleExit: '1m',
    program: [join(scratch, 'serve.cjs')],
    environment: { ...process.env, RUNSHEET_PORT: '0' },
    invocation: 'runsheet',
  }
  const starts = (): number => readFileSync(join(folder.path, 'serve.log'), 'utf8').split('\n').length - 1
  return { page: new PageServer(folder, options, line => printed.push(line)), folder, printed, starts }
}

describe('the page server', () => {
  it('a page that fails to start is not retried for every call, and is reported once', async () => {
    const { page, printed, starts } = pageServer('console.error("no"); process.exit(1)')
    const links = await Promise.all(Array.from({ length: 8 }, () => page.link('c1', true)))
    expect(new Set(links)).toEqual(new Set([undefined]))
    // On the usual port and on a free one.
    expect(starts()).toBe(2)
    expect(await page.link('c1', true)).toBeUndefined()
    expect(starts()).toBe(2)
    expect(printed).toEqual([expect.stringContaining('could not start the page')])
  })

  it('a page that cannot even be spawned does not fail the call', async () => {
    const { page, folder, printed } = pageServer('')
    mkdirSync(join(folder.path, 'serve.log'))
    expect(await page.link('c1', true)).toBeUndefined()
    expect(await page.link('c1', false)).toBeUndefined()
    expect(printed).toEqual([expect.stringMatching(/could not start the page\. .*EISDIR/)])
  })

  it('[TG9] its log is never written through a link', async () => {
    const { page, folder, printed } = pageServer('console.error("a line")')
    const target = join(folder.path, 'elsewhere')
    writeFileSync(target, 'as it was')
    symlinkSync(target, join(folder.path, 'serve.log'))
    expect(await page.link('c1', true)).toBeUndefined()
    expect(printed).toEqual([expect.stringMatching(/could not start the page\. .*ELOOP/)])
    expect(readFileSync(target, 'utf8')).toBe('as it was')
  })
})
